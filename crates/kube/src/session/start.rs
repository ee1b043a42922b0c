//! The start of a run: its namespace, its objects, its pods, and the watches over them.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use hopbench_control::conductor::Conductor;
use hopbench_control::keys::KeyPair;
use hopbench_model::{Fault, Nanos, Plan, SECOND};
use hopbench_testbed::Commands;
use hopbench_testbed::placement::{Endpoints, PodId};
use tokio::time::Instant;

use super::balancers::balance;
use super::cluster::{Cluster, write};
use super::{builds, observers};
use crate::api::labels::RunIdentity;
use crate::api::names;
use crate::cleanup::garbage_collect;
use crate::cleanup::heartbeat::Heartbeat;
use crate::mesh;
use crate::objects::blueprint::{self, Blueprint, Ground};
use crate::objects::security::Level;
use crate::plan::attachment::has_agent;
use crate::plan::gateways;
use crate::plan::kube_proxy::KubeProxy;
use crate::plan::names as object_names;
use crate::plan::services;
use crate::proof::alike;
use crate::provision::built::Built;
use crate::provision::gateway;
use crate::provision::gateway::served::served;
use crate::provision::mesh_state::MeshState;
use crate::provision::objects;
use crate::provision::pods::Pods;

/// A command of a subject that takes longer is killed.
const COMMAND_NS: Nanos = 60 * SECOND;

