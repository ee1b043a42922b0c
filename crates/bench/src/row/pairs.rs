//! Runs of ours and of the peer in turn (A B A B ...), so that a drift of the machine meets both.

use anyhow::Result;
use hopbench_stats::{Interval, Stop};
use serde::Serialize;

use crate::bench::{Bench, Figures, Spread};
use crate::process::interrupt;
use crate::row::Row;
use crate::row::goal::{Goal, GoalState, Judged, Reach};

/// A row that is not decided gets up to this many times the pairs that were asked for.
const MOST_TIMES: u32 = 2;

/// One run of ours and the peer's after it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RunPair {
    /// The figures of ours.
    pub(crate) ours: Figures,
    /// The figures of the peer, if the row has one.
    pub(crate) peer: Option<Figures>,
}

/// The result of a goal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct JudgedGoal {
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
    /// Pairs, or runs of ours, that are judged.
    pub(crate) pairs: usize,
    /// The interval of 95 % of the median that is judged, low and high; none of a count, and with
    /// fewer than two pairs.
    pub(crate) interval: Option<[f64; 2]>,
    /// What they say; none where nothing is asked or nothing could be compared.
    pub(crate) verdict: Option<GoalState>,
}

/// The pairs of a row, at least and at most. The rule accounts for every look that could have ended
/// the row, so that its intervals hold what they say. No width ends a row here: its verdicts do.
pub(crate) fn plan(pairs: u32) -> Stop {
    let [least, most] = [pairs, most(pairs)].map(|pairs| pairs as usize);
    Stop { half_width_share: 0.0, min_rounds: least, max_rounds: most }
}

/// The pairs that a row gets at most, where this many were asked for.
pub(crate) fn most(pairs: u32) -> u32 {
    pairs * MOST_TIMES
}

/// Runs a row into `done`; `progress` is told of each run before it starts.
///
/// # Errors
/// Those of the first run that fails; the pairs before it are kept.
pub(crate) fn run(
    bench: &Bench,
    row: &Row,
    plan: &Stop,
    done: &mut Vec<RunPair>,
    mut progress: impl FnMut(&str),
) -> Result<()> {
    collect(row.goals, plan, done, |number| {
        interrupt::check()?;
        let of = match number > plan.min_rounds {
            true => format!("{}, not decided yet", plan.max_rounds),
            false => plan.min_rounds.to_string(),
        };
        progress(&format!("{}: ours {number}/{of}", row.name));
        let ours = (row.ours)(bench)?;
        interrupt::check()?;
        if !row.against.is_empty() {
            progress(&format!("{}: {} {number}/{of}", row.name, row.against));
        }
        let peer = row.theirs.as_ref().map(|run| run(bench)).transpose()?;
        Ok(RunPair { ours, peer })
    })
}

/// Collects pairs, more than the least only while a goal is not decided.
fn collect(
    goals: &[Goal],
    plan: &Stop,
    done: &mut Vec<RunPair>,
    mut pair: impl FnMut(usize) -> Result<RunPair>,
) -> Result<()> {
    let open = |done: &[RunPair]| {
        goals.iter().any(|goal| judge(goal, plan, done).verdict == Some(GoalState::NotDecided))
    };
    while done.len() < plan.min_rounds || (done.len() < plan.max_rounds && open(done)) {
        done.push(pair(done.len() + 1)?);
    }
    Ok(())
}

/// Judges a goal by the pairs that were run.
pub(crate) fn judge(goal: &Goal, plan: &Stop, pairs: &[RunPair]) -> JudgedGoal {
    let value = |figures: &Figures| figures.get(goal.figure).map(|v| v * goal.scale);
    let ours: Vec<f64> = pairs.iter().filter_map(|pair| value(&pair.ours)).collect();
    let peer: Vec<f64> = pairs.iter().filter_map(|pair| value(pair.peer.as_ref()?)).collect();
    let ratios: Vec<f64> = pairs
        .iter()
        .filter_map(|pair| Some(value(&pair.ours)? / value(pair.peer.as_ref()?)?))
        .collect();
    let judged = match goal.judged {
        Judged::Ratio => &ratios,
        Judged::Value | Judged::Count => &ours,
    };
    let spread = Spread::of(judged);
    let (interval, lies_in) = match goal.judged {
        Judged::Ratio | Judged::Value => {
            let interval = plan.look(judged).interval;
            (interval, interval)
        }
        Judged::Count => {
            (None, spread.map(|Spread { median, .. }| Interval { low: median, high: median }))
        }
    };
    JudgedGoal {
        label: goal.label,
        unit: goal.unit,
        pairs: judged.len(),
        interval: interval.map(|Interval { low, high }| [low, high]),
        verdict: spread.and_then(|_| goal.reach.judge(lies_in)),
        ours: Spread::of(&ours),
        peer: Spread::of(&peer),
        ratio: Spread::of(&ratios),
        judged: goal.judged,
        reach: goal.reach,
    }
}

#[cfg(test)]
mod tests {
    use hopbench_stats::Random;

    use super::*;

    fn pair(ours: f64, peer: Option<f64>) -> RunPair {
        RunPair {
            ours: Figures::from([("x", ours)]),
            peer: peer.map(|p| Figures::from([("x", p)])),
        }
    }

    fn pairs_of(ratios: &[f64]) -> Vec<RunPair> {
        ratios.iter().map(|ratio| pair(100.0 * ratio, Some(100.0))).collect()
    }

