//! The highest load that keeps a CPU at or below a ceiling.

use super::{Measurement, Outcome, Search, Step, Why};
use crate::interval::CONFIDENCE;
use crate::rounds::rounds_interval;
use crate::summary::{mean, median};

/// How far below the ceiling is aimed, as a share of all CPU: what is found must not lie above by
/// chance.
const MARGIN: f64 = 0.01;
/// How near to the aim is near enough.
const NEAR: f64 = 0.01;
/// Trials at a load before it is taken.
const CONFIRMED: usize = 3;
/// Trials after which a search of one round gives up.
const MOST_TRIALS: usize = 40;
/// By how much the load changes until the ceiling lies between two: in the first round, and from
/// the last result on.
const STRIDE: f64 = 2.0;
const LATER_STRIDE: f64 = 1.25;
/// Loads this near to each other are one.
const SAME: f64 = 0.002;

/// The search for the highest load with a share of CPU (0 to 1) at or below a ceiling.
///
/// CPU follows load nearly in a line. So after doubling the load until the ceiling is passed, the
/// next load is read off the line between the two loads around the ceiling (the method of false
/// position). Each is known as the median of its trials. It aims one point below the ceiling. A
/// load that comes to within one point of the aim is measured until it has three trials, and taken
/// if their mean is there. Where CPU jumps past the ceiling between two loads that are as good as
/// one, the lower of them is taken. So it is where something else is out of bounds from there on.
/// Later rounds begin at the last result and take nothing over from the rounds before.
#[derive(Debug, Clone)]
pub struct Ceiling {
    ceiling: f64,
    lowest: f64,
    highest: f64,
    /// Loads that can be asked for are multiples of this; 0: all can.
    grain: f64,
    rounds: usize,
    found: Vec<f64>,
    trace: Vec<Step>,
    /// How many trials belong to earlier rounds.
    before: usize,
    now: Option<(f64, Why)>,
    outcome: Outcome,
}

impl Ceiling {
    /// For a ceiling (0.6: 60 %), among loads from `lowest` to `highest`, searched anew in each of
    /// `rounds` rounds.
    #[must_use]
    pub fn new(ceiling: f64, lowest: f64, highest: f64, rounds: usize) -> Self {
        Self {
            ceiling,
            lowest,
            highest: highest.max(lowest),
            grain: 0.0,
            rounds: rounds.max(1),
            found: Vec::new(),
            trace: Vec::new(),
            before: 0,
            now: Some((lowest, Why::Raise)),
            outcome: Outcome::Searching,
        }
    }

    /// For loads of which only the multiples of `grain` can be asked for, 0 or more, as in
    /// [`Highest::in_grains`](super::Highest::in_grains).
    #[must_use]
    pub fn in_grains(mut self, grain: f64) -> Self {
        self.grain = grain;
        self
    }

    /// The share by which what is found of one system can differ. Any load is taken at which CPU is
    /// within a point of the aim.
    #[must_use]
    pub fn resolution(ceiling: f64) -> f64 {
        2.0 * NEAR / ceiling
    }

    /// The share of CPU at the load that the last round found: the mean of its trials there.
    #[must_use]
    pub fn held_at(&self) -> Option<f64> {
        mean(&self.values(*self.found.last()?))
    }

    /// The trials of this round.
    fn round(&self) -> &[Step] {
        &self.trace[self.before..]
    }

    /// What was seen at a load in this round; where something else was out of bounds, CPU counts as
    /// full.
    fn values(&self, load: f64) -> Vec<f64> {
        let here = self.round().iter().filter(|step| step.load == load);
        here.map(|step| {
            if step.seen.within && step.seen.value.is_finite() { step.seen.value } else { 1.0 }
        })
        .collect()
    }

    /// The loads of this round so far with the median of each, ascending.
    fn places(&self) -> Vec<(f64, f64)> {
        let mut loads: Vec<f64> = self.round().iter().map(|step| step.load).collect();
        loads.sort_unstable_by(f64::total_cmp);
        loads.dedup();
        loads.into_iter().filter_map(|load| Some((load, median(&self.values(load))?))).collect()
    }

    fn decide(&mut self, last: f64) {
        self.now = None;
        let aim = self.ceiling - MARGIN;
        let places = self.places();
        let values = self.values(last);
        let near = mean(&values).is_some_and(|value| (value - aim).abs() <= NEAR);
        let low = places.iter().rev().find(|(_, value)| *value <= aim).copied();
        let high = places
            .iter()
            .find(|(load, value)| *value > aim && low.is_none_or(|low| *load > low.0))
            .copied();
        let narrow = low.zip(high).is_some_and(|(low, high)| {
            high.0 / low.0 - 1.0 <= SAME || high.0 - low.0 < 1.5 * self.grain
        });
        if near && values.len() >= CONFIRMED {
            let at = |place: Option<(f64, f64)>, other: f64| place.map_or(other, |place| place.0);
            self.close(last, at(low, last).min(last), at(high, last).max(last));
            return;
        }
        if self.round().len() >= MOST_TRIALS {
            let (low, high) =
                (low.map_or(0.0, |place| place.0), high.map_or(f64::INFINITY, |place| place.0));
            self.outcome = Outcome::GaveUp { low, high };
            return;
        }
        if near {
            self.now = Some((last, Why::Confirm));
            return;
        }
        match (low, high) {
            // A step where CPU jumps past the ceiling: the load below it is what can be had.
            (Some(low), Some(high)) if narrow => self.settle(low, high.0),
            (Some(low), Some(high)) => {
                let share = (aim - low.1) / (high.1 - low.1);
                // Not too near to either end, where noise alone would decide.
                let next = low.0 + share.clamp(0.1, 0.9) * (high.0 - low.0);
                let next = next.max(low.0 + self.grain).min(high.0 - self.grain);
                self.now = Some((next, Why::Narrow));
            }
            (Some((load, _)), None) if load >= self.highest => {
                if values.len() < CONFIRMED {
                    self.now = Some((load, Why::Confirm));
                } else {
                    self.outcome = Outcome::AboveHighest;
                }
            }
            (Some((load, _)), None) => {
                let next = (load * self.stride()).max(load + self.grain);
                self.now = Some((next.min(self.highest), Why::Raise));
            }
            (None, Some((load, _))) if load > self.lowest && !self.found.is_empty() => {
                let next = (load / self.stride()).min(load - self.grain);
                self.now = Some((next.max(self.lowest), Why::Raise));
            }
            (None, _) if last > self.lowest => self.now = Some((self.lowest, Why::Again)),
            (None, _) if values.len() < CONFIRMED => self.now = Some((self.lowest, Why::Confirm)),
            (None, _) => self.outcome = Outcome::BelowLowest,
        }
    }

