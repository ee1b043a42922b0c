//! One end of a trial, and its report.

use std::collections::BTreeSet;

use hopbench_model::EndReport;

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

/// The time in which an end's process spent what was read, s. A program rests after the window,
/// when its agent may read late. `None`: both readings came after it.
pub(super) fn spent_seconds(end: &EndReport) -> Option<f64> {
    if watches(end) { end.loaded_seconds() } else { Some(end.seconds()) }
}