    const AT_LEAST_1: Goal = Goal::ratio("x", "x", "", 1.0, Reach::AtLeast(1.0));

    #[test]
    fn the_ratio_is_taken_pair_by_pair() {
        // The machine slows down to a fifth: the ratio of medians would say 0.6, the pairs say 1.2.
        let pairs = [pair(12.0, Some(10.0)), pair(6.0, Some(5.0)), pair(2.4, Some(2.0))];
        let goal = Goal { reach: Reach::AtLeast(1.1), ..AT_LEAST_1 };
        let judgement = judge(&goal, &plan(3), &pairs);
        assert!((judgement.ratio.unwrap().median - 1.2).abs() < 1e-9);
        assert_eq!(judgement.verdict, Some(GoalState::Met));
        assert_eq!((judgement.peer.unwrap().median, judgement.pairs), (5.0, 3));
    }

    #[test]
    fn a_median_beyond_the_goal_is_no_verdict_by_itself() {
        // The pairs of a row that had passed with its median of 1.095.
        let wide = pairs_of(&[0.894, 1.0, 1.095, 1.2, 2.018]);
        let judgement = judge(&AT_LEAST_1, &plan(5), &wide);
        let [low, high] = judgement.interval.unwrap();
        assert!(low < 1.0 && high > 1.0, "{low} - {high}");
        assert_eq!(judgement.verdict, Some(GoalState::NotDecided));
        let close = pairs_of(&[1.09, 1.095, 1.1, 1.092, 1.097]);
        assert_eq!(judge(&AT_LEAST_1, &plan(5), &close).verdict, Some(GoalState::Met));
        let below = pairs_of(&[0.96, 0.97, 0.955, 0.965, 0.95]);
        assert_eq!(judge(&AT_LEAST_1, &plan(5), &below).verdict, Some(GoalState::NotMet));
    }

    #[test]
    fn a_value_is_judged_in_the_unit_shown() {
        let goal = Goal::value("x", "x", "us", 1e-3, Reach::AtMost(20.0));
        let verdict = |around: f64| {
            let runs: Vec<RunPair> = [0.99, 1.0, 1.01].map(|by| pair(around * by, None)).into();
            judge(&goal, &plan(3), &runs).verdict
        };
        assert_eq!(verdict(19_000.0), Some(GoalState::Met));
        assert_eq!(verdict(19_900.0), Some(GoalState::NotDecided));
        assert_eq!(verdict(21_000.0), Some(GoalState::NotMet));
    }

    #[test]
    fn a_count_is_judged_as_it_is() {
        let goal = Goal::count("x", "x", "requests", Reach::AtMost(0.0));
        let judged = |count: f64| judge(&goal, &plan(1), &[pair(count, None)]);
        assert_eq!((judged(0.0).verdict, judged(0.0).interval), (Some(GoalState::Met), None));
        assert_eq!(judged(1.0).verdict, Some(GoalState::NotMet));
    }

    #[test]
    fn a_ratio_without_a_peer_is_no_verdict_and_one_pair_decides_nothing() {
        assert_eq!(judge(&AT_LEAST_1, &plan(1), &[pair(1.0, None)]).verdict, None);
        assert_eq!(judge(&AT_LEAST_1, &plan(1), &[]).verdict, None);
        let one = judge(&AT_LEAST_1, &plan(1), &pairs_of(&[3.0]));
        assert_eq!(one.verdict, Some(GoalState::NotDecided));
    }

    #[test]
    fn more_pairs_are_run_only_while_a_goal_is_not_decided() {
        let run = |goals: &[Goal], ratios: &[f64]| {
            let mut done = Vec::new();
            collect(goals, &plan(5), &mut done, |number| {
                Ok(pairs_of(&ratios[number - 1..number]).remove(0))
            })
            .unwrap();
            done.len()
        };
        let shown = Goal { reach: Reach::Shown, ..AT_LEAST_1 };
        let clear = [1.2; 10];
        let wide = [0.8, 1.3, 0.9, 1.2, 1.0, 0.7, 1.4, 0.85, 1.25, 1.05];
        // One value far away, and then what the others say.
        let late = [1.2, 1.19, 0.6, 1.21, 1.2, 1.2, 1.19, 1.21, 1.2, 1.2];
        assert_eq!(run(&[AT_LEAST_1], &clear), 5);
        assert_eq!(run(&[AT_LEAST_1], &wide), 10, "twice the pairs, and no more");
        assert_eq!(run(&[shown], &wide), 5, "nothing is asked");
        let decided = run(&[shown, AT_LEAST_1], &late);
        assert!((6..10).contains(&decided), "{decided} pairs");
    }

    #[test]
    fn what_lies_on_the_goal_is_rarely_decided() {
        let mut random = Random::new(7);
        let mut ratio = || {
            let normal = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            (0.05 * normal).exp()
        };
        let rows = 2000;
        let decided = (0..rows).filter(|_| {
            let mut done = Vec::new();
            let pair = |_| Ok(pairs_of(&[ratio()]).remove(0));
            collect(&[AT_LEAST_1], &plan(5), &mut done, pair).unwrap();
            judge(&AT_LEAST_1, &plan(5), &done).verdict != Some(GoalState::NotDecided)
        });
        let wrong = decided.count();
        assert!(wrong <= rows * 8 / 100, "{wrong} of {rows}");
    }
}
