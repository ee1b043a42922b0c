//! The workloads: one file each.

use crate::workload::Workload;

mod rr;
mod stream;

/// Every workload, in the order in which `hopbench list workloads` prints them.
pub const WORKLOADS: &[&dyn Workload] = &[&stream::Stream, &rr::Rr];

/// The workload of this name.
pub fn workload(name: &str) -> Option<&'static dyn Workload> {
    WORKLOADS.iter().copied().find(|w| w.name() == name)
}
