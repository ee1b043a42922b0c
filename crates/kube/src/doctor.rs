//! What a cluster can do, found out by asking it.
//!
//! To add a check: one file in `doctor/` and one line in `CHECKS`. What it looks at is gathered in `doctor/seen.rs`, so
//! that a check is a function of that, and can be tested without a cluster.

mod image;
mod kube_proxy;
mod mesh;
mod meters;
mod nodes;
mod pod_network;
mod pod_security;
mod prometheus;
mod rights;
mod runs;
mod runtime_classes;
mod seen;
mod zones;

use hopbench_model::{ClusterSpec, Fault};
pub use hopbench_testbed::{Finding, State};

use self::seen::Seen;
use crate::access::Access;

/// One thing that a cluster may or may not have.
struct Check {
    /// Its name in the table.
    name: &'static str,
    /// What it is needed for.
    needed_for: &'static str,
    /// Looks at what was seen.
    judge: fn(&Seen) -> Finding,
}

/// Every check, in the order of the table.
const CHECKS: &[Check] = &[
    nodes::CHECK,
    zones::CHECK,
    rights::CHECK,
    image::CHECK,
    pod_security::CHECK,
    pod_network::CHECK,
    kube_proxy::CHECK,
    runtime_classes::CHECK,
    mesh::CHECK,
    meters::CHECK,
    prometheus::CHECK,
    runs::CHECK,
];

/// A line of the table: the check's name, what it is needed for, what came of it.
pub type Line = (&'static str, &'static str, Finding);

const CLUSTER: (&str, &str) = ("cluster", "everything");

/// Looks at a cluster, with the eyes of a scenario. Changes nothing.
pub fn examine(access: &Access, spec: &ClusterSpec) -> Vec<Line> {
    let seen = match Seen::of(access, spec) {
        Ok(seen) => seen,
        Err(fault) => return unreachable(&fault),
    };
    let cluster = Finding::works(format!("Kubernetes {} at {}", seen.version, access.server));
    let checks = CHECKS.iter().map(|check| (check.name, check.needed_for, (check.judge)(&seen)));
    std::iter::once((CLUSTER.0, CLUSTER.1, cluster)).chain(checks).collect()
}

/// What is to be said where there is no cluster.
pub fn unreachable(why: &Fault) -> Vec<Line> {
    let remedy = "set KUBECONFIG and the context as for kubectl; `kubectl get nodes` has to work";
    vec![(CLUSTER.0, CLUSTER.1, Finding::missing(why.text.clone(), remedy))]
}
