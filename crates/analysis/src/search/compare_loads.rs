//! The comparison of two loads.
//!
//! - If a rate was searched several times on both sides, a test compares the results, as it
//!   compares the rounds of cells.
//! - Other loads differ if what is known of the two does not overlap: levels, observations, and
//!   loads beyond an end of the range.

use hopbench_stats::{
    Comparison, Evidence, FEWEST_TO_JUDGE, Judgement, Question, paired, unpaired,
};

use super::known_load::KnownLoad;
use crate::figures::Better;
use crate::summary::{Outcome, Verdict};
use crate::verdict::{by, called};

/// The comparison of a load with another: the verdict, and the ratio with the least and the most
/// that it can be.
pub(crate) struct ComparedLoad {
    /// More and less are what a load can be; whether that is good is for others to say.
    pub(crate) verdict: Verdict,
    pub(crate) ratio: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// The p-value and the corrected one; absent where nothing was tested.
    pub(crate) p: Option<f64>,
    pub(crate) q: Option<f64>,
}

/// The way in which two sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    /// In one run: the searches went on side by side, and the first belongs to the first.
    Paired,
    /// In two.
    Apart,
}

/// The ratio of two loads, before a doubt about one of them counts.
struct Relation {
    judgement: Judgement,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    p: Option<f64>,
    q: Option<f64>,
    /// The ratio of all searches together; 1 where nothing was tested.
    together: f64,
}

impl Relation {
    fn is_difference(&self) -> bool {
        matches!(self.judgement, Judgement::Higher | Judgement::Lower)
    }

    fn verdict(&self) -> Verdict {
        let verdict = match self.judgement {
            Judgement::Higher | Judgement::Lower => {
                let grew = self.judgement == Judgement::Higher;
                let (outcome, word) = called(Better::Neither, grew);
                let ends = self.low.zip(self.high);
                let text =
                    self.ratio.map_or_else(|| word.to_owned(), |ratio| by(word, grew, ratio, ends));
                Verdict::plain(outcome, word, text)
            }
            Judgement::Same { within } => Verdict::same(within),
            // More searches are not more rounds.
            Judgement::NotDecided { .. } => {
                Verdict::not_decided(self.low.zip(self.high), None, None)
            }
            Judgement::Uneven => {
                Verdict::uneven(self.low.zip(self.high), self.together, "searches")
            }
            // `BelowFloor` is only of figures without a ratio.
            Judgement::BelowFloor { .. } | Judgement::BelowMinimum => Verdict::below_minimum(),
            Judgement::TooFewRounds { needed } => {
                let text = format!("too few searches ({needed} needed)");
                Verdict::plain(Outcome::TooFewRounds, "too few searches", text)
            }
        };
        Verdict { together: Some(self.together), ..verdict }
    }
}

/// The question about the results of two sides; `None` if they have none to compare.
pub(crate) fn question(
    here: &KnownLoad,
    base: &KnownLoad,
    how: Together,
    minimum_effect: f64,
) -> Option<Question> {
    let (ours, theirs) = results(here, base)?;
    let evidence: Evidence = match how {
        Together::Paired => {
            let pairs: Vec<(f64, f64)> = ours.iter().copied().zip(theirs.iter().copied()).collect();
            paired(&pairs).ok()?
        }
        Together::Apart => unpaired(ours, theirs).ok()?,
    };
    Some(Question {
        evidence,
        minimum_effect,
        noise_floor: None,
        resolution: here.resolution_with(base),
    })
}

/// The results of both sides, where a rate was found on both.
fn results<'a>(here: &'a KnownLoad, base: &'a KnownLoad) -> Option<(&'a [f64], &'a [f64])> {
    (here.found.is_some() && base.found.is_some()).then_some(())?;
    Some((here.repeats.as_deref()?, base.repeats.as_deref()?))
}

/// The comparison of a load with the baseline's, with the answer to [`question`], if there is one.
pub(crate) fn compare_loads(
    here: &KnownLoad,
    base: &KnownLoad,
    minimum_effect: f64,
    answer: Option<&Comparison>,
) -> ComparedLoad {
    let is_searched = results(here, base).is_some();
    let relation = if is_searched {
        tested(here, base, answer)
    } else {
        apart_or_not(here, base, minimum_effect)
    };
    let verdict = if here.generator_limited || base.generator_limited {
        Verdict::generator()
    } else if relation.is_difference() && (here.undecided || base.undecided) {
        let text = "no verdict: a step of the search was not decided".to_owned();
        Verdict::plain(Outcome::TooFewRounds, "a step of a search was not decided", text)
    } else {
        relation.verdict()
    };
    let Relation { ratio, low, high, p, q, .. } = relation;
    ComparedLoad { verdict, ratio, low, high, p, q }
}

