//! The coverage of intervals of a fixed number of rounds.

use hopbench_stats::{Histogram, Random, pooled_percentile, rounds_interval};

use super::noise::{INDEPENDENT, Noise, normal, window};
use super::tell;

const ROUNDS: [usize; 9] = [3, 4, 5, 6, 7, 8, 10, 15, 20];
const CELLS: usize = 1000;

#[test]
fn an_interval_of_rounds_holds_the_truth_in_93_to_97_percent_of_cells() {
    tell("| noise | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 15 | 20 rounds |");
    for noise in INDEPENDENT.into_iter().chain([Noise::Persistent]) {
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
            let least = if noise == Noise::Persistent { 0.86 } else { 0.93 };
            assert!((least..=0.975).contains(&share), "{noise:?}, {rounds} rounds: {share}");
        }
        let mean = sum / ROUNDS.len() as f64;
        if noise != Noise::Persistent {
            assert!((0.94..=0.965).contains(&mean), "{noise:?}: {mean} on average");
        }
        tell(&line);
    }
}

/// The histograms of the intervals of a round: exponential response times around a level that moves.
fn histograms(effect: f64, random: &mut Random) -> Vec<Histogram> {
    let one = |level: f64, random: &mut Random| {
        let mut out = Histogram::new();
        for _ in 0..40 {
            out.record((-1e6 * (level + effect).exp() * random.unit().ln()) as u64);
        }
        out
    };
    let levels: Vec<f64> = window(random, false);
    levels.into_iter().map(|level| one(3.0 * level, random)).collect()
}

#[test]
fn a_pooled_percentile_holds_the_truth_too() {
    tell("| pooled p90: round effects | 1 | 3 | 5 | 10 rounds |");
    for spread in [0.0, 0.1] {
        let mut random = Random::new(17);
        let truth = {
            let rounds: Vec<Vec<Histogram>> =
                (0..1500).map(|_| histograms(spread * normal(&mut random), &mut random)).collect();
            let mut all = Histogram::new();
            rounds.iter().flatten().for_each(|histogram| all.merge(histogram));
            all.percentile(90.0) as f64
        };
        let mut line = format!("| {} % |", 100.0 * spread);
        for rounds in [1usize, 3, 5, 10] {
            let cells = if rounds == 1 { 300 } else { 200 };
            let held = (0..cells).filter(|cell| {
                let round = |_| histograms(spread * normal(&mut random), &mut random);
                let cell_rounds: Vec<Vec<Histogram>> = (0..rounds).map(round).collect();
                let found = pooled_percentile(&cell_rounds, 90.0, 150, *cell).unwrap();
                found.interval.is_some_and(|interval| interval.contains(truth))
            });
            let share = held.count() as f64 / cells as f64;
            line += &format!(" {:.1} |", 100.0 * share);
            // Of a single round only what changes within it is known.
            if rounds == 1 && spread > 0.0 {
                assert!(share < 0.9, "{share}: then the note that it is one round only would be needless");
            } else {
                assert!((0.90..=0.995).contains(&share), "{spread}, {rounds} rounds: {share}");
            }
        }
        tell(&line);
    }
}
