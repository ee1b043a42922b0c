//! What the cluster's own meters say of containers and nodes: the kubelets, cAdvisor, Prometheus.
//!
//! None of them reads when it is asked: each gives its last reading, and the time of that. cAdvisor, which is a part of
//! every kubelet, reads each container and the node in turns, by default every 10 s (`--housekeeping-interval`) or 15 s
//! where nothing happens, and up to as much again, at random. What was seen on Kubernetes 1.34 with an interval of 1 s: both endpoints of a
//! kubelet give the same readings, 0.0 to 2.0 s old, 0.8 s in the middle. `/stats/summary` has them too, with
//! `only_cpu_and_memory` or without, but rounds their times down to whole seconds; `/metrics/resource` says the
//! same with milliseconds, and is what is asked here. Prometheus adds the time until its next scrape.
//!
//! A sandboxed container (gVisor) has no cgroup of its own. cAdvisor and Prometheus give the pod's for it then, which has the
//! sandbox's kernel in it; the kubelet asks the container's runtime, which may count the memory of what runs inside only.
//!
//! So a figure over a window is that of the readings around it, and a short window is seen only roughly; every reading
//! carries its own time.

mod cadvisor;
mod clocks;
mod exposition;
pub(crate) mod http;
mod kubelet;
mod prometheus;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::PrometheusSpec;
use hopbench_testbed::{Metered, MeteredKind};
use kube::Client;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use clocks::Clocks;

/// What is waited for a meter before it is left out.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// A container or a node to ask the meters about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its name in the record: of a proxy of the route, of an agent, or of a node of the scenario.
    pub who: String,
    /// What it is.
    pub what: MeteredKind,
    /// The name of the cluster's node that it is on, or that it is.
    pub node: String,
    /// Which container; absent: the node.
    pub container: Option<Container>,
}

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Container {
    /// Its namespace.
    pub namespace: String,
    /// Its pod.
    pub pod: String,
    /// Its name there; empty: all of the pod.
    pub name: String,
}

/// What the meters said.
#[derive(Debug, Default)]
pub struct Readings {
    /// The readings; some targets may have none.
    pub metered: Vec<Metered>,
    /// Which meters gave nothing, and why: a sentence each.
    pub notes: Vec<String>,
}

/// Asks all meters about all targets, at the same time; takes little more than [`PATIENCE`] at worst. The times of the
/// readings are by this machine's clock, as far as `clocks` knows those of the nodes; it learns from each answer.
pub async fn read(
    client: &Client,
    prometheus: Option<&PrometheusSpec>,
    targets: &[Target],
    clocks: &Arc<Clocks>,
) -> Readings {
    let mut asked = JoinSet::new();
    let nodes: BTreeSet<&str> = targets.iter().map(|target| target.node.as_str()).collect();
    for node in nodes {
        let there: Vec<Target> = targets.iter().filter(|target| target.node == node).cloned().collect();
        let (client, node) = (client.clone(), node.to_owned());
        asked.spawn(bounded(format!("the kubelet of node {node}"), {
            let (client, node, there, clocks) = (client.clone(), node.clone(), there.clone(), Arc::clone(clocks));
            async move { kubelet::read(&client, &node, &there, &clocks).await }
        }));
        asked.spawn(bounded(format!("cAdvisor of node {node}"), async move {
            cadvisor::read(&client, &node, &there).await
        }));
    }
    if let (Some(spec), false) = (prometheus, targets.is_empty()) {
        let (client, spec, targets) = (client.clone(), spec.clone(), targets.to_vec());
        asked.spawn(bounded("Prometheus".to_owned(), async move { prometheus::read(&client, &spec, &targets).await }));
    }
    let mut readings = Readings::default();
    while let Some(said) = asked.join_next().await {
        match said {
            Ok(Ok(metered)) => readings.metered.extend(metered),
            Ok(Err(note)) => readings.notes.push(note),
            Err(error) => readings.notes.push(format!("a meter broke: {error}")),
        }
    }
    for read in &mut readings.metered {
        let target = targets.iter().find(|target| target.what == read.what && target.who == read.who);
        read.at = target.map_or(read.at, |target| clocks.here(&target.node, read.at));
    }
    readings.metered.sort_by(|a, b| (a.what, &a.who, a.source).cmp(&(b.what, &b.who, b.source)));
    readings.notes.sort();
    readings
}

/// A meter's answer, or a sentence on why there is none.
async fn bounded(
    who: String,
    asking: impl Future<Output = Result<Vec<Metered>, String>>,
) -> Result<Vec<Metered>, String> {
    match timeout(PATIENCE, asking).await {
        Ok(said) => said.map_err(|why| format!("{who} gave no readings: {why}")),
        Err(_) => Err(format!("{who} gave no readings within {} s; left out", PATIENCE.as_secs())),
    }
}

/// The pod of a container, if it is the only one of it that is asked about: a container that has no cgroup of its own is
/// metered as its pod.
fn pod_of(target: &Target, targets: &[Target]) -> Option<Container> {
    let container = target.container.as_ref()?;
    let same_pod = |other: &&Target| {
        let other = other.container.as_ref();
        other.is_some_and(|other| (&other.namespace, &other.pod) == (&container.namespace, &container.pod))
    };
    let is_alone = targets.iter().filter(same_pod).count() == 1;
    is_alone.then(|| Container { name: String::new(), ..container.clone() })
}

/// A reading, in the units of the meters; what is out of range is no reading.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reading {
    /// When, ms since 1970 UTC.
    at_ms: i64,
    cpu_s: f64,
    memory_bytes: Option<f64>,
    throttled_s: Option<f64>,
}

impl Reading {
    fn of(self, target: &Target, source: &'static str) -> Option<Metered> {
        Some(Metered {
            who: target.who.clone(),
            what: target.what,
            source,
            at: Duration::from_millis(u64::try_from(self.at_ms).ok()?),
            cpu_ns: whole(self.cpu_s * 1e9)?,
            memory_bytes: self.memory_bytes.and_then(whole),
            throttled_ns: self.throttled_s.and_then(|s| whole(s * 1e9)),
        })
    }
}

/// A count that a meter gave as a floating-point number.
fn whole(value: f64) -> Option<u64> {
    const LARGEST: f64 = (1_u64 << 63) as f64;
    (0.0..LARGEST).contains(&value).then(|| value.round() as u64)
}
