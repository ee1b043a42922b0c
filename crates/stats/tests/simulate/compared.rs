//! The errors of comparisons, and their power.

use std::time::Instant;

use hopbench_stats::{
    Evidence, Judgement, PooledRounds, Question, Random, RoundPair, judge, paired, unpaired,
};

use super::noise::{Noise, heavy, normal};
use super::tell;

fn plain(evidence: Evidence) -> Question {
    Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 }
}

fn called(judgement: Judgement) -> bool {
    matches!(judgement, Judgement::Higher | Judgement::Lower)
}

/// A path and a baseline that share what their rounds have, and differ by a factor.
fn pairs(noise: Noise, rounds: usize, factor: f64, random: &mut Random) -> Vec<(f64, f64)> {
    let shared = noise.effects(rounds, random);
    // What persists is the machine, which both share.
    let own = if matches!(noise, Noise::Persistent(_)) { Noise::Window } else { noise };
    let (a, b) = (own.cell(rounds, random), own.cell(rounds, random));
    let one = |((a, b), shared): ((f64, f64), f64)| (factor * a * shared.exp(), b * shared.exp());
    a.into_iter().zip(b).zip(shared).map(one).collect()
}

/// Both with a noise of 2 %.
fn quiet(
    rounds: usize,
    factor: f64,
    tails: fn(&mut Random) -> f64,
    random: &mut Random,
) -> Vec<(f64, f64)> {
    let mut one = |level: f64| level * (0.02 * tails(random)).exp();
    (0..rounds).map(|_| (one(100.0 * factor), one(100.0))).collect()
}

#[test]
fn the_same_thing_twice_is_told_apart_in_at_most_5_percent() {
    tell("| A/A called, % | 3 | 5 | 7 | 8 | 12 | 20 rounds |");
    for noise in [
        Noise::Window,
        Noise::HeavyRounds,
        Noise::SlowRounds,
        Noise::SkewedRounds,
        Noise::Persistent(0.3),
    ] {
        let mut random = Random::new(23);
        let (mut line, mut sum) = (format!("| {noise:?} |"), 0.0);
        for rounds in [3, 5, 7, 8, 12, 20] {
            let cells = 3000;
            let found = (0..cells).filter(|_| {
                let evidence = paired(&pairs(noise, rounds, 1.0, &mut random)).unwrap();
                called(judge(&[plain(evidence)])[0].judgement)
            });
            let share = found.count() as f64 / f64::from(cells);
            sum += share / 6.0;
            line += &format!(" {:.1} |", 100.0 * share);
            // 3000 comparisons know 5 % to 0.4 %.
            assert!(share <= 0.058, "{noise:?}, {rounds} rounds: {share}");
        }
        assert!(
            (0.015..=0.05).contains(&sum),
            "{noise:?}: {sum} on average: a test that calls nothing is none"
        );
        tell(&line);
    }
}

#[test]
fn a_difference_of_5_percent_is_found_through_2_percent_of_noise() {
    tell("| 5 % found through 2 %, % | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 12 rounds |");
    for (name, tails) in [("Normal", normal as fn(&mut Random) -> f64), ("Heavy", heavy)] {
        let mut random = Random::new(5);
        let mut line = format!("| {name} |");
        for rounds in [3, 4, 5, 6, 7, 8, 10, 12] {
            let found = (0..1000).filter(|_| {
                let evidence = paired(&quiet(rounds, 1.05, tails, &mut random)).unwrap();
                judge(&[plain(evidence)])[0].judgement == Judgement::Higher
            });
            let share = found.count() as f64 / 1000.0;
            line += &format!(" {:.1} |", 100.0 * share);
            assert!(rounds < 8 || share >= 0.95, "{name}, {rounds} rounds: {share}");
        }
        tell(&line);
    }
}

