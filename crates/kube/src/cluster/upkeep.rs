//! Keeping the pods of a run there while it lasts.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::try_join;
use hopbench_model::Fault;
use tokio::time::{Instant, sleep};

use super::Cluster;
use crate::apply::passes;
use crate::built::Built;
use crate::mesh;
use crate::pod::PodId;
use crate::raise;
use crate::trouble::{self, State};

/// How long an agent that died may take to be there again.
const AGAIN: Duration = Duration::from_secs(30);
/// How often pods are made anew because others have moved: one that was moved for such a reason may be another's.
const MOST_TURNS: usize = 3;
/// How long the API server may be away.
const AWAY: Duration = Duration::from_secs(20);
/// How often it is asked meanwhile.
const LOOK: Duration = Duration::from_millis(300);

impl Cluster {
    /// Looks at the pods, and makes those anew that are gone or have failed; waits for those that start.
    ///
    /// # Errors
    /// One that does not get ready, with what the cluster says of it.
    pub(super) fn ensure(&mut self, pods: &[PodId]) -> Result<(), Fault> {
        self.look()?;
        self.ensure_there(pods)?;
        for _ in 0..MOST_TURNS {
            // Proxies lead to where somebody was before it was made anew.
            let stale = self.standing().map(|(_, built)| mesh::stale(built, pods))?;
            if stale.is_empty() {
                return Ok(());
            }
            self.remove(&stale)?;
            self.ensure_there(pods)?;
        }
        Ok(())
    }

    /// Removes pods, so that they are made anew.
    fn remove(&mut self, pods: &[PodId]) -> Result<(), Fault> {
        let (access, built) =
            self.access.as_ref().zip(self.built.as_mut()).ok_or_else(|| Fault::input("the testbed is not up"))?;
        let templates: Vec<_> = pods.iter().filter_map(|id| built.templates.get(id)).collect();
        let removed = built.api.remove(templates.into_iter(), Instant::now() + AGAIN);
        access.runtime.block_on(removed).map_err(|e| access.refused("removing pods", &e))?;
        built.pods.retain(|id, _| !pods.contains(id));
        Ok(())
    }

    fn ensure_there(&mut self, pods: &[PodId]) -> Result<(), Fault> {
        let (access, built) =
            self.access.as_ref().zip(self.built.as_mut()).ok_or_else(|| Fault::input("the testbed is not up"))?;
        let state = |built: &Built, id: &PodId| built.pods.get(id).map(trouble::state);
        built.refused.retain(|id, _| built.pods.get(id).map(trouble::state) != Some(State::Ready));
        let absent: Vec<PodId> = pods.iter().filter(|id| state(built, id) != Some(State::Ready)).cloned().collect();
        if absent.is_empty() {
            return Ok(());
        }
        // Who never was there is not waited for again.
        if let Some(id) = absent.iter().find(|id| built.refused.contains_key(id)) {
            return Err(Fault::environment(format!("{id}: {}", built.refused[id])));
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
        let found = access.runtime.block_on(async {
            api.remove(dead.values(), until).await?;
            let raised = mesh::pods(built, &client, &dead, until).await?;
            let now = api.wait(&names, until).await?;
            Ok::<_, kube::Error>((raised.refused, now, api.events().await))
        });
        let (refused, now, events) = found.map_err(|e| access.refused("waiting for the pods", &e))?;
        built.see(now);
        for id in &absent {
            let state = built.pods.get(id).map(trouble::state);
            if state != Some(State::Ready) {
                let name = built.names.get(id).cloned().unwrap_or_default();
                let why = refused.get(id).cloned();
                let why = why.unwrap_or_else(|| trouble::tell(&name, state.as_ref(), &events));
                return Err(Fault::environment(format!("{id}: {why}")));
            }
        }
        Ok(())
    }

    /// Asks how the pods and what is behind the Services are now. An API server that restarts is waited for.
    pub(super) fn look(&mut self) -> Result<(), Fault> {
        let (access, built) = self.standing()?;
        let (api, run, client) = (built.api.clone(), built.run.clone(), access.client.clone());
        let has_services = !built.fronts.is_empty();
        let until = Instant::now() + AWAY;
        let (pods, endpoints) = access.ask("how the pods are", async {
            loop {
                let endpoints =
                    async { if has_services { raise::endpoints(&client, &run).await } else { Ok(BTreeMap::new()) } };
                match try_join(api.now(), endpoints).await {
                    Err(error) if passes(&error) && Instant::now() + LOOK < until => sleep(LOOK).await,
                    answer => return answer,
                }
            }
        })?;
        if let Some(built) = &mut self.built {
            built.see(pods);
            built.endpoints = endpoints;
        }
        Ok(())
    }
}
