//! The coverage of intervals of a fixed number of rounds.

use hopbench_stats::{Random, rounds_interval};

use super::noise::{INDEPENDENT, Noise};
use super::tell;

const ROUNDS: [usize; 9] = [3, 4, 5, 6, 7, 8, 10, 15, 20];
const CELLS: usize = 1000;

#[test]
fn an_interval_of_rounds_holds_the_truth_in_93_to_97_percent_of_cells() {
    tell("| noise | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 15 | 20 rounds |");
    for noise in INDEPENDENT.into_iter().chain([0.3, 0.6].map(Noise::Persistent)) {
        let truth = noise.truth();
        let mut random = Random::new(41);
        let mut line = format!("| {noise:?} |");
        let mut sum = 0.0;
        for rounds in ROUNDS {
            let held = (0..CELLS).filter(|_| {
                let interval = rounds_interval(&noise.cell(rounds, &mut random), 0.95);
                interval.is_some_and(|interval| interval.contains(truth))
            });
            let share = held.count() as f64 / CELLS as f64;
            sum += share;
            line += &format!(" {:.1} |", 100.0 * share);
            // 1000 cells know a share to 0.7 %: the bounds are those of the claim.
            let least = match noise {
                Noise::Persistent(with) => 1.0 - 0.5 * with,
                _ => 0.93,
            };
            assert!((least..=0.975).contains(&share), "{noise:?}, {rounds} rounds: {share}");
        }
        let mean = sum / ROUNDS.len() as f64;
        if !matches!(noise, Noise::Persistent(_)) {
            assert!((0.94..=0.965).contains(&mean), "{noise:?}: {mean} on average");
        }
        tell(&line);
    }
}
