//! Verdicts of comparisons, their words, and the driver that judges comparisons together.

mod questions;

use hopbench_model::ROUNDS;
use hopbench_model::number::{full_percentage, long_time, percentage};
use hopbench_stats::{Comparison, Test};

pub(crate) use self::questions::Questions;

use crate::figures::Better;
use crate::summary::{Outcome, RatioSummary, Spread, Verdict};
use crate::text::interval_text;
use crate::text::load_text::{load, saturated};

impl Verdict {
    /// The generator was the limit here or there.
    pub(crate) fn generator() -> Self {
        Self::plain(Outcome::Generator, "the generator was the limit", GENERATOR.to_owned())
    }

    /// The path is saturated at these rates, a second, here or in the baseline; `None` where it is
    /// in neither.
    pub(crate) fn saturated(here: Option<f64>, base: Option<f64>) -> Option<Self> {
        let text = match (here, base) {
            (None, None) => return None,
            (Some(here), None) => saturated(here),
            (None, Some(base)) => format!("the baseline is {}", saturated(base)),
            (Some(here), Some(base)) => {
                format!("{}, the baseline at {}", saturated(here), load("rate", base))
            }
        };
        Some(Self::plain(Outcome::Saturated, SATURATED, text))
    }

    /// One in a word and a sentence.
    pub(crate) fn plain(outcome: Outcome, word: &'static str, text: String) -> Self {
        let (within, more_rounds, more_s, together) = (None, None, None, None);
        Self { outcome, word, text, within, more_rounds, more_s, together, note: String::new() }
    }

    /// Both are the same within this share.
    pub(crate) fn same(within: f64) -> Self {
        Self { within: Some(within), ..Self::plain(Outcome::Same, SAME, same_within(within)) }
    }

    /// Nothing is decided of a ratio between these ends, until about so many rounds more, each of
    /// which takes so many seconds.
    pub(crate) fn not_decided(
        ends: Option<(f64, f64)>,
        more_rounds: Option<usize>,
        round_s: Option<f64>,
    ) -> Self {
        // What no plan can ask for is no advice.
        let more_rounds =
            more_rounds.map(|rounds| rounds as u64).filter(|n| *n <= (*ROUNDS.end()).into());
        let more_s = more_rounds.zip(round_s).map(|(rounds, each)| rounds as f64 * each);
        let ends = ends.map_or(String::new(), |(low, high)| {
            format!(": {} to {}", interval_text::change(low), interval_text::change(high))
        });
        let text = format!("{NOT_DECIDED}{ends}{}", more(more_rounds, more_s));
        Self { more_rounds, more_s, ..Self::plain(Outcome::NotDecided, NOT_DECIDED, text) }
    }

    /// Most rounds, or `what` else was compared, are the same, of a ratio between these ends, and
    /// all together are not.
    pub(crate) fn uneven(ends: Option<(f64, f64)>, together: f64, what: &str) -> Self {
        let open = Self::not_decided(ends, None, None);
        let all = interval_text::change(together);
        let text = format!("{}, but {all} over all {what}", open.text);
        Self { text, ..open }
    }

    /// A difference that is too small to be of interest.
    pub(crate) fn below_minimum() -> Self {
        Self::plain(Outcome::MinimumEffect, BELOW_MINIMUM, BELOW_MINIMUM.to_owned())
    }

    /// A difference that the same thing measured twice showed, too.
    pub(crate) fn below_floor(text: String) -> Self {
        Self::plain(Outcome::NoiseFloor, WITHIN_FLOOR, text)
    }

    /// The verdict of a comparison, of a figure of which this is better. `round_s`: time that a
    /// round takes, s, where that is known.
    pub(crate) fn of(better: Better, comparison: &Comparison, round_s: Option<f64>) -> Self {
        use hopbench_stats::Judgement::{
            BelowFloor, BelowMinimum, Higher, Lower, NotDecided, Same, TooFewRounds, Uneven,
        };
        let ends = comparison.interval.map(|interval| (interval.low, interval.high));
        let verdict = match comparison.judgement {
            Higher | Lower => {
                let grew = comparison.judgement == Higher;
                let (outcome, word) = called(better, grew);
                Self::plain(outcome, word, by(word, grew, comparison.ratio, ends))
            }
            Same { within } => Self::same(within),
            NotDecided { more_rounds } => Self::not_decided(ends, more_rounds, round_s),
            Uneven => Self::uneven(ends, comparison.together, "rounds"),
            BelowFloor { floor } => Self::below_floor(within_floor(floor)),
            BelowMinimum => Self::below_minimum(),
            TooFewRounds { needed } => Self::plain(
                Outcome::TooFewRounds,
                "too few rounds",
                format!("too few rounds ({needed} needed)"),
            ),
        };
        let note = if comparison.is_opposed { over_all_rounds(comparison) } else { String::new() };
        Self { together: Some(comparison.together), note, ..verdict }
    }
}

impl RatioSummary {
    /// Takes the outcome of the comparison, of a figure of which this is better. The interval is
    /// the one that the verdict is founded on. `round_s` as in [`Verdict::of`].
    pub(crate) fn judged(&mut self, better: Better, comparison: &Comparison, round_s: Option<f64>) {
        self.spread = Some(Spread::with(comparison.ratio, comparison.interval, comparison.rounds));
        self.p = comparison.p;
        self.q = comparison.q;
        self.test = comparison.p.map(|_| match comparison.test {
            Test::Ranks => "ranks",
            Test::Student => "student",
        });
        self.verdict = Some(Verdict::of(better, comparison, round_s));
    }