#[test]
fn of_many_comparisons_few_of_the_called_are_false() {
    let mut random = Random::new(31);
    for (rounds, truly) in [(5, 0), (10, 0), (5, 20), (10, 20)] {
        let (mut false_share, mut any, mut found) = (0.0, 0, 0);
        let runs = 100;
        for _ in 0..runs {
            // 60 cells, of which some are truly 8 % dearer.
            let one = |cell: u64, random: &mut Random| {
                let factor = if cell < truly { 1.08 } else { 1.0 };
                plain(paired(&quiet(rounds, factor, normal, random)).unwrap())
            };
            let questions: Vec<Question> = (0..60).map(|cell| one(cell, &mut random)).collect();
            let said: Vec<bool> =
                judge(&questions).iter().map(|found| called(found.judgement)).collect();
            let all = said.iter().filter(|said| **said).count();
            let right = said[..truly as usize].iter().filter(|said| **said).count();
            false_share += (all - right) as f64 / all.max(1) as f64 / runs as f64;
            any += usize::from(all > 0);
            found += right;
        }
        tell(&format!(
            "| 60 cells, {truly} differ by 8 %, {rounds} rounds | false {:.1} % | found {found} of \
             {} |",
            100.0 * false_share,
            truly * runs
        ));
        assert!(false_share <= 0.075, "{rounds} rounds, {truly}: {false_share}");
        if truly == 0 {
            assert!(any <= 11, "in {any} of {runs} runs something was called");
        } else {
            assert!(rounds < 10 || found as u64 >= truly * runs * 95 / 100, "{found}");
        }
    }
}

#[test]
fn what_could_have_been_seen_is_seen_in_about_80_percent() {
    for rounds in [4usize, 6, 8, 12, 20] {
        let mut random = Random::new(9);
        let mut seen = Vec::new();
        for _ in 0..400 {
            let evidence = paired(&quiet(rounds, 1.0, normal, &mut random)).unwrap();
            seen.push(evidence.could_have_seen().unwrap());
        }
        let typical = hopbench_stats::summary::median(&seen).unwrap();
        let found = (0..400).filter(|_| {
            let evidence = paired(&quiet(rounds, 1.0 + typical, normal, &mut random)).unwrap();
            called(judge(&[plain(evidence)])[0].judgement)
        });
        let power = found.count() as f64 / 400.0;
        tell(&format!(
            "| {rounds} rounds could have seen {:.1} % | seen in {:.1} % |",
            100.0 * typical,
            100.0 * power
        ));
        assert!((0.68..=0.92).contains(&power), "{rounds} rounds, {typical}: {power}");
    }
}

#[test]
fn unpaired_sets_hold_their_ratio_and_err_seldom() {
    tell("| unpaired: rounds | interval holds, % | A/A called, % | 5 % found, % |");
    for (n, m) in [(3, 3), (5, 5), (6, 6), (8, 8), (8, 15), (20, 20)] {
        let mut random = Random::new(13);
        let mut set = |n: usize, level: f64, spread: f64| {
            (0..n).map(|_| level * (0.02 * spread * heavy(&mut random)).exp()).collect::<Vec<_>>()
        };
        let cells = 600;
        let (mut held, mut wrong, mut right) = (0, 0, 0);
        for _ in 0..cells {
            // The second scatters more than the first.
            let same = unpaired(&set(n, 100.0, 1.0), &set(m, 100.0, 1.5)).unwrap();
            held += usize::from(same.interval.is_some_and(|interval| interval.contains(1.0)));
            wrong += usize::from(called(judge(&[plain(same)])[0].judgement));
            let other = unpaired(&set(n, 105.0, 1.0), &set(m, 100.0, 1.0)).unwrap();
            right += usize::from(judge(&[plain(other)])[0].judgement == Judgement::Higher);
        }
        let share = |count: usize| count as f64 / f64::from(cells);
        tell(&format!(
            "| {n}, {m} | {:.1} | {:.1} | {:.1} |",
            100.0 * share(held),
            100.0 * share(wrong),
            100.0 * share(right)
        ));
        // From 6 rounds on two tests must agree, so it holds a little more.
        assert!((0.925..=0.99).contains(&share(held)), "{n}, {m}: {}", share(held));
        assert!(share(wrong) <= 0.065, "{n}, {m}: {}", share(wrong));
        assert!(n < 8 || share(right) > 0.95, "{n}, {m}: {}", share(right));
    }
}

