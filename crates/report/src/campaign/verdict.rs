//! What a comparison with the baseline says in words.

use hopbench_stats::Ratio;
use serde::Serialize;

use super::kind::Better;
use super::summary::RatioSummary;

/// What is said when the interval of the ratio holds 1.
pub(crate) const SAME: &str = "no difference that this run could see";

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// The interval holds 1.
    Same,
    /// The generator was the limit: the figure is not the path's, so nothing is said.
    Generator,
}

/// A comparison with the baseline, in a word and a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// In words: `slower by 18 % [15, 21]`.
    pub text: String,
}

/// Whether a comparison says anything that can be wrong by chance.
pub(crate) fn decided(ratio: &RatioSummary) -> bool {
    ratio.verdict.as_ref().is_some_and(|verdict| verdict.outcome != Outcome::Generator)
}

/// The verdict on a ratio; `None` without an interval: one round shows no verdict. `resolution` is the share by which a
/// ratio can differ from 1 only because its figures are rounded.
pub(crate) fn verdict(better: Better, ratio: &Ratio, resolution: f64, generator_limited: bool) -> Option<Verdict> {
    let interval = ratio.interval?;
    let (up, down, more_is_good) = match better {
        Better::Higher => ("faster", "slower", true),
        Better::Lower => ("slower", "faster", false),
        Better::Cheaper => ("dearer", "cheaper", false),
        Better::Neither => return None,
    };
    if generator_limited {
        let text = "no verdict: the load generator was the limit".to_owned();
        return Some(Verdict { outcome: Outcome::Generator, text });
    }
    if interval.low * (1.0 - resolution) <= 1.0 && interval.high * (1.0 + resolution) >= 1.0 {
        return Some(Verdict { outcome: Outcome::Same, text: SAME.to_owned() });
    }
    let grew = ratio.median > 1.0;
    let ends = if grew { [interval.low, interval.high] } else { [interval.high, interval.low] };
    let share = |ratio: f64| percent((ratio - 1.0).abs());
    let text = format!(
        "{} by {} % [{}, {}]",
        if grew { up } else { down },
        share(ratio.median),
        share(ends[0]),
        share(ends[1])
    );
    Some(Verdict { outcome: if grew == more_is_good { Outcome::Better } else { Outcome::Worse }, text })
}

/// A share in percent with as many digits as it deserves.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p < 0.995 => format!("{p:.2}"),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_stats::Interval;

    use super::*;

    fn ratio(median: f64, low: f64, high: f64) -> Ratio {
        Ratio { median, interval: Some(Interval { low, high }), rounds: 6 }
    }

    #[test]
    fn the_words_follow_the_direction() {
        let text = |better, median, low, high| {
            let verdict = verdict(better, &ratio(median, low, high), 0.0, false).unwrap();
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
        assert_eq!(text(Better::Higher, 0.9, 0.8, 1.0), (Outcome::Same, SAME.to_owned()));
    }

    #[test]
    fn a_difference_within_the_rounding_is_none() {
        let outcome = |low, high| verdict(Better::Lower, &ratio(low, low, high), 0.002, false).unwrap().outcome;
        assert_eq!(outcome(0.9985, 0.999), Outcome::Same);
        assert_eq!(outcome(1.001, 1.0015), Outcome::Same);
        assert_eq!(outcome(0.99, 0.995), Outcome::Better);
    }

    #[test]
    fn one_round_and_a_slow_generator_have_no_verdict() {
        assert_eq!(verdict(Better::Higher, &Ratio { interval: None, ..ratio(0.1, 0.0, 0.0) }, 0.0, false), None);
        assert_eq!(verdict(Better::Neither, &ratio(0.1, 0.1, 0.1), 0.0, false), None);
        let limited = verdict(Better::Higher, &ratio(0.1, 0.1, 0.1), 0.0, true).unwrap();
        assert_eq!(limited.outcome, Outcome::Generator);
    }
}
