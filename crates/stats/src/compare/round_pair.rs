//! A pair of a round: a figure and that of its baseline, measured in it.

/// A figure of one round, and that of its baseline, which may have been measured twice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundPair {
    /// The figure.
    pub value: f64,
    /// The baseline's.
    pub baseline: f64,
    /// The baseline's once more; `None` where it was measured once.
    pub twin: Option<f64>,
}

impl RoundPair {
    /// The baseline's figures, one or two.
    pub(super) fn baselines(self) -> impl Iterator<Item = f64> {
        [Some(self.baseline), self.twin].into_iter().flatten()
    }

    /// All figures, the path's first.
    pub(super) fn figures(self) -> impl Iterator<Item = f64> {
        std::iter::once(self.value).chain(self.baselines())
    }

    /// The logarithm of the ratio of all rounds together. There is a ratio of the means and one of
    /// the harmonic means, and the one nearer to 1 counts. A far figure moves one of them without
    /// bound, and the other by no more than its share of the rounds. The logarithm is infinite if
    /// the path is always 0.
    pub(super) fn log_together(rounds: &[Self]) -> f64 {
        let means = Self::log_of_sums(rounds, |figure| figure);
        let harmonic = -Self::log_of_sums(rounds, f64::recip);
        match (means, harmonic) {
            _ if !harmonic.is_finite() => means,
            _ if means.signum() != harmonic.signum() => 0.0,
            _ if means.abs() < harmonic.abs() => means,
            _ => harmonic,
        }
    }

    /// The logarithm of the ratio of the sums over these rounds, each figure by its size.
    fn log_of_sums(rounds: &[Self], size: fn(f64) -> f64) -> f64 {
        let baseline = |pair: &Self| {
            let one = size(pair.baseline);
            pair.twin.map_or(one, |twin| f64::midpoint(one, size(twin)))
        };
        let value: f64 = rounds.iter().map(|pair| size(pair.value)).sum();
        value.ln() - rounds.iter().map(baseline).sum::<f64>().ln()
    }

    /// Whether all of it has a logarithm.
    pub(super) fn is_usable(self) -> bool {
        self.figures().all(|figure| figure.is_finite() && figure > 0.0)
    }

    /// Whether all of it can be a rate, which may be 0.
    pub(super) fn is_of_rates(self) -> bool {
        self.figures().all(|figure| figure.is_finite() && figure >= 0.0)
    }

    /// Whether all of it is 0.
    pub(super) fn is_nothing(self) -> bool {
        self.figures().all(|figure| figure == 0.0)
    }
}

impl From<(f64, f64)> for RoundPair {
    /// Of (figure, baseline).
    fn from((value, baseline): (f64, f64)) -> Self {
        Self { value, baseline, twin: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_over_all_rounds_and_half_of_each_baseline() {
        let pair = |value, baseline, twin| RoundPair { value, baseline, twin };
        let rounds = [pair(0.0, 2.0, Some(3.0)), pair(1.0, 0.0, Some(2.0)), pair(1.0, 2.0, None)];
        // 2 against 2.5 + 1 + 2.
        let log = RoundPair::log_together(&rounds);
        assert!((log - (2.0 / 5.5f64).ln()).abs() < 1e-12, "{log}");
        // One of two rounds is far off, by however much: it weighs half, whatever its direction.
        for far in [10.0, 1e6] {
            let high = RoundPair::log_together(&[pair(far, 1.0, None), pair(1.0, 1.0, Some(1.0))]);
            assert!((high - (2.0 / (1.0 + f64::recip(far))).ln()).abs() < 1e-9, "{high}");
            let low = [pair(f64::recip(far), 1.0, None), pair(1.0, 1.0, None)];
            assert!((RoundPair::log_together(&low) + high).abs() < 1e-9, "{low:?}");
        }
        // What is far off in both directions is no difference.
        let both = [pair(4.0, 1.0, None), pair(0.25, 1.0, None)];
        assert_eq!(RoundPair::log_together(&both), 0.0);
        assert_eq!(RoundPair::log_together(&[pair(0.0, 1.0, None)]), f64::NEG_INFINITY);
    }
}