/// Of 60 comparisons 40 differ by 2 %, and less than 2.5 or 3 % is of no interest: only what looks
/// larger than it is can be called, and few intervals are false all the same.
#[test]
fn a_minimum_effect_makes_no_more_intervals_false() {
    for minimum_effect in [0.025, 0.03] {
        let mut random = Random::new(41);
        let (mut rates, runs) = (0.0, 200);
        for _ in 0..runs {
            let truths: Vec<f64> = (0..60).map(|cell| if cell < 40 { 1.02 } else { 1.0 }).collect();
            let one = |truth: &f64, random: &mut Random| Question {
                minimum_effect,
                ..plain(paired(&quiet(20, *truth, normal, random)).unwrap())
            };
            let questions: Vec<Question> =
                truths.iter().map(|truth| one(truth, &mut random)).collect();
            let found = judge(&questions);
            let shown = found.iter().zip(&truths).filter(|(found, _)| called(found.judgement));
            let missed =
                shown.clone().filter(|(found, truth)| !found.interval.unwrap().contains(**truth));
            rates += missed.count() as f64 / shown.count().max(1) as f64 / f64::from(runs);
        }
        tell(&format!(
            "| minimum effect {minimum_effect} | intervals false {:.1} % |",
            100.0 * rates
        ));
        assert!(rates <= 0.06, "{minimum_effect}: {rates}");
    }
}

/// Of 60 comparisons 30 differ by 0 to 6 %, through 2 to 10 % of noise. How often an interval next
/// to a difference, and one next to `same within`, leave out the truth.
#[test]
fn of_the_intervals_that_are_shown_few_are_false() {
    tell("| rounds | different | their intervals false, % | same | false, % | not decided |");
    for (rounds, tails) in
        [(5, normal as fn(&mut Random) -> f64), (10, normal), (20, heavy), (40, heavy)]
    {
        let mut random = Random::new(17);
        // Of each judgement: how many, and how many intervals are false. A share of a run's, as the
        // false coverage rate is one on average over runs.
        let (mut counts, mut rates, mut wrong_same) = ([0usize; 3], 0.0, 0usize);
        let runs = 200;
        for _ in 0..runs {
            let truths: Vec<f64> = (0..60)
                .map(|cell| if cell < 30 { 1.0 } else { 1.0 + 0.06 * random.unit() })
                .collect();
            let questions: Vec<Question> = truths
                .iter()
                .map(|truth| {
                    let spread = 0.02 + 0.08 * random.unit();
                    let mut value = |level: f64| level * (spread * tails(&mut random)).exp();
                    let pairs: Vec<_> = (0..rounds).map(|_| (value(*truth), value(1.0))).collect();
                    plain(paired(&pairs).unwrap())
                })
                .collect();
            let (mut shown, mut missed) = (0u32, 0u32);
            for (found, truth) in judge(&questions).iter().zip(&truths) {
                let misses = !found.interval.unwrap().contains(*truth);
                match found.judgement {
                    Judgement::Higher | Judgement::Lower => {
                        counts[0] += 1;
                        shown += 1;
                        missed += u32::from(misses);
                    }
                    Judgement::Same { .. } => {
                        counts[1] += 1;
                        wrong_same += usize::from(misses);
                    }
                    _ => counts[2] += 1,
                }
            }
            rates += f64::from(missed) / f64::from(shown.max(1)) / f64::from(runs);
        }
        let wrong_same = wrong_same as f64 / counts[1].max(1) as f64;
        tell(&format!(
            "| {rounds} | {} | {:.1} | {} | {:.1} | {} |",
            counts[0],
            100.0 * rates,
            counts[1],
            100.0 * wrong_same,
            counts[2]
        ));
        assert!(rates <= 0.06 && wrong_same <= 0.055, "{rounds}: {rates}, {wrong_same}");
        assert!(rounds < 20 || (counts[0] > 100 && counts[1] > 100), "{counts:?}");
    }
}

/// What is said to decide a comparison decides it in four of five cases or more.
#[test]
fn the_rounds_that_are_asked_for_are_about_enough() {
    let mut random = Random::new(29);
    for factor in [1.0, 1.03, 1.04, 1.06, 1.1] {
        let (mut asked, mut enough) = (0, 0);
        for _ in 0..300 {
            let mut pairs = |rounds: usize| -> Vec<(f64, f64)> {
                let mut one = |level: f64| level * (0.08 * normal(&mut random)).exp();
                (0..rounds).map(|_| (one(factor), one(1.0))).collect()
            };
            let mut all = pairs(12);
            let first = judge(&[plain(paired(&all).unwrap())])[0].judgement;
            let Judgement::NotDecided { more_rounds: Some(more) } = first else { continue };
            asked += 1;
            all.extend(pairs(more));
            let second = judge(&[plain(paired(&all).unwrap())])[0].judgement;
            let is_open = matches!(second, Judgement::NotDecided { .. } | Judgement::Uneven);
            enough += usize::from(!is_open);
        }
        let share = enough as f64 / f64::from(asked);
        tell(&format!("| {factor} apart: {asked} of 300 were open, enough rounds in {share:.2} |"));
        assert!(share > 0.75 && asked > 50, "{factor}: {share} of {asked}");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test of how long it takes, in a crate that knows no clock"
)]
fn now() -> Instant {
    Instant::now()
}

