//! How the loads that were found compare with the baseline's.

use std::collections::BTreeSet;

use hopbench_stats::summary::median;
use serde::Serialize;

use super::bracket::Bracket;
use super::words::number;
use super::{SearchSummary, SearchedPath};
use crate::campaign::kind::Better;
use crate::campaign::verdict::{BELOW_MINIMUM, GENERATOR, by, called, same, within_floor};
use crate::number::UNKNOWN;

/// What is said of loads that were found in different sessions of a run.
const OTHER_SESSION: &str = "no verdict: the baseline was measured in another session";

/// Where a load stands beside the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Higher.
    Higher,
    /// Lower.
    Lower,
    /// What is known of the two overlaps, or they differ by no more than the noise or than what matters.
    Same,
    /// Nothing is said; the text says why.
    Withheld,
}

/// How a load, or what was seen there, compares with the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadComparison {
    /// Where it stands.
    pub standing: Standing,
    /// It divided by the baseline's; absent where one of them was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The least that the ratio can be: of the lower end here and the upper one there; absent where an end is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The most that it can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// In words: `higher by 25 % [20, 31]`.
    pub text: String,
}

/// What is known of the load of a path, or of what was seen there, and when it was measured.
struct Side {
    found: Option<f64>,
    bracket: Bracket,
    sessions: BTreeSet<u32>,
    generator_limited: bool,
}

impl Side {
    /// The load; `None` while the search has not ended.
    fn load(path: &SearchedPath) -> Option<Self> {
        let bracket = path.bracket?;
        let behind = path.trace.iter().filter(|step| bracket.contains(step.load));
        let sessions = behind.map(|step| step.session).collect();
        Some(Self { found: path.found(), bracket, sessions, generator_limited: path.generator_limited })
    }

    /// The figure that was searched by, at the load that was found; `None` with one trial there.
    fn value(path: &SearchedPath) -> Option<Self> {
        let (load, value) = (path.at?, path.value?);
        let bracket = Bracket { low: value.low?, high: value.high? };
        let there = path.trace.iter().filter(|step| super::trials::is_same(step.load, load));
        let sessions = there.map(|step| step.session).collect();
        Some(Self { found: Some(value.median), bracket, sessions, generator_limited: path.generator_limited })
    }

    fn ratio(&self, other: &Self) -> Option<f64> {
        Some(self.found? / other.found.filter(|load| *load > 0.0)?)
    }
}

/// Compares each path with the baseline, by name: the loads, and of a knee also the throughput there. `minimum_effect` is the
/// share below which a difference does not matter.
pub(super) fn compare(paths: &mut [SearchedPath], baseline: Option<&str>, minimum_effect: f64, knee: bool) {
    let loads = all(paths, baseline, minimum_effect, Side::load);
    let values = if knee { all(paths, baseline, minimum_effect, Side::value) } else { vec![None; paths.len()] };
    for (path, (load, value)) in paths.iter_mut().zip(loads.into_iter().zip(values)) {
        (path.comparison, path.value_comparison) = (load, value);
    }
}

fn all(
    paths: &[SearchedPath],
    baseline: Option<&str>,
    minimum_effect: f64,
    side: fn(&SearchedPath) -> Option<Side>,
) -> Vec<Option<LoadComparison>> {
    let is_base = |path: &&SearchedPath| Some(path.path.as_str()) == baseline;
    let base = paths.iter().find(is_base).and_then(side);
    let twin = paths.iter().find(|path| path.twin).and_then(side);
    // As far as the same thing, searched twice, came to lie apart.
    let floor = twin.as_ref().zip(base.as_ref()).and_then(|(twin, base)| twin.ratio(base)).map_or(0.0, apart);
    let compared = |path: &SearchedPath| {
        let base = base.as_ref().filter(|_| !is_base(&path))?;
        let mut out = one(&side(path)?, base, floor, minimum_effect);
        if path.twin {
            out.standing = Standing::Withheld;
            out.text = "A/A".to_owned();
        }
        Some(out)
    };
    paths.iter().map(compared).collect()
}