impl Cluster {
    /// Makes everything that a plan needs. What was made stays where that fails: `down` takes it
    /// away.
    pub(super) fn provision(&mut self, plan: &Plan) -> Result<(), Fault> {
        let (placement, discovery, assigned) = self.discover(plan)?;
        let (spec, ours, wait) = (self.spec.clone(), self.ours.clone(), self.wait.clone());
        let progress = self.progress.clone();
        let conductor = Conductor::new().map_err(Fault::environment)?;
        let name = self.named.clone().map_or_else(names::run, Ok)?;
        let is_guest = spec.namespace.is_some();
        let namespace = spec.namespace.clone().unwrap_or_else(|| names::namespace(&name));
        let mut run = RunIdentity { namespace, name, is_guest, owner: String::new() };
        let host_port = names::host_port(&run.name);
        let sidecars = mesh::sidecars(&spec, &placement);
        let (nodes, sidecars) = (&assigned.nodes, &sidecars);
        let ground = Ground { spec: &spec, placement: &placement, nodes, sidecars, host_port };
        let attachments = blueprint::attachments(&spec, &placement)?;
        let (level, beyond) =
            blueprint::level(&blueprint::pods(&ground, &run)?, mesh::beyond(&spec, &placement));
        for (pod, what) in &beyond {
            let is = if is_guest { "has to be" } else { "is" };
            self.note(&format!(
                "{pod} needs {}: the run's namespace {is} {level}",
                what.join(", ")
            ));
        }
        let makes_gateway = gateways::makes_one(&spec, &placement);
        let level = if makes_gateway { level.max(Level::Baseline) } else { level };
        if makes_gateway && !is_guest {
            self.note(&format!(
                "the controller of a GatewayClass makes pods for the run: its namespace is {level}"
            ));
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let (namespace, owner) = blueprint::frame(&run, level, &plan.name, host.trim())?;
        let until = Instant::now() + Duration::from_nanos(spec.start_timeout_ns);
        let places: Vec<String> =
            self.nodes.iter().map(|(name, node)| format!("{name} = {node}")).collect();
        progress.say(&format!(
            "starting {} pods in namespace {}",
            placement.pods.len(),
            run.namespace
        ));
        progress.say(&format!("nodes: {}", places.join(", ")));
        if is_guest {
            let access = self.access()?;
            garbage_collect::vacate(access, &run.namespace)?;
            self.note(&format!(
                "namespace {} was given: it stays, and nothing is made outside of it",
                run.namespace
            ));
        }
        if !discovery.has_nodes {
            self.note(
                "this user may not list nodes: what is known of nodes, their changes and their \
                 meters are left out",
            );
        }
        // From here on there may be something to be taken away.
        self.run = Some(run.clone());
        self.settled = Some(until);
        self.access()?;
        let access = self
            .access
            .as_ref()
            .ok_or_else(|| Fault::environment("no connection to the cluster"))?;
        let client = access.client.clone();
        let made = objects::frame(&client, Some(&namespace).filter(|_| !is_guest), &owner);
        let making = if is_guest { "making objects in namespace" } else { "making namespace" };
        run.owner = access.ask(&format!("{making} {}", run.namespace), made)?;
        let heartbeat = Heartbeat::start(access.runtime.handle(), &client, &run.namespace);
        let leftovers = async {
            if is_guest {
                return Vec::new();
            }
            garbage_collect::leftovers(access.runtime.handle(), &client).await
        };
        let dead = access.runtime.block_on(leftovers);
        let node = assigned.nodes.values().next().map(|node| node.name.clone()).unwrap_or_default();
        let asked = client.clone();
        let kube_proxy =
            access.runtime.spawn(async move { KubeProxy::of(&asked, &node).await.mode() });
        let pair = |id: &PodId| {
            Ok::<_, Fault>((id.clone(), KeyPair::random().map_err(Fault::environment)?))
        };
        // Their private halves are in the pods' Secrets and nowhere else.
        let keys: BTreeMap<PodId, KeyPair> = placement
            .pods
            .iter()
            .filter(|id| has_agent(&spec, id))
            .map(pair)
            .collect::<Result<_, Fault>>()?;
        let blueprint = Blueprint::of(&ground, &run, &conductor.run_key(), &keys)?;
        let wanted = [mesh::objects(&spec, &placement), spec.objects.clone()].concat();
        let others = async { Ok(objects::of_scenario(&client, &run, &wanted).await) };
        access.ask("making the scenario's objects", others)?.map_err(Fault::environment)?;
        let entries =
            access.ask("making the run's objects", objects::objects(&client, &run, &blueprint))?;
        let api = Pods::new(&client, &run);
        let mut built = Built {
            discovery,
            nodes: assigned.nodes,
            attachments,
            level,
            beyond,
            names: object_names::pods(&placement.pods),
            templates: blueprint.pods,
            services: services::services(&spec, &placement),
            entries,
            endpoints: BTreeMap::new(),
            pods: BTreeMap::new(),
            refused: BTreeMap::new(),
            foreign: BTreeMap::new(),
            kube_proxy: None,
            clocks: Arc::default(),
            api,
            mesh: MeshState::new()?,
            served: BTreeMap::new(),
            gateways: BTreeMap::new(),
            gateway_pods: BTreeMap::new(),
            node_proxies: BTreeMap::new(),
            run,
            host_port,
            conductor,
            agents: keys.iter().map(|(id, keys)| (id.clone(), keys.public())).collect(),
            cells: plan
                .cells
                .iter()
                .map(|cell| plan.at(*cell))
                .map(|(path, at)| (path.name.clone(), at.clone()))
                .collect(),
            entered: BTreeMap::new(),
            placement,
            spec,
        };
        let launched =
            wait.for_answer("the pods", mesh::pods(&built, &client, &built.templates, until));
        let launched = access
            .runtime
            .block_on(launched)?
            .map_err(|e| access.refused("waiting for the pods", &e))?;
        built.refused = launched.refused;
        built.see(launched.pods);
        let told: Vec<String> =
            built.refused.iter().map(|(id, why)| format!("{id}: {why}")).collect();
        told.iter().for_each(|line| write(&mut self.log, line));
        for line in alike(&built) {
            progress.say(&line);
            write(&mut self.log, &line);
        }
        balance(access, &mut built, until, &wait, &progress)?;
        if makes_gateway {
            progress.say("waiting for the Gateway of the run and its routes");
        }
        let sent = gateways::demand(&built.spec, plan, |_, _| true).into_values().flatten();
        built.served =
            access.runtime.block_on(wait.for_answer("a Gateway", served(&client, sent)))?;
        let attached = gateway::attach(&client, &built, until);
        built.gateways = access.runtime.block_on(wait.for_answer("a Gateway", attached))?;
        built.kube_proxy = access.runtime.block_on(kube_proxy).unwrap_or_default();
        if let Some(ours) = &ours {
            built.foreign = builds::foreign(access, &built, ours);
        }
        some_path(&built, &told, &mut self.log)?;
        let watch = observers::watch(access, &built);
        let notes = watch.notes();
        let foreign = built.foreign.clone();
        self.heartbeat = Some(heartbeat);
        self.watch = Some(watch);
        if built.spec.allow_commands {
            self.commands = Commands::of(plan, COMMAND_NS, wait.interrupt());
        }
        self.built = Some(built);
        foreign.values().chain(&dead).chain(&notes).for_each(|line| self.note(line));
        Ok(())
    }
}

/// Looks whether there is a path that can be measured; `told` is why pods are not there.
fn some_path(built: &Built, told: &[String], log: &mut Option<File>) -> Result<(), Fault> {
    let nobody = built
        .placement
        .paths
        .values()
        .all(|ends| ends.pods().any(|pod| built.refused.contains_key(pod)));
    if nobody {
        return Err(Fault::environment(format!("no path has all its pods:\n{}", told.join("\n"))));
    }
    let somebody = |ends: &Endpoints| ends.ends().all(|pod| built.foreign_agent(pod).is_none());
    if !built.foreign.is_empty() && !built.placement.paths.values().any(somebody) {
        let why: Vec<&str> = built.foreign.values().map(String::as_str).collect();
        why.iter().for_each(|line| write(log, line));
        return Err(Fault::environment(format!(
            "no path has agents of this build:\n{}",
            why.join("\n")
        )));
    }
    Ok(())
}
