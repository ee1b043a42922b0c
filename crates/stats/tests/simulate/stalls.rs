//! Rates that are 0 in some rounds: machines that stand still for a whole window, and paths that
//! carry nothing now and then.

use hopbench_stats::{Judgement, Question, Random, RoundPair, judge, paired_rates};

use super::noise::normal;
use super::tell;

/// A path and its baseline in rounds of short windows.
#[derive(Debug, Clone, Copy)]
struct Stalls {
    rounds: usize,
    /// Whether rounds measure the baseline twice.
    has_twin: bool,
    /// The share of all trials in which the machine stands still.
    stalls: f64,
    /// The share of its trials in which the path by itself is bad.
    drops: f64,
    /// What it carries in these, for each that it carries else.
    left: f64,
    /// What the path carries else, for each that the baseline carries.
    factor: f64,
    /// The scatter of a trial.
    scatter: f64,
}

impl Stalls {
    fn pairs(self, random: &mut Random) -> Vec<RoundPair> {
        let trial = |level: f64, random: &mut Random| {
            let rate = level * (self.scatter * normal(random)).exp();
            if random.unit() < self.stalls { 0.0 } else { rate }
        };
        let one = |_| {
            let share = if random.unit() < self.drops { self.left } else { 1.0 };
            let value = trial(100.0 * self.factor * share, random);
            let baseline = trial(100.0, random);
            let twin = self.has_twin.then(|| trial(100.0, random));
            RoundPair { value, baseline, twin }
        };
        (0..self.rounds).map(one).collect()
    }

    /// The shares of so many comparisons that are called lower, higher and the same.
    fn judged(self, comparisons: u32) -> [f64; 3] {
        let (mut random, mut found) = (Random::new(53), [0u32; 3]);
        for _ in 0..comparisons {
            // Where nothing was ever carried there is no ratio, and nothing is called.
            let Ok(evidence) = paired_rates(&self.pairs(&mut random)) else { continue };
            let question =
                Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 };
            match judge(&[question])[0].judgement {
                Judgement::Lower => found[0] += 1,
                Judgement::Higher => found[1] += 1,
                Judgement::Same { .. } => found[2] += 1,
                _ => {}
            }
        }
        found.map(|count| f64::from(count) / f64::from(comparisons))
    }
}

fn baselines(has_twin: bool) -> &'static str {
    if has_twin { "baseline and twin" } else { "baseline" }
}

/// A machine that stands still at random hits every path alike: no path is told apart from itself.
#[test]
fn a_machine_that_stands_still_raises_no_false_alarms() {
    tell("| A/A called, %: trials that stand still | 4 | 8 | 18 | 60 rounds |");
    for has_twin in [false, true] {
        for stalls in [0.02, 0.05, 0.2] {
            let mut line = format!("| against {}: {stalls} |", baselines(has_twin));
            for (rounds, comparisons) in [(4, 2000), (8, 2000), (18, 1000), (60, 400)] {
                let machine = Stalls {
                    rounds,
                    has_twin,
                    stalls,
                    drops: 0.0,
                    left: 0.0,
                    factor: 1.0,
                    scatter: 0.05,
                };
                let [lower, higher, _] = machine.judged(comparisons);
                line += &format!(" {:.1} |", 100.0 * (lower + higher));
                // So many comparisons know 5 % to this, and neither direction is preferred.
                let error = (0.05 * 0.95 / f64::from(comparisons)).sqrt();
                assert!(lower + higher <= 0.05 + 3.0 * error, "{machine:?}: {lower} {higher}");
                assert!((lower - higher).abs() <= 4.0 * error, "{machine:?}: {lower} {higher}");
            }
            tell(&line);
        }
    }
}

/// Rounds in which the machine stood still take little from what the others show.
#[test]
fn a_difference_is_found_on_a_machine_that_stands_still_at_times() {
    tell("| 5 % found, %: trials that stand still | 18 | 60 rounds |");
    for has_twin in [false, true] {
        for stalls in [0.0, 0.02, 0.05] {
            let mut line = format!("| against {}: {stalls} |", baselines(has_twin));
            for rounds in [18, 60] {
                let machine = Stalls {
                    rounds,
                    has_twin,
                    stalls,
                    drops: 0.0,
                    left: 0.0,
                    factor: 1.05,
                    scatter: 0.05,
                };
                let [lower, higher, _] = machine.judged(300);
                line += &format!(" {:.1} |", 100.0 * higher);
                assert!(lower <= 0.01, "{machine:?}: {lower} in the wrong direction");
                assert!(rounds < 60 || higher >= 0.9, "{machine:?}: {higher}");
            }
            tell(&line);
        }
    }
}

/// A path that carries nothing in every tenth trial, and else as much as its baseline. It is never
/// better. With enough rounds it is worse, or else not the same.
#[test]
fn a_path_that_carries_nothing_at_times_is_not_as_good_as_its_baseline() {
    tell("| nothing in 10 % of trials | lower, % | higher, % | same, % |");
    for has_twin in [false, true] {
        for (rounds, comparisons) in [(60, 400), (200, 200)] {
            let path = Stalls {
                rounds,
                has_twin,
                stalls: 0.0,
                drops: 0.1,
                left: 0.0,
                factor: 1.0,
                scatter: 0.02,
            };
            let [lower, higher, same] = path.judged(comparisons);
            tell(&format!(
                "| {rounds} rounds, {} | {:.1} | {:.1} | {:.1} |",
                baselines(has_twin),
                100.0 * lower,
                100.0 * higher,
                100.0 * same
            ));
            assert!(higher <= 0.01, "{path:?}: {higher}");
            // By chance it carries nothing in at most 5 % of 60 rounds in 14 % of cases.
            assert!(same <= if rounds == 60 { 0.2 } else { 0.03 }, "{path:?}: {same}");
            let least = if has_twin { 0.7 } else { 0.5 };
            assert!(rounds == 60 || lower >= least, "{path:?}: {lower}");
        }
    }
}

/// A path that carries 30 % in some of its trials, and else as much as its baseline. Its median is
/// that of the baseline, and all rounds together are not.
#[test]
fn a_path_that_is_bad_at_times_is_not_the_same() {
    tell("| 30 % left in 17 % of trials | lower, % | higher, % | same, % |");
    for has_twin in [false, true] {
        for (rounds, comparisons) in [(30, 400), (60, 400), (200, 200)] {
            let stalls = Stalls {
                rounds,
                has_twin,
                stalls: 0.0,
                drops: 0.17,
                left: 0.3,
                factor: 1.0,
                scatter: 0.02,
            };
            let [lower, higher, same] = stalls.judged(comparisons);
            tell(&format!(
                "| {rounds} rounds, {} | {:.1} | {:.1} | {:.1} |",
                baselines(has_twin),
                100.0 * lower,
                100.0 * higher,
                100.0 * same
            ));
            assert!(higher <= 0.01, "{stalls:?}: {higher}");
            // By chance at most 2 of 30 trials are bad in 10 % of cases, and 4 of 60 in 2 %.
            let most = if rounds == 30 { 0.16 } else { 0.05 };
            assert!(same <= most, "{stalls:?}: {same}");
        }
    }
}