fn one(here: &Side, base: &Side, floor: f64, minimum_effect: f64) -> LoadComparison {
    let found = beside(here, base, floor, minimum_effect);
    let apart = found.said != Said::Generator && here.sessions.is_disjoint(&base.sessions);
    let standing = match found.said {
        _ if apart => Standing::Withheld,
        Said::Higher => Standing::Higher,
        Said::Lower => Standing::Lower,
        Said::Overlap | Said::Floor | Said::Minimum => Standing::Same,
        Said::Generator => Standing::Withheld,
    };
    let text = if apart { OTHER_SESSION.to_owned() } else { found.text(floor) };
    LoadComparison { standing, ratio: found.ratio, low: found.low, high: found.high, text }
}

/// What is said of a load beside another, and the ratio of the two with the least and the most that it can be.
pub(crate) struct Beside {
    pub(crate) said: Said,
    pub(crate) ratio: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// What is said of a load beside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    Higher,
    Lower,
    /// What is known of the two overlaps.
    Overlap,
    /// They differ by no more than the same thing, searched twice.
    Floor,
    /// They differ by less than what is of interest.
    Minimum,
    /// The generator was the limit of one of them.
    Generator,
}

impl Beside {
    /// In words: `higher by 25 % [20, 31]`.
    pub(crate) fn text(&self, floor: f64) -> String {
        let grew = self.said == Said::Higher;
        match self.said {
            Said::Generator => GENERATOR.to_owned(),
            Said::Overlap => same(None),
            Said::Floor => within_floor(floor),
            Said::Minimum => BELOW_MINIMUM.to_owned(),
            Said::Higher | Said::Lower => {
                let word = called(Better::Neither, grew).0;
                self.ratio.map_or_else(|| word.to_owned(), |ratio| by(word, grew, ratio, self.low.zip(self.high)))
            }
        }
    }
}

fn beside(here: &Side, base: &Side, floor: f64, minimum_effect: f64) -> Beside {
    let ratio = here.ratio(base);
    let end = |here: f64, base: f64| Some(here / base).filter(|ratio| ratio.is_finite() && here.is_finite());
    let low = end(here.bracket.low, base.bracket.high).filter(|_| base.bracket.high.is_finite());
    let high = end(here.bracket.high, base.bracket.low).filter(|_| base.bracket.low > 0.0);
    let said = if here.generator_limited || base.generator_limited {
        Said::Generator
    } else if here.bracket.overlaps(base.bracket) {
        Said::Overlap
    } else if ratio.is_some_and(|ratio| apart(ratio) <= floor) {
        Said::Floor
    } else if ratio.is_some_and(|ratio| (ratio - 1.0).abs() < minimum_effect) {
        Said::Minimum
    } else if here.bracket.low > base.bracket.high {
        Said::Higher
    } else {
        Said::Lower
    };
    Beside { said, ratio, low, high }
}

/// Which of the two is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// The load.
    Load,
    /// The figure that was searched by, at the load that was found.
    Value,
}

impl What {
    fn of(self, path: &SearchedPath) -> Option<Side> {
        match self {
            Self::Load => Side::load(path),
            Self::Value => Side::value(path),
        }
    }

    /// By how much the baseline and its twin differ, as a share; `None` without a twin.
    pub(crate) fn floor(self, search: &SearchSummary) -> Option<f64> {
        let twin = search.paths.iter().find(|path| path.twin)?;
        let compared = match self {
            Self::Load => &twin.comparison,
            Self::Value => &twin.value_comparison,
        };
        Some(apart(compared.as_ref()?.ratio?))
    }
}

/// What is known of one load in several runs.
pub(crate) struct Runs {
    side: Side,
    /// Runs in which it was found.
    pub(crate) found_in: usize,
}

impl Runs {
    /// `None` where the search ended in none of them. What is known of the load is what any of them leaves open, so that what
    /// differs from run to run is in it.
    pub(crate) fn of(paths: &[&SearchedPath], what: What) -> Option<Self> {
        let sides: Vec<Side> = paths.iter().filter_map(|path| what.of(path)).collect();
        let found: Vec<f64> = sides.iter().filter_map(|side| side.found).collect();
        let bracket = sides.iter().map(|side| side.bracket).reduce(Bracket::hull)?;
        let side = Side {
            // Where some found none, the others' median is not of all.
            found: median(&found).filter(|_| found.len() == sides.len()),
            bracket,
            sessions: BTreeSet::new(),
            generator_limited: sides.iter().any(|side| side.generator_limited),
        };
        Some(Self { side, found_in: found.len() })
    }

