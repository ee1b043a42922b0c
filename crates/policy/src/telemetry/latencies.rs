//! A histogram of latencies, as coarse as those of a telemetry backend.

/// Bounds are powers of two, in nanoseconds: the last bucket begins at 2^42 ns, which is more than
/// an hour.
const BUCKETS: usize = 43;

/// Counts by powers of two.
#[derive(Debug, Clone)]
pub(crate) struct Latencies([u64; BUCKETS]);

impl Default for Latencies {
    fn default() -> Self {
        Self([0; BUCKETS])
    }
}

impl Latencies {
    /// One more of so many nanoseconds.
    pub(crate) fn record(&mut self, ns: u64) {
        let power = ns.checked_ilog2().unwrap_or_default() as usize;
        self.0[power.min(BUCKETS - 1)] += 1;
    }

    /// The bound that at least this share (0 to 1) of what was recorded stays below, ns; 0 where
    /// nothing was.
    pub(crate) fn below_ns(&self, share: f64) -> u64 {
        let all: u64 = self.0.iter().sum();
        if all == 0 {
            return 0;
        }
        let mut seen = 0;
        for (power, count) in self.0.iter().enumerate() {
            seen += count;
            if seen as f64 >= share * all as f64 {
                return 2 << power;
            }
        }
        2 << BUCKETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_the_power_above() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.below_ns(0.5), 0);
        for ns in [0, 1, 1000, 1023, 1024, 3_000_000] {
            latencies.record(ns);
        }
        assert_eq!(latencies.below_ns(0.0), 2);
        assert_eq!(latencies.below_ns(2.0 / 6.0), 2);
        assert_eq!(latencies.below_ns(0.5), 1024);
        assert_eq!(latencies.below_ns(5.0 / 6.0), 2048);
        assert_eq!(latencies.below_ns(1.0), 1 << 22);
    }

    #[test]
    fn the_longest_is_in_the_last() {
        let mut latencies = Latencies::default();
        latencies.record(u64::MAX);
        assert_eq!(latencies.below_ns(1.0), 1 << BUCKETS);
    }
}