/// 10 000 records with 10 000 resamples; the time is what an issue asks for, so it is told, and
/// bounded loosely.
#[test]
fn ten_thousand_records_are_compared_in_seconds() {
    let mut random = Random::new(2);
    let cells: Vec<_> = (0..500).map(|_| quiet(20, 1.0, normal, &mut random)).collect();
    let started = now();
    let questions: Vec<Question> =
        cells.iter().map(|pairs| plain(paired(pairs).unwrap())).collect();
    let said = judge(&questions).iter().filter(|found| called(found.judgement)).count();
    let compared = started.elapsed();
    // And a percentile of all rounds of a cell together, with as many resamples.
    let rounds: Vec<Vec<hopbench_stats::Histogram>> = (0..20)
        .map(|_| {
            let mut one = hopbench_stats::Histogram::new();
            (0..2000).for_each(|_| one.record((1e6 * (0.3 * normal(&mut random)).exp()) as u64));
            vec![one]
        })
        .collect();
    let started = now();
    let pooled = PooledRounds::of(rounds).percentile(99.0, 10_000, 1).unwrap();
    tell(&format!(
        "| 10 000 records, {said} called | {compared:.2?} | one pooled percentile {:.2?} |",
        started.elapsed()
    ));
    assert!(said <= 5 && pooled.interval.is_some());
    assert!(compared.as_secs() < 30, "{compared:?}");
}

/// A path whose baseline is measured twice in each round, with noise of one trial that is the same
/// for all three.
fn with_twin(
    rounds: usize,
    factor: f64,
    noise: fn(&mut Random) -> f64,
    random: &mut Random,
) -> Vec<RoundPair> {
    let mut one = |level: f64| level * noise(random).exp();
    let pair =
        |_| RoundPair { value: one(100.0 * factor), baseline: one(100.0), twin: Some(one(100.0)) };
    (0..rounds).map(pair).collect()
}

/// Most trials are a little fast, a few far slower.
fn skewed(random: &mut Random) -> f64 {
    -0.1 * random.unit().ln()
}

#[test]
fn a_baseline_that_is_measured_twice_is_told_apart_as_rarely() {
    tell("| against baseline and twin | 8 | 18 | 60 | 200 rounds |");
    type Scatter = fn(&mut Random) -> f64;
    let noises: [(&str, Scatter); 4] = [
        ("normal", |random| 0.05 * normal(random)),
        ("heavy tails", |random| 0.05 * heavy(random)),
        ("skewed", skewed),
        ("one in ten far slower", |random| {
            0.02 * normal(random) + if random.unit() < 0.1 { 0.3 } else { 0.0 }
        }),
    ];
    let called = |pairs: &[RoundPair]| called(judge(&[plain(paired(pairs).unwrap())])[0].judgement);
    for (name, noise) in noises {
        let mut random = Random::new(41);
        let mut lines = ["A/A called", "by their mean", "5 % found", "by their mean"]
            .map(|what| format!("| {name}, {what}, % |"));
        for (rounds, cells) in [(8, 1000), (18, 1000), (60, 1000), (200, 400)] {
            let mut found = [0; 4];
            for _ in 0..cells {
                for (at, factor) in [1.0, 1.05].into_iter().enumerate() {
                    let pairs = with_twin(rounds, factor, noise, &mut random);
                    found[2 * at] += u32::from(called(&pairs));
                    let mean = |pair: &RoundPair| (pair.baseline * pair.twin.unwrap()).sqrt();
                    let means: Vec<RoundPair> =
                        pairs.iter().map(|pair| (pair.value, mean(pair)).into()).collect();
                    found[2 * at + 1] += u32::from(called(&means));
                }
            }
            for (line, found) in lines.iter_mut().zip(found) {
                *line += &format!(" {:.1} |", 100.0 * f64::from(found) / f64::from(cells));
            }
            let share = f64::from(found[0]) / f64::from(cells);
            // 400 comparisons know 5 % to 1.1 %.
            assert!((0.02..=0.075).contains(&share), "{name}, {rounds} rounds: {share}");
            assert!(found[2] + 20 >= found[3], "{name}, {rounds} rounds: {found:?} are found");
        }
        lines.iter().for_each(|line| tell(line));
    }
}
