//! Making a run: its namespace, its objects, its pods, and who watches over them.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use hopbench_control::conductor::Conductor;
use hopbench_control::keys::KeyPair;
use hopbench_model::{Fault, Plan};
use tokio::time::Instant;

use super::balancers::balance;
use super::{Cluster, write};
use crate::alive::Alive;
use crate::blueprint::{self, Blueprint, Ground};
use crate::builds;
use crate::built::Built;
use crate::cast::Cast;
use crate::clean;
use crate::fronts;
use crate::kube_proxy::KubeProxy;
use crate::labels::Run;
use crate::mesh::{self, Mesh};
use crate::names;
use crate::observe;
use crate::pod::PodId;
use crate::raise;
use crate::ready::Pods;

impl Cluster {
    /// Makes everything that a plan needs. What was made stays where that fails: `down` takes it away.
    ///
    /// # Errors
    /// What the cluster refuses, or no path that could be measured.
    pub(super) fn raise(&mut self, plan: &Plan) -> Result<(), Fault> {
        let (mut demand, survey, assigned) = self.survey(plan)?;
        let (spec, ours, interrupt) = (self.spec.clone(), self.ours.clone(), self.interrupt.clone());
        let tell = self.tell.clone();
        let conductor = Conductor::new().map_err(Fault::environment)?;
        let name = self.named.clone().map_or_else(names::run, Ok)?;
        let mut run = Run { namespace: names::namespace(&name), name, owner: String::new() };
        demand.host_port = names::host_port(&run.name);
        let sidecars = mesh::sidecars(&spec, &demand);
        let ground = Ground { spec: &spec, demand: &demand, nodes: &assigned.nodes, sidecars: &sidecars };
        let attachments = blueprint::attachments(&spec, &demand)?;
        let (level, beyond) = blueprint::level(&blueprint::pods(&ground, &run)?, mesh::beyond(&spec, &demand));
        for (pod, what) in &beyond {
            self.note(&format!("{pod} needs {}: the run's namespace is {level}", what.join(", ")));
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let (namespace, owner) = blueprint::frame(&run, level, &plan.name, host.trim())?;
        let until = Instant::now() + Duration::from_nanos(spec.start_timeout_ns);
        let places: Vec<String> = self.nodes.iter().map(|(name, node)| format!("{name} = {node}")).collect();
        tell.say(&format!("starting {} pods in namespace {}", demand.pods.len(), run.namespace));
        tell.say(&format!("nodes: {}", places.join(", ")));
        // From here on there may be something to be taken away.
        self.run = Some(run.clone());
        self.settled = Some(until);
        self.access()?;
        let access = self.access.as_ref().ok_or_else(|| Fault::environment("no connection to the cluster"))?;
        let client = access.client.clone();
        let made = raise::frame(&client, &namespace, &owner);
        run.owner = access.ask(&format!("making namespace {}", run.namespace), made)?;
        let alive = Alive::start(access.runtime.handle(), &client, &run.namespace);
        let dead = access.runtime.block_on(clean::leftovers(access.runtime.handle(), &client));
        let node = assigned.nodes.values().next().map(|node| node.name.clone()).unwrap_or_default();
        let asked = client.clone();
        let kube_proxy = access.runtime.spawn(async move { KubeProxy::of(&asked, &node).await.mode() });
        let pair = |id: &PodId| Ok::<_, Fault>((id.clone(), KeyPair::random().map_err(Fault::environment)?));
        // Their private halves are in the pods' Secrets and nowhere else.
        let keys: BTreeMap<PodId, KeyPair> =
            demand.pods.iter().filter(|id| id.has_agent()).map(pair).collect::<Result<_, Fault>>()?;
        let blueprint = Blueprint::of(&ground, &run, &conductor.run_key(), &keys)?;
        let entries = access.ask("making the run's objects", raise::objects(&client, &run, &blueprint))?;
        let api = Pods::new(&client, &run);
        let mut built = Built {
            survey,
            nodes: assigned.nodes,
            attachments,
            level,
            beyond,
            names: names::pods(&demand.pods),
            templates: blueprint.pods,
            fronts: fronts::fronts(&demand),
            entries,
            endpoints: BTreeMap::new(),
            pods: BTreeMap::new(),
            refused: BTreeMap::new(),
            foreign: BTreeMap::new(),
            kube_proxy: None,
            clocks: Arc::default(),
            api,
            mesh: Mesh::new()?,
            run,
            conductor,
            agents: keys.iter().map(|(id, keys)| (id.clone(), keys.public())).collect(),
            cells: plan
                .cells
                .iter()
                .map(|cell| plan.at(*cell))
                .map(|(path, at)| (path.name.clone(), at.clone()))
                .collect(),
            entered: BTreeMap::new(),
            demand,
            spec,
        };
        let raised = interrupt.unless("the pods", mesh::pods(&built, &client, &built.templates, until));
        let raised = access.runtime.block_on(raised)?.map_err(|e| access.refused("waiting for the pods", &e))?;
        built.refused = raised.refused;
        built.see(raised.pods);
        let told: Vec<String> = built.refused.iter().map(|(id, why)| format!("{id}: {why}")).collect();
        told.iter().for_each(|line| write(&mut self.log, line));
        balance(access, &mut built, until, &interrupt, &tell)?;
        built.kube_proxy = access.runtime.block_on(kube_proxy).unwrap_or_default();
        if let Some(ours) = &ours {
            built.foreign = builds::foreign(access, &built, ours);
        }
        some_path(&built, &told, &mut self.log)?;
        let watch = observe::watch(access, &built);
        let notes = watch.notes();
        let foreign = built.foreign.clone();
        self.alive = Some(alive);
        self.watch = Some(watch);
        self.built = Some(built);
        foreign.values().chain(&dead).chain(&notes).for_each(|line| self.note(line));
        Ok(())
    }
}

/// Looks whether there is a path that can be measured; `told` is why pods are not there.
fn some_path(built: &Built, told: &[String], log: &mut Option<File>) -> Result<(), Fault> {
    let nobody = built.demand.paths.values().all(|cast| cast.pods().any(|pod| built.refused.contains_key(pod)));
    if nobody {
        return Err(Fault::environment(format!("no path has all its pods:\n{}", told.join("\n"))));
    }
    let somebody = |cast: &Cast| [&cast.path.from, &cast.path.to].iter().all(|p| !built.foreign.contains_key(&p.node));
    if !built.foreign.is_empty() && !built.demand.paths.values().any(somebody) {
        let why: Vec<&str> = built.foreign.values().map(String::as_str).collect();
        why.iter().for_each(|line| write(log, line));
        return Err(Fault::environment(format!("no path has agents of this build:\n{}", why.join("\n"))));
    }
    Ok(())
}
