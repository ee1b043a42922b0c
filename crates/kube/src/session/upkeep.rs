//! The upkeep of a run: its pods stay there while it lasts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::{join_all, try_join, try_join_all};
use hopbench_model::Fault;
use hopbench_testbed::placement::PodId;
use hopbench_wire::{Hello, PROTOCOL};
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::ListParams;
use tokio::time::{Instant, sleep};

use super::builds;
use super::cluster::{Cluster, standing_mut, write};
use crate::api::access::Access;
use crate::api::client::Api;
use crate::api::create::passes;
use crate::mesh;
use crate::plan::nodes::silence;
use crate::provision::built::Built;
use crate::provision::container_logs::{self, Termination};
use crate::provision::pod_diagnosis::{self, State};
use crate::provision::services;

/// Time limit for an agent that died to come back.
const AGAIN: Duration = Duration::from_secs(30);
/// Time limit for an answer of an agent whose session broke.
const ANSWERS: Duration = Duration::from_secs(10);
/// The limit of turns in which pods are made anew because others have moved: each may move
/// another's peer.
const MOST_TURNS: usize = 3;
/// Time limit for an API server that is away.
const AWAY: Duration = Duration::from_secs(20);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(300);

impl Cluster {
    /// Looks at the pods, and makes those anew that are gone or have failed; waits for those that
    /// start. Returns when it looked.
    pub(super) fn ensure(&mut self, pods: &[PodId]) -> Result<Instant, Fault> {
        let looked = self.look()?;
        self.ensure_there(pods)?;
        for _ in 0..MOST_TURNS {
            // Proxies lead to where a pod was before it was made anew.
            let stale = self.standing().map(|(_, built)| mesh::stale(built, pods))?;
            if stale.is_empty() {
                break;
            }
            self.remove(&stale)?;
            self.ensure_there(pods)?;
        }
        Ok(looked)
    }

