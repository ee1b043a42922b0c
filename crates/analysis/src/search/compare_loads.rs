//! The comparison of two loads.
//!
//! - Where a rate was searched several times on both sides, the results are compared as the rounds of cells are.
//! - Levels, what was seen there, and what lies beyond an end of the range differ where what is known of the two does not
//!   overlap.

use hopbench_stats::{Comparison, Evidence, Question, Verdict, paired, unpaired};

use super::known_load::KnownLoad;
use crate::figures::Better;
use crate::verdict::{BELOW_MINIMUM, GENERATOR, by, called, same};

/// Results that a verdict is founded on, at least.
const FEWEST: usize = 3;
/// For what permutation tests draw, where there are too many results to count all out.
const SEED: u64 = 1;

/// What is said of a load beside another, and the ratio of the two with the least and the most that it can be.
pub(crate) struct Beside {
    pub(crate) said: Said,
    pub(crate) ratio: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
    /// The p-value and the corrected one; absent where nothing was tested.
    pub(crate) p: Option<f64>,
    pub(crate) q: Option<f64>,
    /// Where no difference was seen: the smallest that would have been called, as a share; absent where nothing was tested.
    pub(crate) could_have_seen: Option<f64>,
}

/// What is said of a load beside another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Said {
    Higher,
    Lower,
    /// No difference was seen, or what is known of the two overlaps.
    Overlap,
    /// They differ by less than what is of interest.
    Minimum,
    /// The generator was the limit of one of them.
    Generator,
    /// One of them was searched too few times.
    TooFew,
    /// They differ, and a step on which one of them rests was not decided.
    Undecided,
}

/// What is said of a difference between loads of which one is doubtful.
const UNDECIDED: &str = "no verdict: a step of the search was not decided";

/// What is said of a difference between rates that were not searched often enough.
fn too_few() -> String {
    format!("too few searches ({FEWEST} needed)")
}

impl Beside {
    /// In words: `higher by 25 % [20, 31]`.
    pub(crate) fn text(&self) -> String {
        let grew = self.said == Said::Higher;
        match self.said {
            Said::Generator => GENERATOR.to_owned(),
            Said::TooFew => too_few(),
            Said::Undecided => UNDECIDED.to_owned(),
            Said::Overlap => same(self.could_have_seen),
            Said::Minimum => BELOW_MINIMUM.to_owned(),
            Said::Higher | Said::Lower => {
                let word = called(Better::Neither, grew).0;
                self.ratio.map_or_else(|| word.to_owned(), |ratio| by(word, grew, ratio, self.low.zip(self.high)))
            }
        }
    }
}

/// How two sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    /// In one run: the searches went on side by side, and the first belongs to the first.
    Paired,
    /// In two.
    Apart,
}

/// What is asked of the results of two sides; `None` where they have none to compare.
pub(crate) fn question(here: &KnownLoad, base: &KnownLoad, how: Together, minimum_effect: f64) -> Option<Question> {
    let (ours, theirs) = results(here, base)?;
    let evidence: Evidence = match how {
        Together::Paired => {
            let pairs: Vec<(f64, f64)> = ours.iter().copied().zip(theirs.iter().copied()).collect();
            paired(&pairs, SEED).ok()?
        }
        Together::Apart => unpaired(ours, theirs, SEED).ok()?,
    };
    Some(Question { evidence, minimum_effect, noise_floor: None, resolution: here.resolution_with(base) })
}

/// The results of both sides, where a rate was found on both.
fn results<'a>(here: &'a KnownLoad, base: &'a KnownLoad) -> Option<(&'a [f64], &'a [f64])> {
    (here.found.is_some() && base.found.is_some()).then_some(())?;
    Some((here.repeats.as_deref()?, base.repeats.as_deref()?))
}

/// What is said of a side beside the baseline's, with what the test of [`question`] said, if there is one.
pub(crate) fn beside(here: &KnownLoad, base: &KnownLoad, minimum_effect: f64, answer: Option<&Comparison>) -> Beside {
    let is_searched = results(here, base).is_some();
    let mut out = if is_searched { tested(here, base, answer) } else { apart_or_not(here, base, minimum_effect) };
    if here.generator_limited || base.generator_limited {
        out.said = Said::Generator;
    } else if matches!(out.said, Said::Higher | Said::Lower) && (here.undecided || base.undecided) {
        out.said = Said::Undecided;
    }
    out
}

