//! The pace of what is told while a run goes on.

use hopbench_model::Nanos;

/// After something that took a while, nothing is told before so many times that while: it takes two
/// hundredths of the time at most.
const REST: u64 = 50;

/// When the next drawing, line or event about the whole run is due.
#[derive(Debug)]
pub(in crate::cmd::run) struct Pace {
    least_ns: Nanos,
    next_at: Nanos,
}

impl Pace {
    /// One each so many ns at most, the first at that time.
    pub(in crate::cmd::run) fn new(least_ns: Nanos, first_at: Nanos) -> Self {
        Self { least_ns, next_at: first_at }
    }

    /// Whether one is due.
    pub(in crate::cmd::run) fn is_due(&self, now: Nanos) -> bool {
        now >= self.next_at
    }

    /// One was made, in this time.
    pub(in crate::cmd::run) fn made(&mut self, began: Nanos, ended: Nanos) {
        let rest = ended.saturating_sub(began).saturating_mul(REST);
        self.next_at = began.saturating_add(self.least_ns).max(ended.saturating_add(rest));
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::SECOND;

    use super::*;

    #[test]
    fn what_takes_long_is_made_seldom() {
        let mut pace = Pace::new(10 * SECOND, 10 * SECOND);
        assert!(!pace.is_due(10 * SECOND - 1) && pace.is_due(11 * SECOND));
        pace.made(11 * SECOND, 11 * SECOND + SECOND / 10);
        assert!(!pace.is_due(21 * SECOND - 1) && pace.is_due(21 * SECOND));
        pace.made(21 * SECOND, 22 * SECOND);
        assert!(!pace.is_due(72 * SECOND - 1) && pace.is_due(72 * SECOND));
    }
}
