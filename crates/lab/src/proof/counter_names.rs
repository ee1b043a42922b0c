//! The names of the counters that prove a route.

use crate::services::service::Service;
use crate::topology::packet_path::{Link, Side};

/// Name of a counter of a link: `b/vxlan0 rx_bytes`.
pub(crate) fn of_link(link: &Link, side: Side, unit: &str) -> String {
    format!("{link} {}_{unit}", side.prefix())
}

/// Name of the counter of all connections through a path's Service on a node: `a/svc-PATH
/// connections`.
pub(crate) fn of_service(node: &str, service: &Service) -> String {
    format!("{node}/svc-{} connections", service.path)
}

/// Name of the counter of a backend, from 1, of one of the Service's ports.
pub(crate) fn of_backend(node: &str, service: &Service, port: u16, backend: usize) -> String {
    format!("{node}/svc-{} port {port} backend {} connections", service.path, backend + 1)
}
