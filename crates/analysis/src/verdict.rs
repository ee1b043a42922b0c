//! Verdicts of comparisons with the baseline, and their words.

use hopbench_model::number::percentage;
use hopbench_stats::{Comparison, Test};

use crate::figures::Better;
use crate::summary::{Outcome, RatioSummary, Verdict};
use crate::text::interval_text;

impl Verdict {
    /// The generator was the limit here or there.
    pub(crate) fn generator() -> Self {
        Self::plain(Outcome::Generator, GENERATOR.to_owned())
    }

    fn plain(outcome: Outcome, text: String) -> Self {
        Self { outcome, text, could_have_seen: None }
    }

    /// What a comparison says of a figure of which this is better.
    fn of(better: Better, comparison: &Comparison) -> Option<Self> {
        use hopbench_stats::Verdict::{BelowFloor, BelowMinimum, Higher, Lower, NoDifference, TooFewRounds};
        Some(match comparison.verdict {
            Higher => Self::difference(better, comparison, true)?,
            Lower => Self::difference(better, comparison, false)?,
            NoDifference { could_have_seen } => {
                Self { could_have_seen, ..Self::plain(Outcome::Same, same(could_have_seen)) }
            }
            BelowFloor { floor } => Self::plain(Outcome::NoiseFloor, within_floor(floor)),
            BelowMinimum => Self::plain(Outcome::MinimumEffect, BELOW_MINIMUM.to_owned()),
            TooFewRounds { needed } => Self::plain(Outcome::TooFewRounds, too_few_rounds(needed)),
        })
    }

    fn difference(better: Better, comparison: &Comparison, grew: bool) -> Option<Self> {
        let interval = comparison.interval?;
        let (word, is_good) = called(better, grew);
        let outcome = if is_good? { Outcome::Better } else { Outcome::Worse };
        Some(Self::plain(outcome, by(word, grew, comparison.ratio, Some((interval.low, interval.high)))))
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
        self.verdict = Verdict::of(better, comparison);
    }

    /// Whether it was judged.
    pub(crate) fn is_judged(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.outcome.is_judged())
    }
}

/// What is said where the generator was the limit here or there.
pub(crate) const GENERATOR: &str = "no verdict: the load generator was the limit";

/// What is said of a difference that is too small to be of interest.
pub(crate) const BELOW_MINIMUM: &str = "below the minimum effect";

/// What is said where rounds are too few for anything.
pub(crate) fn too_few_rounds(needed: usize) -> String {
    format!("too few rounds ({needed} needed)")
}

/// What a difference is called, and whether it is a good one; `None`: it is neither.
pub(crate) fn called(better: Better, grew: bool) -> (&'static str, Option<bool>) {
    match (better, grew) {
        (Better::Higher, true) | (Better::Lower, false) => ("faster", Some(true)),
        (Better::Higher, false) | (Better::Lower, true) => ("slower", Some(false)),
        (Better::Cheaper, true) => ("dearer", Some(false)),
        (Better::Cheaper, false) => ("cheaper", Some(true)),
        (Better::Neither, true) => ("higher", None),
        (Better::Neither, false) => ("lower", None),
    }
}

/// Shares from here on have digits before the point only.
const LARGE: f64 = 9.0;

/// A difference with its size, and the ends of what it may be: `slower by 18 % [15, 21]`. `ends` are ratios, like `ratio`.
pub(crate) fn by(word: &str, grew: bool, ratio: f64, ends: Option<(f64, f64)>) -> String {
    // What a difference is, is told however large; of less than there was nothing can be far beyond it.
    let share = |ratio: f64| match (ratio - 1.0).abs() {
        share if share.is_finite() && share >= LARGE => format!("{:.0}", share * 100.0),
        share => percentage(share),
    };
    // The smaller difference comes first.
    let told = |(low, high): (f64, f64)| match (grew, ratio * interval_text::FAR) {
        (true, most) if high > most => [share(low), format!("> {}", share(most))],
        (true, _) => [share(low), share(high)],
        (false, _) => [share(high), share(low)],
    };
    let ends = ends.map_or(String::new(), |ends| format!(" [{}]", told(ends).join(", ")));
    format!("{word} by {} %{ends}", share(ratio))
}

