//! The growth of counters over a trial.

use hopbench_testbed::Counters;

/// The growth of counters over a trial.
#[derive(Debug)]
pub(super) struct Grown<'a> {
    pub(super) before: &'a Counters,
    pub(super) after: &'a Counters,
}

impl Grown<'_> {
    /// By how much a counter grew. `None`: there is no such counter.
    pub(super) fn by(&self, name: &str) -> Option<u64> {
        Some(self.after.get(name)?.saturating_sub(*self.before.get(name)?))
    }
}