fn tested(here: &KnownLoad, base: &KnownLoad, answer: Option<&Comparison>) -> Beside {
    let ratio = here.ratio(base);
    let nothing = Beside { said: Said::TooFew, ratio, low: None, high: None, p: None, q: None, could_have_seen: None };
    let Some(answer) = answer else { return nothing };
    let (said, could_have_seen) = match answer.verdict {
        Verdict::Higher => (Said::Higher, None),
        Verdict::Lower => (Said::Lower, None),
        Verdict::NoDifference { could_have_seen } => (Said::Overlap, could_have_seen),
        // There is no floor: the results of several searches show the noise themselves.
        Verdict::BelowFloor { .. } | Verdict::BelowMinimum => (Said::Minimum, None),
        Verdict::TooFewRounds { .. } => return nothing,
    };
    // What lies within a step of a search was not looked at.
    let step = 1.0 + here.resolution_with(base);
    let (low, high) = answer.interval.map(|interval| (interval.low / step, interval.high * step)).unzip();
    Beside { said, ratio: Some(answer.ratio), low, high, p: answer.p, q: answer.q, could_have_seen }
}

fn apart_or_not(here: &KnownLoad, base: &KnownLoad, minimum_effect: f64) -> Beside {
    let ratio = here.ratio(base);
    let end = |here: f64, base: f64| Some(here / base).filter(|ratio| ratio.is_finite() && here.is_finite());
    let low = end(here.bracket.low, base.bracket.high).filter(|_| base.bracket.high.is_finite());
    let high = end(here.bracket.high, base.bracket.low).filter(|_| base.bracket.low > 0.0);
    let said = if here.bracket.overlaps(base.bracket) {
        Said::Overlap
    } else if ratio.is_some_and(|ratio| (ratio - 1.0).abs() < minimum_effect) {
        Said::Minimum
    } else if here.bracket.low > base.bracket.high {
        Said::Higher
    } else {
        Said::Lower
    };
    Beside { said, ratio, low, high, p: None, q: None, could_have_seen: None }
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
        KnownLoad { repeats: Some(results.to_vec()), resolution: 0.02, ..side(found, found, found * 1.02) }
    }

    fn said(here: &[f64], base: &[f64], how: Together, minimum_effect: f64) -> Beside {
        let (here, base) = (rates(here), rates(base));
        let answers = question(&here, &base, how, minimum_effect).map(|question| judge(&[question]));
        beside(&here, &base, minimum_effect, answers.as_ref().map(|answers| &answers[0]))
    }

    #[test]
    fn one_search_of_each_says_nothing_however_narrow() {
        for how in [Together::Paired, Together::Apart] {
            let found = said(&[890.0], &[1000.0], how, 0.0);
            assert_eq!((found.said, found.low, found.p), (Said::TooFew, None, None));
            assert!((found.ratio.unwrap() - 0.89).abs() < 1e-9);
            assert_eq!(said(&[890.0, 891.0], &[1000.0, 1001.0], how, 0.0).said, Said::TooFew);
        }
        assert_eq!(too_few(), "too few searches (3 needed)");
    }

    #[test]
    fn several_are_compared_as_rounds_are() {
        for how in [Together::Paired, Together::Apart] {
            let found = said(&[795.0, 800.0, 806.0], &[995.0, 1000.0, 1003.0], how, 0.0);
            assert_eq!(found.said, Said::Lower, "{how:?}");
            assert!(found.low.unwrap() > 0.7 && found.high.unwrap() < 0.85 && found.q.unwrap() < 0.05);
            assert!(found.text().starts_with("lower by 20 % ["), "{}", found.text());
            // As far apart in the middle, and what one search found another did not.
            let noisy = said(&[950.0, 800.0, 650.0], &[900.0, 1000.0, 1300.0], how, 0.0);
            assert_eq!(noisy.said, Said::Overlap, "{how:?}");
            assert!(noisy.could_have_seen.unwrap() > 0.2);
            assert_eq!(said(&[795.0, 800.0, 806.0], &[995.0, 1000.0, 1003.0], how, 0.3).said, Said::Minimum);
            // Steps of a search, and nothing else, lie between these.
            assert_eq!(said(&[1000.0; 3], &[985.0; 3], how, 0.0).said, Said::Overlap, "{how:?}");
        }
    }
}
