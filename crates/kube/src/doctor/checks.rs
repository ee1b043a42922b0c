//! The checks of a cluster, one file each.

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
mod zones;

use crate::doctor::check::Check;

/// Every check, in the order of the table.
pub(crate) const CHECKS: &[Check] = &[
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