fn tested(here: &KnownLoad, base: &KnownLoad, answer: Option<&Comparison>) -> Relation {
    match answer {
        Some(answer) if !matches!(answer.judgement, Judgement::TooFewRounds { .. }) => {
            let (low, high) = answer.interval.map(|interval| (interval.low, interval.high)).unzip();
            let Comparison { judgement, ratio, p, q, together, .. } = *answer;
            Relation { judgement, ratio: Some(ratio), low, high, p, q, together }
        }
        _ => {
            let ratio = here.ratio(base);
            let judgement = Judgement::TooFewRounds { needed: FEWEST_TO_JUDGE };
            Relation { judgement, ratio, low: None, high: None, p: None, q: None, together: 1.0 }
        }
    }
}

fn apart_or_not(here: &KnownLoad, base: &KnownLoad, minimum_effect: f64) -> Relation {
    let ratio = here.ratio(base);
    let end = |here: f64, base: f64| {
        Some(here / base).filter(|ratio| ratio.is_finite() && here.is_finite())
    };
    let low = end(here.bracket.low, base.bracket.high).filter(|_| base.bracket.high.is_finite());
    let high = end(here.bracket.high, base.bracket.low).filter(|_| base.bracket.low > 0.0);
    let judgement = if here.bracket.overlaps(base.bracket) {
        Judgement::NotDecided { more_rounds: None }
    } else if ratio.is_some_and(|ratio| (ratio - 1.0).abs() < minimum_effect) {
        Judgement::BelowMinimum
    } else if here.bracket.low > base.bracket.high {
        Judgement::Higher
    } else {
        Judgement::Lower
    };
    Relation { judgement, ratio, low, high, p: None, q: None, together: 1.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use hopbench_stats::judge;

    use super::*;
    use crate::summary::Bracket;

    /// A level, or what was seen at one.
    pub(crate) fn side(found: f64, low: f64, high: f64) -> KnownLoad {
        KnownLoad {
            found: Some(found),
            bracket: Bracket { low, high },
            repeats: None,
            resolution: 0.0,
            sessions: BTreeSet::from([1]),
            generator_limited: false,
            undecided: false,
        }
    }

    fn rates(results: &[f64]) -> KnownLoad {
        let found = hopbench_stats::summary::median(results).unwrap();
        KnownLoad {
            repeats: Some(results.to_vec()),
            resolution: 0.02,
            ..side(found, found, found * 1.02)
        }
    }

    fn said(here: &[f64], base: &[f64], how: Together, minimum_effect: f64) -> ComparedLoad {
        let (here, base) = (rates(here), rates(base));
        let answers =
            question(&here, &base, how, minimum_effect).map(|question| judge(&[question]));
        compare_loads(&here, &base, minimum_effect, answers.as_ref().map(|answers| &answers[0]))
    }

    #[test]
    fn one_search_of_each_says_nothing_however_narrow() {
        for how in [Together::Paired, Together::Apart] {
            let found = said(&[890.0], &[1000.0], how, 0.0);
            assert_eq!(
                (found.verdict.outcome, found.low, found.p),
                (Outcome::TooFewRounds, None, None)
            );
            assert!((found.ratio.unwrap() - 0.89).abs() < 1e-9);
            assert_eq!(
                said(&[890.0, 891.0], &[1000.0, 1001.0], how, 0.0).verdict.outcome,
                Outcome::TooFewRounds
            );
        }
        assert_eq!(
            said(&[890.0], &[1000.0], Together::Apart, 0.0).verdict.text,
            "too few searches (3 needed)"
        );
    }

    #[test]
    fn several_are_compared_as_rounds_are() {
        for how in [Together::Paired, Together::Apart] {
            let found = said(&[795.0, 800.0, 806.0], &[995.0, 1000.0, 1003.0], how, 0.0);
            assert_eq!(found.verdict.outcome, Outcome::Less, "{how:?}");
            assert!(
                found.low.unwrap() > 0.7 && found.high.unwrap() < 0.85 && found.q.unwrap() < 0.05
            );
            assert!(found.verdict.text.starts_with("lower by 20 % ["), "{}", found.verdict.text);
            // As far apart in the middle, and what one search found another did not.
            let noisy = said(&[950.0, 800.0, 650.0], &[900.0, 1000.0, 1300.0], how, 0.0);
            assert_eq!(noisy.verdict.outcome, Outcome::NotDecided, "{how:?}");
            assert!(noisy.high.unwrap() > 1.2 && noisy.low.unwrap() < 0.8);
            assert_eq!(
                said(&[795.0, 800.0, 806.0], &[995.0, 1000.0, 1003.0], how, 0.3).verdict.outcome,
                Outcome::Same
            );
            // Steps of a search, and nothing else, lie between these.
            assert_eq!(
                said(&[1000.0; 3], &[985.0; 3], how, 0.0).verdict.outcome,
                Outcome::Same,
                "{how:?}"
            );
        }
    }
}
