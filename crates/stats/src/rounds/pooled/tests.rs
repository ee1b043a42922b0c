use proptest::prelude::*;

use super::*;

fn of(values: &[u64]) -> Histogram {
    let mut out = Histogram::new();
    values.iter().for_each(|value| out.record(*value));
    out
}

fn pooled_percentile(
    rounds: &[Vec<Histogram>],
    p: f64,
    resamples: usize,
    seed: u64,
) -> Option<Pooled> {
    PooledRounds::of(rounds.iter().cloned()).percentile(p, resamples, seed)
}

#[test]
fn equal_rounds_have_no_spread_and_unequal_have_some() {
    let round = || vec![of(&(1..=1000).map(|i| i * 1000).collect::<Vec<_>>())];
    let same = pooled_percentile(&[round(), round(), round()], 99.0, 200, 1).unwrap();
    assert!(same.interval.is_some_and(|i| i.high - i.low < 1.0) && same.rounds == 3, "{same:?}");
    let slow = vec![of(&(1..=1000).map(|i| i * 1500).collect::<Vec<_>>())];
    let apart = pooled_percentile(&[round(), slow, round()], 50.0, 200, 1).unwrap();
    assert!(apart.interval.is_some_and(|i| i.high > 1.1 * i.low), "{apart:?}");
    assert_eq!(pooled_percentile(&[vec![Histogram::new()]], 50.0, 10, 1), None);
    assert_eq!(pooled_percentile(&[], 50.0, 10, 1), None);
}

#[test]
fn one_round_knows_itself_only_and_says_so() {
    let intervals =
        |n: u64| (0..n).map(|i| of(&[1000 + i * 10, 2000 + i * 10, 3000])).collect::<Vec<_>>();
    let one = pooled_percentile(&[intervals(12)], 50.0, 200, 1).unwrap();
    assert!(one.within_one_round && one.interval.is_some_and(|i| i.low < i.high), "{one:?}");
    assert_eq!(pooled_percentile(&[intervals(3)], 50.0, 200, 1).unwrap().interval, None);
    assert_eq!(pooled_percentile(&[intervals(12)], 50.0, 200, 1), Some(one), "the same seed");
}

proptest! {
    #[test]
    fn the_value_is_that_of_the_merged_histogram(
        rounds in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(1u64..10_000_000, 1..20), 1..4),
            1..6,
        ),
        p in 0.1..100.0f64,
    ) {
        let rounds: Vec<Vec<Histogram>> =
            rounds.iter().map(|r| r.iter().map(|v| of(v)).collect()).collect();
        let mut merged = Histogram::new();
        rounds.iter().flatten().for_each(|histogram| merged.merge(histogram));
        let found = pooled_percentile(&rounds, p, 20, 1).unwrap();
        let expected = merged.percentile(p);
        // The upper end of its count, which is within 0.1 %.
        prop_assert!(
            found.value_ns >= expected && found.value_ns as f64 <= 1.001 * expected as f64 + 1.0
        );
        if let Some(interval) = found.interval {
            prop_assert!(interval.contains(found.value_ns as f64) || interval.low >= interval.high);
        }
    }
}

/// Values of the grid in the simulation: 2 % apart.
const PLACES: usize = 600;

fn place(ns: f64) -> usize {
    ((ns.max(1.0).ln() / 1.02f64.ln()) as usize).saturating_sub(400).min(PLACES - 1)
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * random.unit().ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Exponential response times around a level that moves slowly through the 20 intervals of a round.
fn simulated(spread: f64, random: &mut Random) -> Round {
    let effect = spread * normal(random);
    let mut level = normal(random) / 0.8;
    let mut interval = |random: &mut Random| {
        level = 0.6 * level + normal(random);
        let scale = 1e6 * (effect + 0.12 * level).exp();
        let mut counts = vec![0; PLACES];
        (0..40).for_each(|_| counts[place(-scale * random.unit().ln())] += 1);
        counts
    };
    Round::of((0..20).map(|_| interval(random)).collect(), PLACES)
}

#[test]
fn it_holds_the_truth_in_1000_simulated_cells() {
    use std::io::Write;
    let grid: Vec<u64> = (0..PLACES).map(|at| 1.02f64.powi(at as i32 + 401) as u64).collect();
    let mut table = "| pooled p90: round effects | 1 | 2 | 3 | 5 | 10 rounds |\n".to_owned();
    for spread in [0.0, 0.05, 0.15] {
        let mut random = Random::new(17);
        let many: Vec<Vec<u64>> = (0..5000).map(|_| simulated(spread, &mut random).whole).collect();
        let truth = percentile(&many.iter().map(Vec::as_slice).collect::<Vec<_>>(), 90.0).unwrap();
        table += &format!("| {} % |", 100.0 * spread);
        for rounds in [1, 2, 3, 5, 10] {
            let cells = 1000;
            let held = (0..cells).filter(|cell| {
                let cut: Vec<Round> = (0..rounds).map(|_| simulated(spread, &mut random)).collect();
                let found = resampled(&grid, &cut, 90.0, 100, *cell).unwrap();
                found.interval.is_some_and(|interval| interval.contains(grid[truth] as f64))
            });
            let share = held.count() as f64 / cells as f64;
            table += &format!(" {:.1} |", 100.0 * share);
            match rounds {
                // Of a single round only what changes within it is known.
                1 if spread > 0.1 => {
                    assert!(
                        share < 0.8,
                        "{share}: then it needs no note that it is one round only"
                    );
                }
                1 => assert!((0.80..=0.97).contains(&share), "{spread}: {share}"),
                // Where rounds have nothing of their own, few of them seem to have much.
                2 | 3 => {
                    assert!((0.93..=0.995).contains(&share), "{spread}, {rounds} rounds: {share}");
                }
                _ => assert!((0.93..=0.975).contains(&share), "{spread}, {rounds} rounds: {share}"),
            }
        }
        table += "\n";
    }
    let _ = write!(std::io::stdout(), "{table}");
}
