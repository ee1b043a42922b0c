//! The doctor of a cluster: checks of what it can do, by asking it.
//!
//! To add a check: one file in `doctor/checks/` and one line in `CHECKS`. `doctor/inventory.rs`
//! gathers what checks look at. So a check is a function, and has tests without a cluster.

mod check;
mod checks;
mod inventory;

use hopbench_model::{ClusterSpec, Fault};
pub use hopbench_testbed::{Finding, State};

use self::checks::CHECKS;
use self::inventory::Inventory;
use crate::api::access::Access;

/// A line of the table: the check's name, what it is needed for, what came of it.
pub type Line = (&'static str, &'static str, Finding);

const CLUSTER: (&str, &str) = ("cluster", "everything");

/// Looks at a cluster, with the eyes of a scenario. Changes nothing.
pub fn examine(access: &Access, spec: &ClusterSpec) -> Vec<Line> {
    let inventory = match Inventory::of(access, spec) {
        Ok(inventory) => inventory,
        Err(fault) => return unreachable(&fault),
    };
    let cluster = Finding::works(format!("Kubernetes {} at {}", inventory.version, access.server));
    let checks =
        CHECKS.iter().map(|check| (check.name, check.needed_for, (check.judge)(&inventory)));
    std::iter::once((CLUSTER.0, CLUSTER.1, cluster)).chain(checks).collect()
}

/// The only line of a table without a cluster.
pub fn unreachable(why: &Fault) -> Vec<Line> {
    let remedy = "set KUBECONFIG and the context as for kubectl; `kubectl get nodes` has to work";
    vec![(CLUSTER.0, CLUSTER.1, Finding::missing(why.text.clone(), remedy))]
}
