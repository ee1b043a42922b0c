//! A cluster as the holder of one run: its connection, its settings, and what stands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

use hopbench_model::{ClusterSpec, Fault, Plan, printable};
use hopbench_testbed::placement::{Endpoints, Placement, PodId};
use hopbench_testbed::{AgentId, Commands};
use hopbench_wire::Hello;
use tokio::time::Instant;

use super::progress::Progress;
use crate::api::access::Access;
use crate::api::labels::RunIdentity;
use crate::api::stoppable_wait::StoppableWait;
use crate::cleanup::heartbeat::Heartbeat;
use crate::observe::watch::Watch;
use crate::plan::assign::{Assigned, assign};
use crate::plan::discovery::Discovery;
use crate::plan::placement::placement;
use crate::plan::traffic::Traffic;
use crate::provision::built::Built;

/// A Kubernetes cluster, in which a run has a namespace of its own.
#[derive(Debug)]
pub struct Cluster {
    pub(super) spec: ClusterSpec,
    pub(super) log: Option<File>,
    /// The name of the run that is to be; absent: any.
    pub(super) named: Option<String>,
    /// The identity of this build; absent: agents may be of any build.
    pub(super) ours: Option<Hello>,
    pub(super) wait: StoppableWait,
    pub(super) progress: Progress,
    pub(super) access: Option<Access>,
    /// The cluster's nodes for those of the last plan that was looked at, by the plan's names.
    pub(super) nodes: BTreeMap<String, String>,
    /// Why cells of the last plan that was looked at cannot enter by their gateways, by the names
    /// of their paths and what they send.
    pub(super) closed: BTreeMap<(String, Traffic), String>,
    /// The run that may have a namespace.
    pub(super) run: Option<RunIdentity>,
    /// Says that the run lives.
    pub(super) heartbeat: Option<Heartbeat>,
    pub(super) built: Option<Built>,
    /// When the last route asked for the state of its pods, until counters have gone by it.
    pub(super) looked: Option<Instant>,
    pub(super) watch: Option<Watch>,
    /// The end of waiting for the pods and Services of `up`.
    pub(super) settled: Option<Instant>,
    /// The agents that had a session.
    pub(super) met: BTreeSet<PodId>,
    /// The meters that were silent at the last question, with the reason.
    pub(super) silent: Vec<String>,
    /// The commands of the plan's subjects, if the scenario allows them.
    pub(super) commands: Commands,
    /// The versions of the tools of others that measured, by name.
    pub(super) tools: BTreeMap<&'static str, String>,
    /// Whether this user lacks the right to start tools in pods, as the last plan showed.
    pub(super) lacks_exec: bool,
}

impl Cluster {
    /// The cluster that a scenario describes. Nothing is asked yet. Notes beside the results go to
    /// `log`.
    pub fn new(spec: &ClusterSpec, log: Option<File>) -> Self {
        Self {
            spec: spec.clone(),
            log,
            named: None,
            ours: None,
            wait: StoppableWait::default(),
            progress: Progress::default(),
            access: None,
            nodes: BTreeMap::new(),
            closed: BTreeMap::new(),
            run: None,
            heartbeat: None,
            built: None,
            looked: None,
            watch: None,
            settled: None,
            met: BTreeSet::new(),
            silent: Vec::new(),
            commands: Commands::default(),
            tools: BTreeMap::new(),
            lacks_exec: false,
        }
    }

    /// The same by this connection, whatever context the scenario names.
    #[must_use]
    pub fn by(mut self, access: Access) -> Self {
        self.access = Some(access);
        self
    }

