//! Verdicts in words.

use hopbench_stats::{Comparison, Verdict};

use super::row::Outcome;
use crate::campaign::kind::Better;
use crate::campaign::verdict::{self, BELOW_MINIMUM, same, too_few_rounds, within_floor};

/// What a comparison says: the outcome, the first word, all of them.
pub(super) fn said(better: Better, comparison: &Comparison) -> (Outcome, &'static str, String) {
    match comparison.verdict {
        Verdict::Higher | Verdict::Lower => {
            let grew = comparison.verdict == Verdict::Higher;
            let (outcome, word) = called(better, grew);
            let ends = comparison.interval.map(|interval| (interval.low, interval.high));
            (outcome, word, verdict::by(word, grew, comparison.ratio, ends))
        }
        Verdict::NoDifference { could_have_seen } => (Outcome::Same, "no difference", same(could_have_seen)),
        Verdict::BelowFloor { floor } => (Outcome::NoiseFloor, "within the noise floor", within_floor(floor)),
        Verdict::BelowMinimum => (Outcome::MinimumEffect, BELOW_MINIMUM, BELOW_MINIMUM.to_owned()),
        Verdict::TooFewRounds { needed } => (Outcome::TooFewRounds, "too few rounds", too_few_rounds(needed)),
    }
}

/// What a difference is called.
pub(super) fn called(better: Better, grew: bool) -> (Outcome, &'static str) {
    let (word, is_good) = verdict::called(better, grew);
    let outcome = match (is_good, grew) {
        (Some(true), _) => Outcome::Better,
        (Some(false), _) => Outcome::Worse,
        (None, true) => Outcome::More,
        (None, false) => Outcome::Less,
    };
    (outcome, word)
}

/// The first words where the generator was the limit, by which these cases are counted.
pub(super) const GENERATOR: &str = "the generator was the limit";

/// The words of called differences, worst first.
pub(super) const CALLED: &[&str] = &["slower", "dearer", "higher", "lower", "cheaper", "faster"];
