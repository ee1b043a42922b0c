//! Settled comparisons: those that are clear already, and those that are out of reach.

use super::evidence::Evidence;
use super::judge::{FEWEST_TO_JUDGE, SAME};
use crate::interval::CONFIDENCE;

/// Looks begin when more rounds than this have been made. With a look every four rounds, the first
/// one comes before round 9.
pub const FIRST_LOOK: usize = 6;
/// A look before the end calls something clear with this probability of an error, at most. It is so
/// small that looking often costs hardly anything (J. L. Haybittle, "Repeated Assessment of Results
/// in Clinical Trials of Cancer Treatment", British Journal of Radiology 44, 1971; R. Peto et al.,
/// British Journal of Cancer 34, 1976).
const CLEAR: f64 = 0.001;
/// A comparison is out of reach if it needs more than so many times the rounds that it has.
const REACH: f64 = 10.0;

/// Whether a comparison is clear or out of reach, so that more rounds are worth little. It looks at
/// one comparison alone: it knows neither the noise floor nor the number of comparisons. With fewer
/// than 3 rounds it is `false`.
///
/// Such a comparison gets a small share of the rounds, not none. The verdict at the end is from all
/// its rounds, so what was clear by chance can still turn out otherwise. `minimum_effect` is a
/// share, as in [`Question`](super::Question).
#[must_use]
pub fn is_settled(evidence: &Evidence, minimum_effect: f64) -> bool {
    if evidence.rounds < FEWEST_TO_JUDGE {
        return false;
    }
    // A test of ranks needs more rounds to be as sure.
    let test = evidence.test(((1.0 - CONFIDENCE) / CLEAR).round() as usize);
    let (Some(sure), Some(likely)) =
        (evidence.within(test, CLEAR), evidence.within(test, 1.0 - CONFIDENCE))
    else {
        return false;
    };
    let same = if minimum_effect > 0.0 { minimum_effect } else { SAME }.ln_1p();
    let size = evidence.ratio.ln().abs();
    let is_different = !sure.contains(1.0) && size >= minimum_effect.ln_1p();
    let is_same = sure.low.ln() >= -same && sure.high.ln() <= same;
    // Half of an interval shrinks with the root of the number of rounds.
    let half = (likely.high.ln() - likely.low.ln()) / 2.0;
    let goal = size.max(same - size);
    let is_beyond = (half / goal).powi(2) > REACH;
    is_different || is_same || is_beyond
}

#[cfg(test)]
mod tests {
    use super::super::paired;
    use super::*;

    /// Rounds whose ratios alternate around this one by a share.
    fn settled(rounds: usize, ratio: f64, scatter: f64, minimum_effect: f64) -> bool {
        let pairs: Vec<(f64, f64)> = (0..rounds)
            .map(|round| {
                let step = 1.0 + scatter * (1.0 + 0.01 * round as f64);
                (if round % 2 == 0 { ratio * step } else { ratio / step }, 1.0)
            })
            .collect();
        is_settled(&paired(&pairs).unwrap(), minimum_effect)
    }

    #[test]
    fn what_is_clear_or_out_of_reach_is_settled_and_the_rest_is_open() {
        assert!(settled(12, 0.1, 0.05, 0.0), "a tenth of the rate");
        assert!(!settled(FEWEST_TO_JUDGE - 1, 0.1, 0.05, 0.0), "too few rounds");
        assert!(settled(30, 1.001, 0.01, 0.0), "the same within 5 %");
        assert!(!settled(12, 1.1, 0.1, 0.0), "10 % and a scatter of 10 %: soon decided");
        assert!(settled(12, 1.025, 0.5, 0.0), "2.5 % and a scatter of 50 %: never");
        assert!(settled(30, 1.06, 0.01, 0.1), "the same within the 10 % that matter");
    }
}
