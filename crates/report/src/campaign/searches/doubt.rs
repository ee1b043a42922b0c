//! Steps of a knee that no number of trials decided: there what was seen counted.

use hopbench_model::SearchGoal;
use hopbench_stats::{Knee, Search, Seen};
use serde::Serialize;

use super::trials::Trial;
use super::words::load;
use crate::number::percentage;

/// The mark of a load that rests on such a step.
pub(crate) const MARK: &str = "? ";

/// A comparison of two levels on which a knee rests, though its interval holds the least growth that counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undecided {
    /// The earlier level.
    pub from: f64,
    /// The later one.
    pub to: f64,
    /// How much more throughput it gives, as a share: 0.31 is 31 %.
    pub growth: f64,
    /// Lower end of its interval of 90 %.
    pub low: f64,
    /// Upper end; absent where it is infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Trials at the level that has fewer.
    pub trials: usize,
}

/// The steps on which the result of a knee rests and that were not decided.
pub(super) fn of(goal: &SearchGoal, trials: &[Trial<'_>]) -> Vec<Undecided> {
    let SearchGoal::Knee { least_growth, .. } = goal else { return Vec::new() };
    // Levels above are of no comparison yet.
    let levels: Vec<f64> = trials.iter().map(|trial| trial.step.load).collect();
    let mut knee = Knee::new(&levels, *least_growth);
    for trial in trials.iter().filter(|trial| trial.is_usable()) {
        let step = trial.step;
        knee.observe(step.load, Seen { value: step.value.unwrap_or(f64::NAN), within: step.within });
    }
    let open = knee.growths().into_iter().filter(|growth| !growth.is_clear && growth.share.is_finite());
    let told = open.map(|growth| Undecided {
        from: growth.from,
        to: growth.to,
        growth: growth.share,
        low: growth.low,
        high: Some(growth.high).filter(|high| high.is_finite()),
        trials: growth.trials,
    });
    told.collect()
}

/// `not decided after 9 trials: growth 31 % [-40, 187] from 4 to 16 connections`; empty where all was decided.
pub(crate) fn text(undecided: &[Undecided], parameter: &str) -> String {
    let Some(trials) = undecided.iter().map(|step| step.trials).max() else { return String::new() };
    let share = |share: f64| {
        let sign = if share < 0.0 { "-" } else { "" };
        format!("{sign}{}", percentage(share.abs()))
    };
    let one = |step: &Undecided| {
        let high = step.high.map_or_else(|| "?".to_owned(), share);
        let (growth, low) = (share(step.growth), share(step.low));
        format!("growth {growth} % [{low}, {high}] from {:.0} to {}", step.from, load(parameter, step.to))
    };
    let each: Vec<String> = undecided.iter().map(one).collect();
    format!("not decided after {trials} trials a level: {}", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_decided_has_words() {
        let step = |from, to, growth, low, high| Undecided { from, to, growth, low, high, trials: 9 };
        let one = step(4.0, 16.0, 0.31, -0.4, Some(1.87));
        assert_eq!(
            text(std::slice::from_ref(&one), "connections"),
            "not decided after 9 trials a level: growth 31 % [-40, 187] from 4 to 16 connections"
        );
        let two = text(&[one, step(16.0, 64.0, -0.02, -0.9, Some(1e9))], "threads");
        assert!(two.ends_with(", growth -2.0 % [-90, > 999] from 16 to 64 threads"), "{two}");
        assert_eq!(text(&[], "threads"), "");
    }
}