    /// The same with this name for the run. Its namespace is `hopbench-NAME`. It may exist already,
    /// with the run's label.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.named = Some(name.to_owned());
        self
    }

    /// The same with no agents but those of the build that says `ours` of itself.
    #[must_use]
    pub fn only_of(mut self, ours: Hello) -> Self {
        self.ours = Some(ours);
        self
    }

    /// The same, but it stops waiting when `wanted` returns true: for pods that do not get ready,
    /// for the address of a load balancer, for a command before the trials of a subject. It is
    /// asked ten times a second, or more often.
    #[must_use]
    pub fn stopped_by(mut self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.wait = StoppableWait::by(wanted);
        self
    }

    /// The same that reports its progress, a line each: `starting 13 pods in namespace hopbench-x`.
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.progress = Progress::to(tell);
        self
    }

    /// The namespace of the run that stands.
    pub fn namespace(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.namespace.as_str())
    }

    /// The name of an agent's pod in that namespace.
    pub fn pod(&self, agent: &AgentId) -> Option<&str> {
        let built = self.built.as_ref()?;
        built.names.get(built.placement.pod(&agent.0)?).map(String::as_str)
    }

    /// The connection to the cluster, made when it is first needed.
    pub(super) fn access(&mut self) -> Result<&Access, Fault> {
        if self.access.is_none() {
            self.access = Some(Access::of(&self.spec)?);
        }
        self.access.as_ref().ok_or_else(|| Fault::environment("no connection to the cluster"))
    }

    /// The connection, and the objects that stand.
    pub(super) fn standing(&self) -> Result<(&Access, &Built), Fault> {
        up(self.access.as_ref().zip(self.built.as_ref()))
    }

    /// Looks at the cluster, and finds a node for each of the plan's.
    pub(super) fn discover(
        &mut self,
        plan: &Plan,
    ) -> Result<(Placement, Discovery, Assigned), Fault> {
        let spec = self.spec.clone();
        let discovery = Discovery::of(self.access()?, &spec)?;
        let placement = placement(plan);
        if !discovery.has_nodes {
            named(&spec, &placement)?;
        }
        let assigned = assign(&spec.nodes, &placement.nodes(), &discovery.nodes);
        self.nodes =
            assigned.nodes.iter().map(|(name, node)| (name.clone(), node.name.clone())).collect();
        Ok((placement, discovery, assigned))
    }

    /// Lets the commands of subjects run whose turn begins or ends; `None`: those of no subject
    /// begin. They know the namespace and the nodes of the run, and how it reaches the cluster.
    pub(super) fn turn_to(&mut self, subject: Option<&str>) -> Result<(), Fault> {
        let (spec, run) = (&self.spec, self.run.as_ref());
        let node = |(name, node): (&String, &String)| (Commands::node_variable(name), node.clone());
        let known = [
            ("HOPBENCH_NAMESPACE", run.map(|run| &run.namespace)),
            ("HOPBENCH_CONTEXT", spec.context.as_ref()),
            ("KUBECONFIG", spec.kubeconfig.as_ref()),
        ];
        let known = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let known = known.map(|(key, value)| (key, value.clone()));
        let variables: Vec<(String, String)> = self.nodes.iter().map(node).chain(known).collect();
        self.commands.turn_to(subject, |_| variables.clone())
    }

    /// Writes a line to the log, where there is one.
    pub(super) fn note(&mut self, text: &str) {
        write(&mut self.log, text);
    }

    /// The endpoints of a path of the plan that stands.
    pub(super) fn endpoints(&self, path: &str) -> Result<Endpoints, Fault> {
        let (_, built) = self.standing()?;
        let ends = built.placement.paths.get(path).cloned();
        ends.ok_or_else(|| {
            Fault::input(format!("path `{path}` is not part of this cluster's plan"))
        })
    }
}

/// Refuses nodes that would have to be chosen: this user does not see which there are.
fn named(spec: &ClusterSpec, placement: &Placement) -> Result<(), Fault> {
    let used = placement.nodes();
    let mut nameless = spec.nodes.iter().filter(|node| {
        let is_chosen = node.node.is_none() || !node.labels.is_empty() || node.zone.is_some();
        is_chosen && used.contains(node.name.as_str())
    });
    match nameless.next() {
        None => Ok(()),
        Some(node) => Err(Fault::input(format!(
            "testbed.kubernetes.nodes.{0}: found nothing but a choice, and this user may not list \
             nodes; expected the node's name and no more, as in `nodes: {{{0}: {{name: \
             worker-1}}}}`, or the right to list nodes",
            node.name
        ))),
    }
}

/// The connection, and the objects that stand, to be changed.
pub(super) fn standing_mut<'a>(
    access: &'a Option<Access>,
    built: &'a mut Option<Built>,
) -> Result<(&'a Access, &'a mut Built), Fault> {
    up(access.as_ref().zip(built.as_mut()))
}

/// Both, or why there is nothing.
fn up<T>(standing: Option<T>) -> Result<T, Fault> {
    standing.ok_or_else(|| Fault::input("the testbed is not up"))
}

/// Writes a line to a log, where there is one.
pub(super) fn write(log: &mut Option<File>, text: &str) {
    if let Some(log) = log {
        // A log that cannot be written must not end a measurement.
        let _ = log.write_all(format!("kubernetes: {}\n", printable::line(text)).as_bytes());
    }
}
