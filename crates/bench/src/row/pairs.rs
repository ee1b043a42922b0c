//! Runs of ours and of the peer in turn (A B A B ...), so that a drift of the machine meets both.

use anyhow::Result;
use serde::Serialize;

use crate::bench::{Bench, Figures, Spread};
use crate::process::interrupt;
use crate::row::Row;
use crate::row::goal::{Goal, Judged, Reach};

/// One run of ours and the peer's after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Pair {
    /// The figures of ours.
    pub(crate) ours: Figures,
    /// The figures of the peer, if the row has one.
    pub(crate) peer: Option<Figures>,
}

/// The result of a goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Judgement {
    /// The figure in words.
    pub(crate) label: &'static str,
    /// Its unit; the values below are in it.
    pub(crate) unit: &'static str,
    /// Ours.
    pub(crate) ours: Option<Spread>,
    /// The peer's.
    pub(crate) peer: Option<Spread>,
    /// Ours divided by the peer's, pair by pair.
    pub(crate) ratio: Option<Spread>,
    /// What is judged.
    pub(crate) judged: Judged,
    /// What is asked.
    pub(crate) reach: Reach,
    /// Whether the median reaches it; none where nothing is asked or nothing could be compared.
    pub(crate) met: Option<bool>,
}

/// Runs a row into `done`; `progress` is told of each run before it starts.
///
/// # Errors
/// Those of the first run that fails; the pairs before it are kept.
pub(crate) fn run(
    bench: &Bench,
    row: &dyn Row,
    pairs: u32,
    done: &mut Vec<Pair>,
    mut progress: impl FnMut(&str),
) -> Result<()> {
    for number in 1..=pairs {
        interrupt::check()?;
        progress(&format!("{}: ours {number}/{pairs}", row.name()));
        let ours = row.ours(bench)?;
        interrupt::check()?;
        if !row.against().is_empty() {
            progress(&format!("{}: {} {number}/{pairs}", row.name(), row.against()));
        }
        done.push(Pair { ours, peer: row.theirs(bench)? });
    }
    Ok(())
}

/// Judges a goal by the pairs that were run.
pub(crate) fn judge(goal: &Goal, pairs: &[Pair]) -> Judgement {
    let value = |figures: &Figures| figures.get(goal.figure).map(|v| v * goal.scale);
    let ours: Vec<f64> = pairs.iter().filter_map(|pair| value(&pair.ours)).collect();
    let peer: Vec<f64> = pairs.iter().filter_map(|pair| value(pair.peer.as_ref()?)).collect();
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| Some(value(&pair.ours)? / value(pair.peer.as_ref()?)?))
        .collect();
    let (ours, ratio) = (Spread::of(&ours), Spread::of(&ratios));
    let judged = match goal.judged {
        Judged::Ratio => ratio,
        Judged::Value => ours,
    };
    Judgement {
        label: goal.label,
        unit: goal.unit,
        ours,
        peer: Spread::of(&peer),
        ratio,
        judged: goal.judged,
        reach: goal.reach,
        met: judged.and_then(|spread| goal.reach.met_by(spread.median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(ours: f64, peer: Option<f64>) -> Pair {
        Pair { ours: Figures::from([("x", ours)]), peer: peer.map(|p| Figures::from([("x", p)])) }
    }

    #[test]
    fn the_ratio_is_taken_pair_by_pair() {
        // The machine slows down to a fifth: the ratio of medians would say 0.6, the pairs say 1.2.
        let pairs = [pair(12.0, Some(10.0)), pair(6.0, Some(5.0)), pair(2.4, Some(2.0))];
        let goal = Goal::ratio("x", "x", "", 1.0, Reach::AtLeast(1.1));
        let judgement = judge(&goal, &pairs);
        assert!((judgement.ratio.unwrap().median - 1.2).abs() < 1e-9);
        assert_eq!(judgement.met, Some(true));
        assert_eq!(judgement.peer.unwrap().median, 5.0);
    }

    #[test]
    fn a_value_is_judged_in_the_unit_shown() {
        let goal = Goal::value("x", "x", "us", 1e-3, Reach::AtMost(20.0));
        assert_eq!(judge(&goal, &[pair(19_000.0, None)]).met, Some(true));
        assert_eq!(judge(&goal, &[pair(21_000.0, None)]).met, Some(false));
    }

    #[test]
    fn a_ratio_without_a_peer_is_no_verdict() {
        let goal = Goal::ratio("x", "x", "", 1.0, Reach::AtLeast(1.0));
        assert_eq!(judge(&goal, &[pair(1.0, None)]).met, None);
        assert_eq!(judge(&goal, &[]).met, None);
    }
}
