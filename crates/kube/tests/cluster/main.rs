//! The testbed on a real cluster: `HOPBENCH_CLUSTER_KUBECONFIG` names its kubeconfig, and `HOPBENCH_CLUSTER_IMAGE` the image of
//! the agents there, where it is not the usual one. Without a cluster nothing is tested, unless HOPBENCH_REQUIRE_CLUSTER=1.

mod agents;
mod changes;
mod common;
mod doctor;
mod meters;
mod patches;
mod paths;
mod rights;
mod sweep;
mod troubles;
