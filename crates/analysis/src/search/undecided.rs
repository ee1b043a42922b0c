//! Steps of a knee that no number of trials decided: there what was seen counted.

use hopbench_model::SearchGoal;
use hopbench_stats::{Knee, Measurement, Search};

use super::trials::SearchTrial;
use crate::summary::Undecided;

/// The steps on which the result of a knee rests and that were not decided.
pub(crate) fn of(goal: &SearchGoal, trials: &[SearchTrial<'_>]) -> Vec<Undecided> {
    let SearchGoal::Knee { least_growth, .. } = goal else { return Vec::new() };
    // Levels above are of no comparison yet.
    let levels: Vec<f64> = trials.iter().map(|trial| trial.step.load).collect();
    let mut knee = Knee::new(&levels, *least_growth);
    for trial in trials.iter().filter(|trial| trial.is_usable()) {
        let step = trial.step;
        knee.observe(
            step.load,
            Measurement { value: step.value.unwrap_or(f64::NAN), within: step.within },
        );
    }
    let open =
        knee.growths().into_iter().filter(|growth| !growth.is_clear && growth.share.is_finite());
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
