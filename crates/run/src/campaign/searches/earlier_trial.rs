//! The trials of earlier sessions at equal loads.

use hopbench_model::EQUAL_LOAD;

use crate::results::Searched;

/// A trial of an earlier session at the load that was found on a path.
#[derive(Debug)]
pub(super) struct EarlierTrial {
    /// The search of the cell that was measured.
    pub(super) at: usize,
    pub(super) past: Searched,
}

/// Whether a trial of an earlier session was at an equal load; the others are of searches.
pub(super) fn is_at_equal_load(past: &Searched) -> bool {
    past.step.goal == EQUAL_LOAD
}
