//! The lines of progress of a run without a terminal.

use hopbench_model::{Nanos, SECOND};

/// So long nobody has to wait for a sign of life, ns.
const LONGEST: Nanos = 30 * SECOND;

/// A line for every tenth of the trials, and one where nothing was said for a while.
#[derive(Debug)]
pub(super) struct Pace {
    told_at: Nanos,
    tenth: usize,
}

impl Pace {
    /// From now on.
    pub(super) fn new(now: Nanos) -> Self {
        Self { told_at: now, tenth: 0 }
    }

    /// Whether something is to be said now, after so many of these trials; of searches nobody knows
    /// how many there will be.
    pub(super) fn is_due(&mut self, now: Nanos, done: usize, trials: usize) -> bool {
        let tenth = (10 * done).checked_div(trials).unwrap_or(0);
        let is_due = tenth > self.tenth || now.saturating_sub(self.told_at) >= LONGEST;
        if is_due {
            self.told_at = now;
            self.tenth = tenth;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_and_half_a_minute_are_told() {
        let mut pace = Pace::new(0);
        let told: Vec<usize> =
            (0..100).filter(|done| pace.is_due(*done as u64, *done, 100)).collect();
        assert_eq!(told, [10, 20, 30, 40, 50, 60, 70, 80, 90]);
        let mut pace = Pace::new(0);
        assert!(!pace.is_due(29 * SECOND, 1, 1000) && pace.is_due(30 * SECOND, 2, 1000));
        assert!(!pace.is_due(59 * SECOND, 3, 1000) && pace.is_due(60 * SECOND, 3, 0));
    }
}
