//! The loads between which the one lies that a search looked for.

use hopbench_model::{SearchGoal, SearchOutcome, SearchSpec};
use hopbench_stats::{CONFIDENCE, Ceiling, Interval, rounds_interval, summary::median};

use super::trials::SearchTrial;
use crate::summary::Bracket;

/// The bracket of an outcome of a search over a parameter, with its trials.
pub(crate) fn of(
    outcome: SearchOutcome,
    spec: &SearchSpec,
    parameter: &str,
    trials: &[SearchTrial<'_>],
) -> Bracket {
    let goal = &spec.goal;
    // What was measured may be a little off what was asked for: not every rate can be kept.
    let loads = || trials.iter().map(|trial| trial.step.load);
    let (lowest, highest) = range(goal, parameter);
    let (lowest, highest) =
        (loads().reduce(f64::min).unwrap_or(lowest), loads().reduce(f64::max).unwrap_or(highest));
    let (low, high) = match outcome {
        SearchOutcome::Found { load, low, high } => {
            let (low, high) = (low, high.unwrap_or(f64::INFINITY));
            match goal {
                // Of several searches these are the ends of the interval of their results. Each
                // result is the lower end of what lies between two rates that are as near as the
                // precision (of `cpu` as a point of its aim).
                _ if spec.repeats > 1 => (low, high * (1.0 + resolution(goal).unwrap_or(0.0))),
                SearchGoal::Cpu { ceiling, .. } => {
                    held(*ceiling, load, trials).unwrap_or((low, high))
                }
                _ => (low, high),
            }
        }
        SearchOutcome::AboveHighest => (highest, f64::INFINITY),
        SearchOutcome::BelowLowest => (0.0, lowest),
        SearchOutcome::GaveUp { low, high } => (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY)),
    };
    Bracket { low, high }
}

/// The share by which results for one path can differ only because of a search's steps; `None` of
/// levels.
pub(crate) fn resolution(goal: &SearchGoal) -> Option<f64> {
    match goal {
        SearchGoal::Knee { .. } => None,
        SearchGoal::Cpu { ceiling, .. } => Some(Ceiling::resolution(*ceiling)),
        SearchGoal::Slo { precision, .. } | SearchGoal::Lossless { precision, .. } => {
            Some(*precision)
        }
    }
}

/// The lowest and the highest load that a goal may ask for.
pub(crate) fn range(goal: &SearchGoal, parameter: &str) -> (f64, f64) {
    match goal {
        SearchGoal::Knee { connections, threads, .. } => {
            let levels = if parameter == "threads" { threads } else { connections };
            let end = |level: Option<&u32>| level.map_or(0.0, |level| f64::from(*level));
            (end(levels.iter().min()), end(levels.iter().max()))
        }
        _ => goal.rates().map_or((0.0, 0.0), |rates| (rates.lowest_per_s, rates.highest_per_s)),
    }
}

/// From the load that was found to where CPU would be at its ceiling, with the interval of what was
/// seen there.
///
/// The search itself stops as soon as a load comes near its aim, however far the loads around it
/// are. Between these, CPU follows the load nearly in a line, and the nearest of them says how
/// steep it is.
fn held(ceiling: f64, load: f64, trials: &[SearchTrial<'_>]) -> Option<(f64, f64)> {
    let seen = |at: f64| -> Vec<f64> {
        let here =
            trials.iter().filter(|trial| trial.is_usable() && trial.step.within && trial.is_at(at));
        here.filter_map(|trial| trial.step.value).collect()
    };
    let values = seen(load);
    let here = median(&values)?;
    let steepness = |trial: &SearchTrial<'_>| {
        let other = trial.step.load;
        let slope = (here - median(&seen(other))?) / (load - other);
        Some(((load - other).abs(), slope)).filter(|(_, slope)| slope.is_finite() && *slope > 0.0)
    };
    let (_, slope) = trials.iter().filter_map(steepness).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let Interval { low, high } = rounds_interval(&values, CONFIDENCE)?;
    let at_ceiling = |value: f64| load + (ceiling - value) / slope;
    // A line knows nothing of what else became too high: no further than a load of which every
    // trial was.
    let is_too_high = |trial: &SearchTrial<'_>| {
        !trial.step.within || trial.step.value.is_none_or(|value| value > ceiling)
    };
    let above = trials.iter().filter(|trial| trial.is_usable() && trial.step.load > load);
    let all_too_high = |at: f64| {
        trials.iter().filter(|other| other.is_usable() && other.is_at(at)).all(is_too_high)
    };
    let refuted = above
        .map(|trial| trial.step.load)
        .filter(|at| all_too_high(*at))
        .fold(f64::INFINITY, f64::min);
    Some((at_ceiling(high).min(load).max(0.0), at_ceiling(low).max(load).min(refuted)))
}

#[cfg(test)]
mod tests {
    use hopbench_model::RateRange;

    use super::*;

    const RATES: RateRange = RateRange { lowest_per_s: 100.0, highest_per_s: 5000.0 };

    fn spec(goal: SearchGoal, repeats: u32) -> SearchSpec {
        SearchSpec { repeats, ..hopbench_model::fixture::search(goal) }
    }

    #[test]
    fn what_an_outcome_says_of_the_load() {
        let slo = SearchGoal::Slo {
            percentile: 99.0,
            limit_ns: 5_000_000,
            rates: RATES,
            precision: 0.02,
        };
        let slo = spec(slo, 1);
        let at_end = |outcome| of(outcome, &slo, "rate", &[]);
        let at = |low, high| Bracket { low, high };
        assert_eq!(
            at_end(SearchOutcome::Found { load: 950.0, low: 950.0, high: Some(968.0) }),
            at(950.0, 968.0)
        );
        assert_eq!(
            at_end(SearchOutcome::Found { load: 8.0, low: 8.0, high: None }),
            at(8.0, f64::INFINITY)
        );
        assert_eq!(at_end(SearchOutcome::AboveHighest), at(5000.0, f64::INFINITY));
        assert_eq!(at_end(SearchOutcome::BelowLowest), at(0.0, 100.0));
        assert_eq!(at_end(SearchOutcome::GaveUp { low: None, high: Some(300.0) }), at(0.0, 300.0));
    }

    #[test]
    fn results_of_several_searches_are_no_finer_than_their_precision() {
        let lossless = SearchGoal::Lossless { loss_share: 0.0, rates: RATES, precision: 0.01 };
        let found = SearchOutcome::Found { load: 1000.0, low: 990.0, high: Some(1000.0) };
        let high = |repeats| of(found, &spec(lossless.clone(), repeats), "rate", &[]).high;
        assert_eq!((high(1), high(3)), (1000.0, 1010.0));
    }

    #[test]
    fn what_touches_overlaps() {
        let at = |low, high| Bracket { low, high };
        assert!(at(8.0, 32.0).overlaps(at(32.0, 128.0)) && at(32.0, 128.0).overlaps(at(8.0, 32.0)));
        assert!(
            !at(950.0, 968.0).overlaps(at(969.0, 990.0))
                && !at(969.0, 990.0).overlaps(at(950.0, 968.0))
        );
        assert!(at(0.0, f64::INFINITY).overlaps(at(3.0, 4.0)));
    }
}