    /// One without a ratio, whose verdict says why.
    pub(crate) fn without(verdict: Verdict) -> Self {
        let (spread, noise_floor) = (None, None);
        Self { spread, p: None, q: None, test: None, noise_floor, verdict: Some(verdict) }
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
/// The word where both are the same.
pub(crate) const SAME: &str = "same";
/// The word where nothing is decided.
pub(crate) const NOT_DECIDED: &str = "not decided";
/// The word where a path did not carry the rate that was asked for.
pub(crate) const SATURATED: &str = "saturated";
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

/// The note on a difference that all rounds together oppose.
fn over_all_rounds(comparison: &Comparison) -> String {
    format!("over all rounds {}", interval_text::change(comparison.together))
}

/// The text if both are the same within a share.
pub(crate) fn same_within(within: f64) -> String {
    format!("same within {} %", percentage(within))
}

/// What follows where nothing is decided: the time that would about decide it, or the rounds.
pub(crate) fn more(rounds: Option<u64>, seconds: Option<f64>) -> String {
    match (seconds, rounds) {
        (Some(seconds), _) => format!("; about {} more", long_time(seconds.ceil() as u64)),
        (None, Some(1)) => "; about 1 more round".to_owned(),
        (None, Some(rounds)) => format!("; about {rounds} more rounds"),
        (None, None) => String::new(),
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
    use hopbench_stats::{Interval, Judgement};

    use super::*;

    /// All rounds together are at 0.88.
    fn comparison(ratio: f64, low: f64, high: f64, judgement: Judgement) -> Comparison {
        let interval = Some(Interval { low, high });
        Comparison {
            ratio,
            interval,
            rounds: 6,
            p: Some(0.001),
            q: Some(0.01),
            test: Test::Student,
            together: 0.88,
            is_opposed: false,
            judgement,
        }
    }

    #[test]
    fn the_words_follow_the_direction() {
        for (better, [ratio, low, high], outcome, text) in [
            // The smaller loss comes first.
            (Better::Higher, [0.82, 0.79, 0.85], Outcome::Worse, "slower by 18 % [15, 21]"),
            (Better::Higher, [1.05, 1.02, 1.12], Outcome::Better, "faster by 5.0 % [2.0, 12]"),
            (Better::Lower, [1.5, 1.4, 1.6], Outcome::Worse, "slower by 50 % [40, 60]"),
            (Better::Lower, [0.5, 0.4, 0.6], Outcome::Better, "faster by 50 % [40, 60]"),
            (Better::Cheaper, [2.0, 1.9, 2.1], Outcome::Worse, "dearer by 100 % [90, 110]"),
            // What is far beyond the median has no number.
            (Better::Lower, [2.0, 1.5, 4e7], Outcome::Worse, "slower by 100 % [50, > 1900]"),
            (Better::Neither, [2.0, 1.9, 2.1], Outcome::More, "higher by 100 % [90, 110]"),
        ] {
            let found = if ratio > 1.0 { Judgement::Higher } else { Judgement::Lower };
            let verdict = Verdict::of(better, &comparison(ratio, low, high, found), None);
            assert_eq!((verdict.outcome, verdict.text.as_str()), (outcome, text));
        }
    }

    #[test]
    fn what_all_rounds_together_oppose_has_a_note_and_the_same_verdict() {
        let plain = comparison(1.05, 1.02, 1.12, Judgement::Higher);
        let opposed = Comparison { is_opposed: true, ..plain };
        let [one, other] = [plain, opposed].map(|found| Verdict::of(Better::Higher, &found, None));
        assert_eq!((one.note.as_str(), other.note.as_str()), ("", "over all rounds -12 %"));
        assert_eq!(Verdict { note: String::new(), ..other }, one);
    }

    #[test]
    fn what_is_no_difference_has_words_of_its_own() {
        let open = |more_rounds| Judgement::NotDecided { more_rounds };
        let floor = |floor| Judgement::BelowFloor { floor };
        let few = Judgement::TooFewRounds { needed: 3 };
        let not_decided = "not decided: -20 % to +3.0 %";
        for (found, outcome, text) in [
            (Judgement::Same { within: 0.034 }, Outcome::Same, "same within 3.4 %"),
            (open(None), Outcome::NotDecided, not_decided),
            (open(Some(12)), Outcome::NotDecided, &format!("{not_decided}; about 12 more rounds")),
            (
                Judgement::Uneven,
                Outcome::NotDecided,
                &format!("{not_decided}, but -12 % over all rounds"),
            ),
            (floor(104.33), Outcome::NoiseFloor, "within the noise floor (> 999 %)"),
            (floor(0.02), Outcome::NoiseFloor, "within the noise floor (2.0 %)"),
            (Judgement::BelowMinimum, Outcome::MinimumEffect, "below the minimum effect"),
            (few, Outcome::TooFewRounds, "too few rounds (3 needed)"),
        ] {
            let verdict = Verdict::of(Better::Higher, &comparison(0.9, 0.8, 1.03, found), None);
            assert_eq!((verdict.outcome, verdict.text.as_str()), (outcome, text));
            assert!(!verdict.outcome.is_called());
        }
        let found = comparison(3.0, 0.8, 40.0, open(Some(12)));
        let verdict = Verdict::of(Better::Higher, &found, Some(3.3));
        assert_eq!(verdict.text, "not decided: -20 % to > +999 %; about 40 s more");
        assert_eq!((verdict.more_rounds, verdict.more_s.map(f64::round)), (Some(12), Some(40.0)));
    }
}