    /// The load, or the median of several runs; `None` where a run found none.
    pub(crate) fn found(&self) -> Option<f64> {
        self.side.found
    }

    /// In short: `4979`, `>= 5000`, `< 100`, `100 to 300`.
    pub(crate) fn text(&self) -> String {
        let Bracket { low, high } = self.side.bracket;
        match self.side.found {
            Some(found) => number(found),
            None if low <= 0.0 && !high.is_finite() => UNKNOWN.to_owned(),
            None if !high.is_finite() => format!(">= {}", number(low)),
            None if low <= 0.0 => format!("< {}", number(high)),
            None => format!("{} to {}", number(low), number(high)),
        }
    }

    /// This beside what is known on the side of the baseline.
    pub(crate) fn beside(&self, base: &Self, floor: f64, minimum_effect: f64) -> Beside {
        beside(&self.side, &base.side, floor, minimum_effect)
    }
}

/// How far a ratio lies from 1, whichever of the two is the larger; infinite from 0.
fn apart(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(found: f64, low: f64, high: f64) -> Side {
        let bracket = Bracket { low, high };
        Side { found: Some(found), bracket, sessions: BTreeSet::from([1]), generator_limited: false }
    }

    #[test]
    fn only_what_does_not_overlap_differs() {
        let base = side(1000.0, 1000.0, 1020.0);
        let said = |here: &Side, floor, least| {
            let found = one(here, &base, floor, least);
            (found.standing, found.text)
        };
        let text = |standing, text: &str| (standing, text.to_owned());
        assert_eq!(said(&side(1250.0, 1250.0, 1275.0), 0.0, 0.0), text(Standing::Higher, "higher by 25 % [23, 27]"));
        assert_eq!(said(&side(800.0, 800.0, 816.0), 0.0, 0.0), text(Standing::Lower, "lower by 20 % [18, 22]"));
        assert_eq!(said(&side(1020.0, 1020.0, 1040.0), 0.0, 0.0), text(Standing::Same, "no difference seen"));
        assert_eq!(
            said(&side(1030.0, 1030.0, 1050.0), 0.04, 0.0),
            text(Standing::Same, "within the noise floor (4.0 %)")
        );
        assert_eq!(said(&side(1030.0, 1030.0, 1050.0), 0.0, 0.05), text(Standing::Same, "below the minimum effect"));
    }

    #[test]
    fn what_was_not_found_stands_where_it_must() {
        let base = side(1000.0, 1000.0, 1020.0);
        let above = Side { found: None, ..side(0.0, 5000.0, f64::INFINITY) };
        let found = one(&above, &base, 0.0, 0.0);
        assert_eq!((found.standing, found.text.as_str(), found.ratio), (Standing::Higher, "higher", None));
        assert_eq!((found.low.map(|low| (low * 100.0).round()), found.high), (Some(490.0), None));
        let below = Side { found: None, ..side(0.0, 0.0, 100.0) };
        assert_eq!(one(&below, &base, 0.0, 0.0).standing, Standing::Lower);
        let open = Side { found: None, ..side(0.0, 0.0, f64::INFINITY) };
        assert_eq!(one(&open, &base, 0.0, 0.0).standing, Standing::Same);
    }

    #[test]
    fn a_slow_generator_and_another_session_have_no_verdict() {
        let base = side(1000.0, 1000.0, 1020.0);
        let slow = Side { generator_limited: true, ..side(2000.0, 2000.0, 2040.0) };
        assert_eq!(one(&slow, &base, 0.0, 0.0).standing, Standing::Withheld);
        let late = Side { sessions: BTreeSet::from([2]), ..side(2000.0, 2000.0, 2040.0) };
        let found = one(&late, &base, 0.0, 0.0);
        assert_eq!((found.standing, found.ratio), (Standing::Withheld, Some(2.0)));
        let both = Side { sessions: BTreeSet::from([1, 2]), ..side(2000.0, 2000.0, 2040.0) };
        assert_eq!(one(&both, &base, 0.0, 0.0).standing, Standing::Higher);
    }
}
