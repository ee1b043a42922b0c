//! The checks of a cluster, one file each.

mod image;
mod mesh;
mod meters;
mod network;
mod nodes;
mod pod_security;
mod prometheus;
mod rights;
mod runs;
mod runtime_classes;
mod zones;

use crate::doctor::check::Check;

/// Every check, in the order of the table.
pub(crate) const CHECKS: &[Check] = &[
    nodes::CHECK,
    zones::CHECK,
    rights::CHECK,
    image::CHECK,
    pod_security::CHECK,
    network::pod_network::CHECK,
    network::kube_proxy::CHECK,
    network::gateway_api::CHECK,
    runtime_classes::CHECK,
    mesh::CHECK,
    meters::CHECK,
    prometheus::CHECK,
    runs::CHECK,
];
