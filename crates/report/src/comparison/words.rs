//! Verdicts in words.

use hopbench_stats::{Comparison, Verdict};

use super::row::Outcome;
use crate::campaign::kind::Better;
use crate::campaign::verdict::{percent, same, within_floor};

/// What a comparison says: the outcome, the first word, all of them.
pub(super) fn verdict(better: Better, comparison: &Comparison) -> (Outcome, &'static str, String) {
    match comparison.verdict {
        Verdict::Higher | Verdict::Lower => {
            let grew = comparison.verdict == Verdict::Higher;
            let (outcome, word) = called(better, grew);
            let away = |ratio: f64| percent((ratio - 1.0).abs());
            let interval = comparison.interval.map_or(String::new(), |interval| {
                // The end nearer to no difference first.
                let ends = if grew { [interval.low, interval.high] } else { [interval.high, interval.low] };
                format!(" [{}, {}]", away(ends[0]), away(ends[1]))
            });
            (outcome, word, format!("{word} by {} %{interval}", away(comparison.ratio)))
        }
        Verdict::NoDifference { could_have_seen } => (Outcome::Same, "no difference", same(could_have_seen)),
        Verdict::BelowFloor { floor } => (Outcome::NoiseFloor, "within the noise floor", within_floor(floor)),
        Verdict::BelowMinimum => {
            (Outcome::MinimumEffect, "below the minimum effect", "below the minimum effect".to_owned())
        }
        Verdict::TooFewRounds { needed } => {
            (Outcome::TooFewRounds, "too few rounds", format!("too few rounds ({needed} needed)"))
        }
    }
}

/// What a difference is called.
pub(super) fn called(better: Better, grew: bool) -> (Outcome, &'static str) {
    match (better, grew) {
        (Better::Higher, true) | (Better::Lower, false) => (Outcome::Better, "faster"),
        (Better::Higher, false) | (Better::Lower, true) => (Outcome::Worse, "slower"),
        (Better::Cheaper, true) => (Outcome::Worse, "dearer"),
        (Better::Cheaper, false) => (Outcome::Better, "cheaper"),
        (Better::Neither, true) => (Outcome::More, "higher"),
        (Better::Neither, false) => (Outcome::Less, "lower"),
    }
}

/// The words of called differences, worst first.
pub(super) const CALLED: &[&str] = &["slower", "dearer", "higher", "lower", "cheaper", "faster"];
