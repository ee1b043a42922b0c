//! The comparisons of a run that wait for all others.

use crate::figures::Better;
use crate::verdict::Questions;

/// Comparisons that wait for all others.
#[derive(Default)]
pub(super) struct Open {
    /// Index of the workload that is being summarised.
    pub(super) workload: usize,
    pub(super) questions: Questions<Place>,
}

/// A ratio of a summary, by indices.
pub(super) enum Place {
    /// Of a figure to the baseline's.
    Figure { workload: usize, cell: usize, figure: usize, better: Better },
    /// Of another tool's figure to ours.
    Peer { workload: usize, comparison: usize, better: Better },
}
