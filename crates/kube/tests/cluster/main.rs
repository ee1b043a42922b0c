//! The testbed on a real cluster: `HOPBENCH_CLUSTER_KUBECONFIG` names its kubeconfig, and
//! `HOPBENCH_CLUSTER_IMAGE` the image of the agents there, where it is not the usual one. These
//! tests are ignored unless somebody asks for them, as `scripts/test-cluster.sh` does. Without a
//! cluster they test nothing then, or fail with HOPBENCH_REQUIRE_CLUSTER=1.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "all of this is test"
)]

mod agents;
mod changes;
mod common;
mod doctor;
#[path = "../../src/plan/fixture.rs"]
mod fixture;
mod mesh;
mod meters;
mod patches;
mod paths;
mod rights;
mod subjects;
mod sweep;
mod troubles;
