//! The cluster's own meters of containers and nodes: the kubelets, cAdvisor, Prometheus.
//!
//! None of them reads when it is asked. Each gives its last reading, and the time of that. cAdvisor
//! is a part of every kubelet. It reads each container and the node in turns, by default every 10 s
//! (`--housekeeping-interval`), or 15 s if nothing happens. To that it adds up to as much again, at
//! random. Prometheus adds the time until its next scrape.
//!
//! On Kubernetes 1.34 with an interval of 1 s, both endpoints of a kubelet give the same readings.
//! They are 0.0 to 2.0 s old, 0.8 s in the middle. `/stats/summary` rounds their times down to
//! whole seconds, with `only_cpu_and_memory` or without. `/metrics/resource` has milliseconds, so
//! it is the one that is asked here.
//!
//! A sandboxed container (gVisor) has no cgroup of its own. cAdvisor and Prometheus then give the
//! pod's, which includes the sandbox's kernel. The kubelet asks the container's runtime, which may
//! count only the memory of what runs inside.
//!
//! So a figure over a window is that of the readings around it. A short window is seen only
//! roughly. Every reading carries its own time.

mod cadvisor;
pub(crate) mod clocks;
pub(crate) mod exposition;
mod kubelet;
mod prometheus;
pub(crate) mod reading;
pub(crate) mod target;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::PrometheusSpec;
use hopbench_testbed::Metered;
use kube::Client;
use tokio::task::JoinSet;
use tokio::time::timeout;

pub use self::clocks::Clocks;
pub use self::reading::Readings;
pub use self::target::{Container, MeterTarget};

/// Time limit for a meter. A slower one is left out.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Asks all meters about all targets, at the same time; takes little more than [`PATIENCE`] at
/// worst. The times of the readings are by this machine's clock, as far as `clocks` knows those of
/// the nodes; it learns from each answer.
pub async fn read(
    client: &Client,
    prometheus: Option<&PrometheusSpec>,
    targets: &[MeterTarget],
    clocks: &Arc<Clocks>,
) -> Readings {
    let mut asked = JoinSet::new();
    let nodes: BTreeSet<&str> = targets.iter().map(|target| target.node.as_str()).collect();
    for node in nodes {
        let there: Vec<MeterTarget> =
            targets.iter().filter(|target| target.node == node).cloned().collect();
        let (client, node) = (client.clone(), node.to_owned());
        asked.spawn(bounded(format!("the kubelet of node {node}"), {
            let (client, node, there, clocks) =
                (client.clone(), node.clone(), there.clone(), Arc::clone(clocks));
            async move { kubelet::read(&client, &node, &there, &clocks).await }
        }));
        asked.spawn(bounded(format!("cAdvisor of node {node}"), async move {
            cadvisor::read(&client, &node, &there).await
        }));
    }
    if let (Some(spec), false) = (prometheus, targets.is_empty()) {
        let (client, spec, targets) = (client.clone(), spec.clone(), targets.to_vec());
        asked.spawn(bounded("Prometheus".to_owned(), async move {
            prometheus::read(&client, &spec, &targets).await
        }));
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
        let target =
            targets.iter().find(|target| target.what == read.what && target.who == read.who);
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