/// What is said where no difference was seen.
pub(crate) fn same(could_have_seen: Option<f64>) -> String {
    match could_have_seen {
        Some(share) => format!("no difference seen (could have seen {} %)", percentage(share)),
        None => "no difference seen".to_owned(),
    }
}

/// What is said of a difference that the same thing measured twice showed, too.
pub(crate) fn within_floor(floor: f64) -> String {
    match floor {
        // The same thing was found to be nothing once, and something else the other time.
        floor if !floor.is_finite() => "within the noise floor".to_owned(),
        floor => format!("within the noise floor ({} %)", percentage(floor)),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_stats::{Interval, Verdict as Found};

    use super::*;

    fn comparison(ratio: f64, low: f64, high: f64, verdict: Found) -> Comparison {
        let interval = Some(Interval { low, high });
        Comparison { ratio, interval, rounds: 6, p: Some(0.001), q: Some(0.01), test: Test::Student, verdict }
    }

    #[test]
    fn the_words_follow_the_direction() {
        let text = |better, ratio: f64, low, high| {
            let found = if ratio > 1.0 { Found::Higher } else { Found::Lower };
            let verdict = Verdict::of(better, &comparison(ratio, low, high, found)).unwrap();
            (verdict.outcome, verdict.text)
        };
        assert_eq!(
            text(Better::Higher, 0.82, 0.79, 0.85),
            (Outcome::Worse, "slower by 18 % [15, 21]".to_owned()),
            "the smaller loss comes first"
        );
        assert_eq!(text(Better::Higher, 1.05, 1.02, 1.12), (Outcome::Better, "faster by 5.0 % [2.0, 12]".to_owned()));
        assert_eq!(text(Better::Lower, 1.5, 1.4, 1.6), (Outcome::Worse, "slower by 50 % [40, 60]".to_owned()));
        assert_eq!(text(Better::Lower, 0.5, 0.4, 0.6), (Outcome::Better, "faster by 50 % [40, 60]".to_owned()));
        assert_eq!(text(Better::Cheaper, 2.0, 1.9, 2.1), (Outcome::Worse, "dearer by 100 % [90, 110]".to_owned()));
        // What is far beyond the median has no number.
        assert_eq!(text(Better::Lower, 2.0, 1.5, 4e7), (Outcome::Worse, "slower by 100 % [50, > 1900]".to_owned()));
        assert_eq!(Verdict::of(Better::Neither, &comparison(2.0, 1.9, 2.1, Found::Higher)), None);
    }

    #[test]
    fn what_is_no_difference_has_words_of_its_own() {
        for (found, outcome, text) in [
            (
                Found::NoDifference { could_have_seen: Some(0.03) },
                Outcome::Same,
                "no difference seen (could have seen 3.0 %)",
            ),
            (Found::NoDifference { could_have_seen: None }, Outcome::Same, "no difference seen"),
            (
                Found::NoDifference { could_have_seen: Some(10_649.91) },
                Outcome::Same,
                "no difference seen (could have seen > 999 %)",
            ),
            (Found::BelowFloor { floor: 104.33 }, Outcome::NoiseFloor, "within the noise floor (> 999 %)"),
            (Found::BelowFloor { floor: 0.02 }, Outcome::NoiseFloor, "within the noise floor (2.0 %)"),
            (Found::BelowMinimum, Outcome::MinimumEffect, "below the minimum effect"),
            (Found::TooFewRounds { needed: 3 }, Outcome::TooFewRounds, "too few rounds (3 needed)"),
        ] {
            let verdict = Verdict::of(Better::Higher, &comparison(0.9, 0.8, 1.0, found)).unwrap();
            assert_eq!((verdict.outcome, verdict.text.as_str()), (outcome, text));
            assert!(!verdict.outcome.is_difference());
        }
    }
}
