//! The workloads: one file each.

use crate::workload::Workload;

mod crr;
mod http;
mod ping;
mod push;
mod rr;
mod stream;
mod udp;

/// Every workload, in the order in which `hopbench list workloads` prints them.
pub const WORKLOADS: &[&dyn Workload] =
    &[&stream::Stream, &push::Push, &rr::Rr, &crr::Crr, &udp::Udp, &ping::Ping, &http::Http];

/// The workload of this name.
pub fn workload(name: &str) -> Option<&'static dyn Workload> {
    WORKLOADS.iter().copied().find(|w| w.name() == name)
}
