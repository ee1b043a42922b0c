//! Verdicts of comparisons, their words, and the driver that judges comparisons together.

mod questions;

use hopbench_model::number::{full_percentage, percentage};
use hopbench_stats::{Comparison, Test};

pub(crate) use self::questions::Questions;

use crate::figures::Better;
use crate::summary::{Outcome, RatioSummary, Verdict};
use crate::text::interval_text;

impl Verdict {
    /// The generator was the limit here or there.
    pub(crate) fn generator() -> Self {
        Self::plain(Outcome::Generator, "the generator was the limit", GENERATOR.to_owned())
    }

    /// One without a difference that could have been seen.
    pub(crate) fn plain(outcome: Outcome, word: &'static str, text: String) -> Self {
        Self { outcome, word, text, could_have_seen: None }
    }

    /// No difference was seen.
    pub(crate) fn not_decided(could_have_seen: Option<f64>) -> Self {
        Self {
            could_have_seen,
            ..Self::plain(Outcome::NotDecided, NO_DIFFERENCE, not_decided(could_have_seen))
        }
    }

    /// A difference that is too small to be of interest.
    pub(crate) fn below_minimum() -> Self {
        Self::plain(Outcome::MinimumEffect, BELOW_MINIMUM, BELOW_MINIMUM.to_owned())
    }

    /// A difference that the same thing measured twice showed, too.
    pub(crate) fn below_floor(text: String) -> Self {
        Self::plain(Outcome::NoiseFloor, WITHIN_FLOOR, text)
    }

    /// The verdict of a comparison, of a figure of which this is better.
    pub(crate) fn of(better: Better, comparison: &Comparison) -> Self {
        use hopbench_stats::Verdict::{
            BelowFloor, BelowMinimum, Higher, Lower, NoDifference, TooFewRounds,
        };
        match comparison.verdict {
            Higher | Lower => {
                let grew = comparison.verdict == Higher;
                let (outcome, word) = called(better, grew);
                let ends = comparison.interval.map(|interval| (interval.low, interval.high));
                Self::plain(outcome, word, by(word, grew, comparison.ratio, ends))
            }
            NoDifference { could_have_seen } => Self::not_decided(could_have_seen),
            BelowFloor { floor } => Self::below_floor(within_floor(floor)),
            BelowMinimum => Self::below_minimum(),
            TooFewRounds { needed } => Self::plain(
                Outcome::TooFewRounds,
                "too few rounds",
                format!("too few rounds ({needed} needed)"),
            ),
        }
    }
}

impl RatioSummary {
    /// Takes the outcome of the comparison, of a figure of which this is better.
    pub(crate) fn judged(&mut self, better: Better, comparison: &Comparison) {
        self.p = comparison.p;
        self.q = comparison.q;
        self.test = comparison.p.map(|_| match comparison.test {
            Test::Permutation => "permutation",
            Test::Student => "student",
        });
        self.verdict = Some(Verdict::of(better, comparison));
    }

    /// Whether it was judged.
    pub(crate) fn is_judged(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.outcome.is_judged())
    }
}

/// The text if the generator was the limit here or there.
const GENERATOR: &str = "no verdict: the load generator was the limit";

/// The text for a difference that is too small to be of interest.
const BELOW_MINIMUM: &str = "below the minimum effect";

/// The words of called differences, worst first.
pub(crate) const CALLED: &[&str] = &["slower", "dearer", "higher", "lower", "cheaper", "faster"];
/// The word where no difference was seen.
pub(crate) const NO_DIFFERENCE: &str = "no difference";
/// The word of a difference that the same thing measured twice showed, too.
const WITHIN_FLOOR: &str = "within the noise floor";

/// The outcome and the word of a difference.
pub(crate) fn called(better: Better, grew: bool) -> (Outcome, &'static str) {
    match (better, grew) {
        (Better::Higher, true) | (Better::Lower, false) => (Outcome::Better, "faster"),
        (Better::Higher, false) | (Better::Lower, true) => (Outcome::Worse, "slower"),
        (Better::Cheaper, true) => (Outcome::Worse, "dearer"),
        (Better::Cheaper, false) => (Outcome::Better, "cheaper"),
        (Better::Neither, true) => (Outcome::More, "higher"),
        (Better::Neither, false) => (Outcome::Less, "lower"),
    }
}

