//! Rounds in which a rate is 0: nothing came in the whole window.
//!
//! Such a round has no finite ratio, but it has a place in the order. Where only the path is 0, it
//! is the lowest ratio of all. Where only the baseline is, it is the highest. Where all figures of
//! a round are 0, nothing is known of the ratio, and the round is left out.
//!
//! Tests of ranks need no more than the order. So a number stands for 0 that is far below the
//! logarithms of all other figures. How far below does not change a p-value. It is the same number
//! for every figure of a comparison, and it is made of all of them alike. So the figures of a round
//! can still change places, and the tests keep their level. Such worst ranks are those of J. M.
//! Lachin ("Worst-Rank Score Analysis with Informatively Missing Observations in Clinical Trials",
//! Controlled Clinical Trials 20(5), 1999). Which side had the 0 counts, as it must. To leave out
//! such rounds would make a path that often stands still as good as any other.
//!
//! A mean or a standard deviation of such numbers means nothing, so Student's t is not taken.

use super::round_pair::RoundPair;

/// What stands for 0 lies at least this far below the logarithm of the smallest figure above 0.
const FAR: f64 = 21.0;
/// And further by so many ranges of all logarithms. Half of the way, or a third, is then still
/// beyond every ratio of two figures above 0.
const RANGES: f64 = 9.0;

/// How often a rate was 0, in the rounds of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zeros {
    /// Trials of the path in which it was 0.
    pub path: usize,
    /// All trials of the path.
    pub path_trials: usize,
    /// Trials of the baseline in which it was 0. A round may have measured the baseline twice.
    pub baseline: usize,
    /// All trials of the baseline.
    pub baseline_trials: usize,
    /// Rounds in which all figures were 0. The ratio is without them.
    pub left_out: usize,
    /// What stands for the logarithm of 0.
    log: f64,
    /// A logarithm of a ratio that is further from 0 than this rests on such a number; infinite
    /// where no round of the ratio has a 0.
    beyond: f64,
}

impl Zeros {
    /// Of rounds whose figures are finite and not below 0; `None` where none is 0.
    pub(super) fn of(pairs: &[RoundPair]) -> Option<Self> {
        let (path, path_trials) = counted(pairs.iter().map(|pair| pair.value));
        let (baseline, baseline_trials) = counted(pairs.iter().flat_map(|pair| pair.baselines()));
        if path + baseline == 0 {
            return None;
        }
        let figures = pairs.iter().flat_map(|pair| pair.figures());
        let logs = figures.filter(|figure| *figure > 0.0).map(f64::ln);
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (low.min(log), high.max(log))
        });
        let range = (high - low).max(0.0);
        let is_in_a_ratio =
            |pair: &RoundPair| !pair.is_nothing() && pair.figures().any(|figure| figure == 0.0);
        let beyond =
            if pairs.iter().any(is_in_a_ratio) { 1.0 + 1.5 * range } else { f64::INFINITY };
        Some(Self {
            path,
            path_trials,
            baseline,
            baseline_trials,
            left_out: pairs.iter().filter(|pair| pair.is_nothing()).count(),
            log: low - FAR - RANGES * range,
            beyond,
        })
    }

    /// The logarithm of a figure, or what stands for it.
    pub(super) fn log_of(&self, figure: f64) -> f64 {
        if figure > 0.0 { figure.ln() } else { self.log }
    }

    /// Whether rounds of the ratio have a 0.
    pub(super) fn are_in_ratios(&self) -> bool {
        self.beyond.is_finite()
    }

    /// Whether the logarithm of a ratio is one of figures above 0.
    pub(super) fn is_seen(&self, log: f64) -> bool {
        log.abs() <= self.beyond
    }
}

/// How many figures are 0, and how many there are.
fn counted(figures: impl Iterator<Item = f64>) -> (usize, usize) {
    figures.fold((0, 0), |(zero, all), figure| (zero + usize::from(figure == 0.0), all + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(value: f64, baseline: f64, twin: Option<f64>) -> RoundPair {
        RoundPair { value, baseline, twin }
    }

    #[test]
    fn zeros_are_counted_by_side() {
        assert_eq!(Zeros::of(&[pair(1.0, 2.0, None), pair(3.0, 4.0, Some(5.0))]), None);
        let rounds = [
            pair(0.0, 2.0, Some(3.0)),
            pair(1.0, 0.0, Some(2.0)),
            pair(1.0, 2.0, None),
            pair(0.0, 0.0, Some(0.0)),
        ];
        let zeros = Zeros::of(&rounds).unwrap();
        assert_eq!((zeros.path, zeros.path_trials), (2, 4));
        assert_eq!((zeros.baseline, zeros.baseline_trials, zeros.left_out), (3, 7, 1));
        assert!(zeros.are_in_ratios());
        // No ratio of two figures is as far as half of one with a 0.
        let far = (zeros.log_of(0.0) - 3f64.ln()) / 3.0;
        assert!(!zeros.is_seen(far) && zeros.is_seen(3f64.ln()), "{zeros:?}");
    }

    #[test]
    fn a_round_without_anything_is_in_no_ratio() {
        let zeros = Zeros::of(&[pair(0.0, 0.0, None), pair(1.0, 2.0, None)]).unwrap();
        assert_eq!((zeros.left_out, zeros.are_in_ratios()), (1, false));
        assert_eq!(zeros.log_of(2.0), 2f64.ln());
    }
}
