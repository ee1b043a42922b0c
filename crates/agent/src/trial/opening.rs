//! The fault of a trial whose flows did not all open in time.

use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos};

/// `opened` has the flows that are up, and all that should be after `patience`.
pub(super) fn not_opened(opened: (u32, u32), patience: Nanos) -> Fault {
    Fault::environment(format!(
        "only {} of {} flows could be opened within {}; see the server's limits and backlog, and \
         this machine's free local ports (`ss -s`, net.ipv4.ip_local_port_range)",
        opened.0,
        opened.1,
        Span(patience)
    ))
}
