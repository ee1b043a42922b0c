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

#[cfg(test)]
mod tests {
    use hopbench_model::is_of_exchanges;

    use super::*;

    #[test]
    fn what_can_be_scheduled_is_made_of_exchanges() {
        for workload in WORKLOADS {
            let name = workload.name();
            assert_eq!(is_of_exchanges(name), workload.traits().scheduled, "{name}: add it in model/src/job/kind.rs");
        }
    }
}
