//! Interarrival jitter of datagrams.

/// Interarrival jitter as RTP defines it (RFC 3550, section 6.4.1 and appendix A.8).
///
/// For two datagrams that arrive one after the other, D is the difference of their transit times.
/// The estimate moves by a sixteenth towards it: J += (|D| - J) / 16. It starts at 0, so it
/// approaches a constant |D| as 1 - (15/16)ⁿ: 99 % of it after 72 datagrams.
///
/// Only differences of transit times count, so the two clocks may differ by any constant. Drift
/// between them adds to |D| what they drift between two datagrams. Datagrams are taken in order of
/// arrival; the RFC makes no exception for late ones or duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Jitter {
    /// Received minus sent of the datagram before, ns, modulo 2^64: clocks may start anywhere.
    transit: Option<u64>,
    ns: f64,
}

impl Jitter {
    /// An estimator that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in one datagram: when it was sent on the sender's clock and received on the
    /// receiver's, ns each.
    #[inline]
    pub fn observe(&mut self, sent_ns: u64, received_ns: u64) {
        let transit = received_ns.wrapping_sub(sent_ns);
        if let Some(before) = self.transit.replace(transit) {
            let difference = transit.wrapping_sub(before).cast_signed();
            self.ns += (difference.unsigned_abs() as f64 - self.ns) / 16.0;
        }
    }

    /// The estimate, ns; 0 until the second datagram.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn jitter_of(datagrams: impl IntoIterator<Item = (u64, u64)>) -> f64 {
        let mut jitter = Jitter::new();
        datagrams.into_iter().for_each(|(sent, received)| jitter.observe(sent, received));
        jitter.ns()
    }

    #[test]
    fn one_datagram_says_nothing() {
        assert_eq!(jitter_of([]), 0.0);
        assert_eq!(jitter_of([(0, 1_000_000)]), 0.0);
    }

    #[test]
    fn a_constant_transit_has_no_jitter() {
        assert_eq!(jitter_of((0..1000).map(|n| (n * n, n * n + 50_000))), 0.0);
    }

    #[test]
    fn it_follows_the_formula_step_by_step() {
        // Transit 100, 260, 100: |D| = 160 twice.
        assert_eq!(jitter_of([(0, 100), (1000, 1260)]), 10.0);
        assert_eq!(jitter_of([(0, 100), (1000, 1260), (2000, 2100)]), 10.0 + 150.0 / 16.0);
    }

    #[test]
    fn an_alternating_transit_converges_to_the_difference() {
        let after = |n: u64| jitter_of((0..=n).map(|n| (1000 * n, 1000 * n + 800 * (n % 2))));
        assert!(after(71) < 792.0 && after(72) > 792.0, "{} {}", after(71), after(72));
        assert!((after(500) - 800.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn a_constant_clock_offset_cancels(
            transits in prop::collection::vec(0u64..1 << 40, 0..100),
            offset: u64,
        ) {
            let datagrams = || transits.iter().zip(0u64..).map(|(t, n)| (n * 1000, n * 1000 + t));
            let moved = datagrams().map(|(sent, received)| (sent, received.wrapping_add(offset)));
            prop_assert_eq!(jitter_of(moved), jitter_of(datagrams()));
        }

        #[test]
        fn it_never_exceeds_the_largest_difference(
            transits in prop::collection::vec(0u64..1 << 40, 2..100),
        ) {
            let largest = transits.windows(2).map(|w| w[0].abs_diff(w[1])).max().unwrap();
            let jitter = jitter_of(transits.iter().map(|t| (0, *t)));
            prop_assert!((0.0..=largest as f64).contains(&jitter), "{jitter} {largest}");
        }
    }
}