    /// Makes sure that an agent answers. A kubelet takes a second and more to notice that one has
    /// died, and a moment to start it again.
    pub(super) fn ensure_it_answers(&mut self, pod: &PodId) -> Result<(), Fault> {
        let nobody = || Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: String::new(),
            boot_id: String::new(),
            machine: BTreeMap::new(),
        };
        let ours = self.ours.clone().unwrap_or_else(nobody);
        let until = Instant::now() + ANSWERS;
        loop {
            let (access, built) = self.standing()?;
            let Err(why) = builds::ask(access, built, pod, &ours) else { return Ok(()) };
            if Instant::now() >= until {
                return Err(Fault::environment(format!(
                    "the agent of {pod} does not answer: {why}"
                )));
            }
            access
                .runtime
                .block_on(self.wait.for_answer("an agent", async { sleep(LOOK).await }))?;
            self.ensure(std::slice::from_ref(pod))?;
        }
    }

    /// Removes pods, so that they are made anew.
    fn remove(&mut self, pods: &[PodId]) -> Result<(), Fault> {
        let (access, built) = standing_mut(&self.access, &mut self.built)?;
        let templates: Vec<_> = pods.iter().filter_map(|id| built.templates.get(id)).collect();
        let removed = built.api.remove(templates.into_iter(), Instant::now() + AGAIN);
        let removed = access.runtime.block_on(self.wait.for_answer("pods to end", removed))?;
        removed.map_err(|e| access.refused("removing pods", &e))?;
        built.pods.retain(|id, _| !pods.contains(id));
        Ok(())
    }

    fn ensure_there(&mut self, pods: &[PodId]) -> Result<(), Fault> {
        let (access, built) = standing_mut(&self.access, &mut self.built)?;
        let state = |built: &Built, id: &PodId| built.pods.get(id).map(pod_diagnosis::state);
        built
            .refused
            .retain(|id, _| built.pods.get(id).map(pod_diagnosis::state) != Some(State::Ready));
        let absent: Vec<PodId> =
            pods.iter().filter(|id| state(built, id) != Some(State::Ready)).cloned().collect();
        if absent.is_empty() {
            return Ok(());
        }
        // A pod that never was there is not waited for again.
        if let Some(id) = absent.iter().find(|id| built.refused.contains_key(id)) {
            return Err(Fault::environment(format!("{id}: {}", built.refused[id])));
        }
        if let Some(why) = lost(access, built, &absent) {
            return Err(Fault::environment(why));
        }
        let dead: BTreeMap<PodId, _> = absent
            .iter()
            .filter(|id| match state(built, id) {
                None => true,
                Some(State::Stuck(trouble)) => trouble.is_final,
                Some(_) => false,
            })
            .filter_map(|id| Some((id.clone(), built.templates.get(id)?.clone())))
            .collect();
        let until = Instant::now() + AGAIN;
        let (api, client) = (built.api.clone(), access.client.clone());
        let names = absent.iter().filter_map(|id| built.names.get(id).cloned()).collect();
        let again = async {
            api.remove(dead.values(), until).await?;
            let launched = mesh::pods(built, &client, &dead, until).await?;
            let now = api.wait(&names, until).await?;
            Ok::<_, kube::Error>((launched.refused, now, api.events().await))
        };
        let found = access.runtime.block_on(self.wait.for_answer("the pods", again))?;
        let (refused, now, events) =
            found.map_err(|e| access.refused("waiting for the pods", &e))?;
        built.see(now);
        for id in &absent {
            let state = built.pods.get(id).map(pod_diagnosis::state);
            if state != Some(State::Ready) {
                let name = built.names.get(id).cloned().unwrap_or_default();
                let why = refused.get(id).cloned();
                let why =
                    why.unwrap_or_else(|| pod_diagnosis::tell(&name, state.as_ref(), &events));
                let text = format!("{id}: {why}");
                write(&mut self.log, &text);
                return Err(Fault::environment(text));
            }
        }
        Ok(())
    }

    /// Asks how the pods and what is behind the Services are now. An API server that restarts is
    /// waited for. Returns when it answered.
    pub(super) fn look(&mut self) -> Result<Instant, Fault> {
        let (access, built) = self.standing()?;
        let (api, run, client) = (built.api.clone(), built.run.clone(), access.client.clone());
        let has_services = !built.services.is_empty();
        let until = Instant::now() + AWAY;
        let (pods, endpoints) = access.ask("how the pods are", async {
            loop {
                let endpoints = async {
                    if has_services {
                        services::endpoints(&client, &run).await
                    } else {
                        Ok(BTreeMap::new())
                    }
                };
                match try_join(api.now(), endpoints).await {
                    Err(error) if passes(&error) && Instant::now() + LOOK < until => {
                        sleep(LOOK).await;
                    }
                    answer => return answer,
                }
            }
        })?;
        let looked = Instant::now();
        let Some(built) = &mut self.built else { return Ok(looked) };
        let before = std::mem::take(&mut built.pods);
        built.see(pods);
        built.endpoints = endpoints;
        let ended = container_logs::ended(&before, &built.pods);
        self.tell(&ended)?;
        Ok(looked)
    }

    /// Writes down the last lines of containers that have ended: they are gone later.
    fn tell(&mut self, ended: &[Termination]) -> Result<(), Fault> {
        if ended.is_empty() {
            return Ok(());
        }
        let (access, built) = self.standing()?;
        let told = join_all(ended.iter().map(|ended| container_logs::told(&built.api.pods, ended)));
        let told = access.runtime.block_on(told);
        told.iter().flatten().for_each(|line| self.note(line));
        Ok(())
    }
}

/// Why pods cannot be had for now: their nodes do not answer, so that nothing starts or ends there.
fn lost(access: &Access, built: &Built, pods: &[PodId]) -> Option<String> {
    let api: Api<Node> = Api::all(access.client.clone());
    let node = |id: &PodId| built.nodes.get(&id.place.node).map(|node| node.name.clone());
    let names: BTreeSet<String> = pods.iter().filter_map(node).collect();
    let of_node = |name: &String| ListParams::default().fields(&format!("metadata.name={name}"));
    let asked = async { try_join_all(names.iter().map(|name| api.list(of_node(name)))).await };
    let found: Vec<Node> = access.ask("the nodes", asked).ok()?.into_iter().flatten().collect();
    let why: BTreeMap<String, String> =
        found.iter().filter_map(|node| Some((node.name_any(), silence(node)?))).collect();
    pods.iter().find_map(|id| {
        let name = node(id)?;
        let why = why.get(&name)?;
        Some(format!("{id}: node {name} is not ready: {why}"))
    })
}