    /// Takes the lower of two loads that are as good as one, once it has its trials.
    fn settle(&mut self, low: (f64, f64), high: f64) {
        if self.values(low.0).len() < CONFIRMED {
            self.now = Some((low.0, Why::Confirm));
        } else {
            self.close(low.0, low.0, high);
        }
    }

    /// Ends the round with the load that it found, between these two.
    fn close(&mut self, load: f64, low: f64, high: f64) {
        self.found.push(load);
        if self.found.len() < self.rounds {
            self.before = self.trace.len();
            self.now = Some((load, Why::Raise));
            return;
        }
        // Where several rounds were made they show how far it is known; else what lies between the
        // two loads.
        self.outcome = match (median(&self.found), rounds_interval(&self.found, CONFIDENCE)) {
            (Some(load), Some(interval)) => {
                Outcome::Found { load, low: interval.low, high: interval.high }
            }
            _ => Outcome::Found { load, low, high },
        };
    }

    fn stride(&self) -> f64 {
        if self.found.is_empty() { STRIDE } else { LATER_STRIDE }
    }
}

impl Search for Ceiling {
    fn next_load(&self) -> Option<f64> {
        self.now.map(|(load, _)| load)
    }

    fn observe(&mut self, load: f64, seen: Measurement) {
        let why = self.now.map_or(Why::Again, |(_, why)| why);
        self.trace.push(Step { load, seen, why });
        if self.now.is_some() {
            self.decide(load);
        }
    }

    fn outcome(&self) -> Outcome {
        self.outcome
    }

    fn trace(&self) -> &[Step] {
        &self.trace
    }

    fn found(&self) -> &[f64] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(mut search: Ceiling, cpu: impl Fn(f64) -> f64) -> Ceiling {
        while let Some(load) = search.next_load() {
            search.observe(load, Measurement { value: cpu(load), within: true });
        }
        search
    }

    #[test]
    fn a_ceiling_that_is_never_or_always_passed_is_told() {
        assert_eq!(
            run(Ceiling::new(0.6, 100.0, 5000.0, 1), |_| 0.2).outcome(),
            Outcome::AboveHighest
        );
        assert_eq!(
            run(Ceiling::new(0.6, 100.0, 5000.0, 1), |_| 0.9).outcome(),
            Outcome::BelowLowest
        );
    }

    #[test]
    fn a_jump_past_the_ceiling_gives_the_load_before_it() {
        let search =
            run(Ceiling::new(0.6, 100.0, 5000.0, 1), |load| if load < 1234.0 { 0.3 } else { 0.9 });
        match search.outcome() {
            Outcome::Found { load, high, .. } => {
                assert!(load < 1234.0 && high >= 1234.0 && high - load < 5.0, "{load}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(search.held_at(), Some(0.3));
    }

    #[test]
    fn a_trial_that_failed_counts_as_a_full_cpu() {
        let mut search = Ceiling::new(0.6, 100.0, 10_000.0, 1);
        while let Some(load) = search.next_load() {
            search.observe(load, Measurement { value: load / 1e5, within: load < 2000.0 });
        }
        assert!(
            matches!(search.outcome(), Outcome::Found { load, .. } if load < 2000.0),
            "{:?}",
            search.outcome()
        );
    }

    proptest! {
        #[test]
        fn without_noise_it_is_held_within_two_points(
            idle in 0.0..0.2f64, per_load in 1e-5..1e-3f64, bend in 0.7..1.4f64,
            ceiling in 0.3..0.9f64,
        ) {
            let cpu = |load: f64| (idle + per_load * load.powf(bend)).min(1.0);
            let highest = 1e6;
            let search = run(Ceiling::new(ceiling, 10.0, highest, 1), cpu);
            match search.outcome() {
                Outcome::Found { load, .. } => {
                    prop_assert!(
                        cpu(load) <= ceiling + 1e-9 && cpu(load) >= ceiling - 0.021,
                        "{}",
                        cpu(load),
                    );
                }
                // Some of these systems never get there.
                Outcome::AboveHighest => {
                    prop_assert!(cpu(highest) <= ceiling - MARGIN, "{}", cpu(highest));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
