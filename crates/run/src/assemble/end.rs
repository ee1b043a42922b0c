//! One end of a trial, and its report.

use std::collections::BTreeSet;

use hopbench_model::{EndReport, SECOND};

/// One end: the node it ran on, and what it saw.
pub(super) struct End<'a> {
    pub(super) node: &'a str,
    pub(super) report: &'a EndReport,
    /// CPUs that all its threads are held to; absent: any of its node.
    pub(super) held: Option<BTreeSet<usize>>,
    /// CPUs that its workers are put on, where the job names them.
    pub(super) pinned: Option<BTreeSet<usize>>,
    /// The CPU limit of the server program beside it, cores; absent: none is known.
    pub(super) program_limit: Option<f64>,
    /// The agent's threads that do the work.
    pub(super) threads: u32,
}

/// Whether an end looks at a server program instead of being the server.
pub(super) fn watches(end: &EndReport) -> bool {
    end.end.readings.contains_key("program")
}

/// Time between the two readings, s.
pub(super) fn seconds(end: &EndReport) -> f64 {
    end.end.t_ns.saturating_sub(end.start.t_ns).max(1) as f64 / SECOND as f64
}