/// A difference with its size, and the ends of what it may be: `slower by 18 % [15, 21]`. `ends`
/// are ratios, like `ratio`.
pub(crate) fn by(word: &str, grew: bool, ratio: f64, ends: Option<(f64, f64)>) -> String {
    // What a difference is, is told however large; of less than there was nothing can be far beyond
    // it.
    let share = |ratio: f64| full_percentage((ratio - 1.0).abs());
    // The smaller difference comes first.
    let told = |(low, high): (f64, f64)| match (grew, ratio * interval_text::FAR) {
        (true, most) if high > most => [share(low), format!("> {}", share(most))],
        (true, _) => [share(low), share(high)],
        (false, _) => [share(high), share(low)],
    };
    let ends = ends.map_or(String::new(), |ends| format!(" [{}]", told(ends).join(", ")));
    format!("{word} by {} %{ends}", share(ratio))
}

/// The text if no difference was seen.
pub(crate) fn not_decided(could_have_seen: Option<f64>) -> String {
    match could_have_seen {
        Some(share) => format!("no difference seen (could have seen {} %)", percentage(share)),
        None => "no difference seen".to_owned(),
    }
}

/// The text for a difference that the same thing measured twice showed, too.
pub(crate) fn within_floor(floor: f64) -> String {
    match floor {
        // The same thing was found to be nothing once, and something else the other time.
        floor if !floor.is_finite() => "within the noise floor".to_owned(),
        floor => format!("within the noise floor ({} %)", percentage(floor)),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_stats::{Interval, Verdict as Judged};

    use super::*;

    fn comparison(ratio: f64, low: f64, high: f64, verdict: Judged) -> Comparison {
        let interval = Some(Interval { low, high });
        Comparison {
            ratio,
            interval,
            rounds: 6,
            p: Some(0.001),
            q: Some(0.01),
            test: Test::Student,
            verdict,
        }
    }

    #[test]
    fn the_words_follow_the_direction() {
        let text = |better, ratio: f64, low, high| {
            let found = if ratio > 1.0 { Judged::Higher } else { Judged::Lower };
            let verdict = Verdict::of(better, &comparison(ratio, low, high, found));
            (verdict.outcome, verdict.text)
        };
        assert_eq!(
            text(Better::Higher, 0.82, 0.79, 0.85),
            (Outcome::Worse, "slower by 18 % [15, 21]".to_owned()),
            "the smaller loss comes first"
        );
        assert_eq!(
            text(Better::Higher, 1.05, 1.02, 1.12),
            (Outcome::Better, "faster by 5.0 % [2.0, 12]".to_owned())
        );
        assert_eq!(
            text(Better::Lower, 1.5, 1.4, 1.6),
            (Outcome::Worse, "slower by 50 % [40, 60]".to_owned())
        );
        assert_eq!(
            text(Better::Lower, 0.5, 0.4, 0.6),
            (Outcome::Better, "faster by 50 % [40, 60]".to_owned())
        );
        assert_eq!(
            text(Better::Cheaper, 2.0, 1.9, 2.1),
            (Outcome::Worse, "dearer by 100 % [90, 110]".to_owned())
        );
        // What is far beyond the median has no number.
        assert_eq!(
            text(Better::Lower, 2.0, 1.5, 4e7),
            (Outcome::Worse, "slower by 100 % [50, > 1900]".to_owned())
        );
        assert_eq!(
            text(Better::Neither, 2.0, 1.9, 2.1),
            (Outcome::More, "higher by 100 % [90, 110]".to_owned())
        );
    }

    #[test]
    fn what_is_no_difference_has_words_of_its_own() {
        for (found, outcome, text) in [
            (
                Judged::NoDifference { could_have_seen: Some(0.03) },
                Outcome::NotDecided,
                "no difference seen (could have seen 3.0 %)",
            ),
            (
                Judged::NoDifference { could_have_seen: None },
                Outcome::NotDecided,
                "no difference seen",
            ),
            (
                Judged::NoDifference { could_have_seen: Some(10_649.91) },
                Outcome::NotDecided,
                "no difference seen (could have seen > 999 %)",
            ),
            (
                Judged::BelowFloor { floor: 104.33 },
                Outcome::NoiseFloor,
                "within the noise floor (> 999 %)",
            ),
            (
                Judged::BelowFloor { floor: 0.02 },
                Outcome::NoiseFloor,
                "within the noise floor (2.0 %)",
            ),
            (Judged::BelowMinimum, Outcome::MinimumEffect, "below the minimum effect"),
            (
                Judged::TooFewRounds { needed: 3 },
                Outcome::TooFewRounds,
                "too few rounds (3 needed)",
            ),
        ] {
            let verdict = Verdict::of(Better::Higher, &comparison(0.9, 0.8, 1.0, found));
            assert_eq!((verdict.outcome, verdict.text.as_str()), (outcome, text));
            assert!(!verdict.outcome.is_called());
        }
    }
}
