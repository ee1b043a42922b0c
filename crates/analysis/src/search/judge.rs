//! The verdicts on the loads of a run's searches against the baseline's.

use hopbench_stats::Comparison;

use super::compare_loads::{Together, compare_loads, question};
use super::known_load::KnownLoad;
use crate::summary::{LoadComparison, Outcome, SearchSummary, SearchedPath, Verdict};
use crate::verdict::Questions;

/// The text for loads that were found in different sessions of a run.
const OTHER_SESSION: &str = "no verdict: the baseline was measured in another session";

/// The value that is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What {
    /// The load.
    Load,
    /// The figure that was searched by, at the load that was found.
    Value,
}

impl What {
    pub(crate) fn of(self, path: &SearchedPath) -> Option<KnownLoad> {
        match self {
            Self::Load => KnownLoad::load(path),
            Self::Value => KnownLoad::value(path),
        }
    }
}

/// Two sides that are compared, and where.
struct Pair {
    search: usize,
    path: usize,
    what: What,
    here: KnownLoad,
    base: KnownLoad,
}

/// Compares each path of each search with the one that `of` says, by name: the loads, and of a knee
/// also the throughput there. `minimum_effect` is the share below which a difference does not
/// matter. All that is tested is judged together.
pub(crate) fn compare<'p>(
    searches: &mut [SearchSummary],
    of: impl Fn(&str) -> Option<&'p str>,
    minimum_effect: f64,
) {
    let mut pairs = Vec::new();
    for (at, search) in searches.iter().enumerate() {
        let whats: &[What] =
            if search.goal == "knee" { &[What::Load, What::Value] } else { &[What::Load] };
        for what in whats {
            pairs.extend(pairs_of(search, at, *what, &of));
        }
    }
    let mut questions = Questions::default();
    let mut compared: Vec<(Pair, Option<Comparison>)> = Vec::new();
    for pair in pairs {
        match question(&pair.here, &pair.base, Together::Paired, minimum_effect) {
            Some(question) => questions.ask(pair, question),
            None => compared.push((pair, None)),
        }
    }
    compared.extend(questions.answers().map(|(pair, answer)| (pair, Some(answer))));
    for (pair, answer) in compared {
        let path = &mut searches[pair.search].paths[pair.path];
        let out = one(&pair, minimum_effect, answer.as_ref());
        match pair.what {
            What::Load => path.comparison = Some(out),
            What::Value => path.value_comparison = Some(out),
        }
    }
}

/// The paths that are compared with another one.
fn pairs_of<'p>(
    search: &SearchSummary,
    at: usize,
    what: What,
    of: &impl Fn(&str) -> Option<&'p str>,
) -> Vec<Pair> {
    let pair = |(path, here): (usize, &SearchedPath)| {
        let base = of(&here.path)?;
        let base = what.of(search.paths.iter().find(|other| other.path == base)?)?;
        Some(Pair { search: at, path, what, here: what.of(here)?, base })
    };
    search.paths.iter().enumerate().filter_map(pair).collect()
}

fn one(pair: &Pair, minimum_effect: f64, answer: Option<&Comparison>) -> LoadComparison {
    let Pair { here, base, .. } = pair;
    let found = compare_loads(here, base, minimum_effect, answer);
    let apart =
        found.verdict.outcome != Outcome::Generator && here.sessions.is_disjoint(&base.sessions);
    let (outcome, text) = match found.verdict {
        _ if apart => (Outcome::OtherSession, OTHER_SESSION.to_owned()),
        Verdict { outcome, text, .. } => (outcome, text),
    };
    let (ratio, low, high, p, q) = (found.ratio, found.low, found.high, found.p, found.q);
    LoadComparison { outcome, ratio, low, high, p, q, text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::search::compare_loads::tests::side;

    fn of(here: &KnownLoad, base: &KnownLoad, minimum_effect: f64) -> LoadComparison {
        let (here, base, what) = (here.clone(), base.clone(), What::Load);
        one(&Pair { search: 0, path: 0, what, here, base }, minimum_effect, None)
    }

    #[test]
    fn only_levels_that_do_not_overlap_differ() {
        let base = side(1000.0, 1000.0, 1020.0);
        let said = |here: &KnownLoad, least| {
            let found = of(here, &base, least);
            (found.outcome, found.text)
        };
        let text = |outcome, text: &str| (outcome, text.to_owned());
        assert_eq!(
            said(&side(1250.0, 1250.0, 1275.0), 0.0),
            text(Outcome::More, "higher by 25 % [23, 27]")
        );
        assert_eq!(
            said(&side(800.0, 800.0, 816.0), 0.0),
            text(Outcome::Less, "lower by 20 % [18, 22]")
        );
        assert_eq!(
            said(&side(1020.0, 1020.0, 1040.0), 0.0),
            text(Outcome::NotDecided, "not decided: 0 % to +4.0 %")
        );
        assert_eq!(
            said(&side(1030.0, 1030.0, 1050.0), 0.05),
            text(Outcome::MinimumEffect, "below the minimum effect")
        );
    }

    #[test]
    fn what_was_not_found_stands_where_it_must() {
        let base = side(1000.0, 1000.0, 1020.0);
        let above = KnownLoad { found: None, ..side(0.0, 5000.0, f64::INFINITY) };
        let found = of(&above, &base, 0.0);
        assert_eq!(
            (found.outcome, found.text.as_str(), found.ratio),
            (Outcome::More, "higher", None)
        );
        assert_eq!((found.low.map(|low| (low * 100.0).round()), found.high), (Some(490.0), None));
        let below = KnownLoad { found: None, ..side(0.0, 0.0, 100.0) };
        assert_eq!(of(&below, &base, 0.0).outcome, Outcome::Less);
        let open = KnownLoad { found: None, ..side(0.0, 0.0, f64::INFINITY) };
        assert_eq!(of(&open, &base, 0.0).outcome, Outcome::NotDecided);
    }

    #[test]
    fn a_slow_generator_and_another_session_have_no_verdict() {
        let base = side(1000.0, 1000.0, 1020.0);
        let slow = KnownLoad { generator_limited: true, ..side(2000.0, 2000.0, 2040.0) };
        assert_eq!(of(&slow, &base, 0.0).outcome, Outcome::Generator);
        let late = KnownLoad { sessions: BTreeSet::from([2]), ..side(2000.0, 2000.0, 2040.0) };
        let found = of(&late, &base, 0.0);
        assert_eq!((found.outcome, found.ratio), (Outcome::OtherSession, Some(2.0)));
        let open = KnownLoad { undecided: true, ..side(2000.0, 2000.0, 2040.0) };
        assert_eq!(of(&open, &base, 0.0).text, "no verdict: a step of the search was not decided");
        let open = KnownLoad { undecided: true, ..side(1010.0, 1010.0, 1030.0) };
        assert_eq!(of(&open, &base, 0.0).outcome, Outcome::NotDecided);
        let both = KnownLoad { sessions: BTreeSet::from([1, 2]), ..side(2000.0, 2000.0, 2040.0) };
        assert_eq!(of(&both, &base, 0.0).outcome, Outcome::More);
    }
}
