//! The noise of a path that was measured twice.

use hopbench_model::{Record, Via};
use hopbench_report::campaign::{Noise, noise_page};
use hopbench_stats::summary::{mean, median};
use serde_json::json;

use super::fixture::{self, Made, costs_of};

/// A path and its twin; nobody calls the second path a baseline.
fn twice(rounds: u32) -> Made {
    let paths = ["once", "again"]
        .map(|name| fixture::path(name, ("bridge", "a"), ("bridge", "b"), Via::Direct))
        .to_vec();
    let schedule = hopbench_model::Schedule::Rate(2000.0);
    let points = vec![
        fixture::point(
            "stream",
            &[],
            fixture::job("stream", json!({}), hopbench_model::Schedule::Closed, 4),
        ),
        fixture::point("http", &[], fixture::job("http", json!({}), schedule, 16)),
    ];
    let mut run = fixture::run("noise", paths, points, rounds, Some("once"));
    run.spent_ns = 30_000_000_000;
    run.plan.twin = Some("again".to_owned());
    fixture::measured(run, |_| costs_of("bridge"))
}

fn received(made: &Made, path: &str) -> Vec<f64> {
    let of = |record: &&Record| record.path == path && record.workload == "stream";
    made.records.iter().filter(of).map(|record| record.metrics["received_bits_per_s"]).collect()
}

#[test]
fn its_figures_are_those_of_the_records() {
    let made = twice(9);
    let noise = Noise::of(&made.run, &made.records).unwrap();
    let names: Vec<_> =
        noise.figures.iter().map(|figure| (figure.workload.as_str(), figure.label)).collect();
    let expected = [
        ("stream", "received"),
        ("stream", "CPU/KiB"),
        ("http", "response p50"),
        ("http", "response p99"),
        ("http", "CPU/req"),
    ];
    assert_eq!(names, expected, "what was asked for is no figure");
    assert_eq!((noise.rounds, noise.window_s), (9, 2.0));
    let (once, again) = (received(&made, "once"), received(&made, "again"));
    let ratios: Vec<f64> = again.iter().zip(&once).map(|(again, once)| again / once).collect();
    // The median of all means of two of their logarithms.
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let means: Vec<f64> = logs
        .iter()
        .enumerate()
        .flat_map(|(at, one)| logs[at..].iter().map(move |other| f64::midpoint(*one, *other)))
        .collect();
    let ratio = median(&means).unwrap().exp();
    let figure = &noise.figures[0];
    assert!((figure.ratio - ratio).abs() < 1e-12, "{figure:?}");
    assert!((figure.noise_floor - (ratio.ln().abs().exp() - 1.0)).abs() < 1e-12, "{figure:?}");
    let share = |values: &[f64]| {
        let centre = mean(values).unwrap();
        (values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / 8.0).sqrt() / centre
    };
    let expected = ((share(&once).powi(2) + share(&again).powi(2)) / 2.0).sqrt();
    assert!((figure.variation - expected).abs() < 1e-12, "{figure:?}, not {expected}");
    // The noise of the fixture is within 2 % each: nothing is told apart, and 8 % would not have
    // been missed.
    assert!(
        !figure.differs && figure.could_have_seen.is_some_and(|seen| (0.005..0.08).contains(&seen)),
        "{figure:?}"
    );
    // Half of the 30 s were for this workload.
    let now = figure.could_have_seen.unwrap().ln_1p();
    let [one, five] = [1, 5].map(|minutes| figure.in_minutes[&minutes].ln_1p());
    assert!((now / one - 2.0).abs() < 1e-9, "four times the time sees half");
    assert!((one / five - 5.0_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn who_else_was_busy_is_said() {
    let mut made = twice(6);
    for record in &mut made.records {
        record.cost.client.insert("cores".to_owned(), 0.5);
        record.cost.server.insert("cores".to_owned(), 0.25);
        record.metrics.insert("overhead_cores".to_owned(), 0.05);
        for node in &mut record.cost.nodes {
            (node.busy_cores, node.softirq_cores, node.steal_cores) = (2.25, 0.375, 0.25);
        }
        for (name, fact) in
            [("cpu_governor", "powersave"), ("cpu_boost", "1"), ("cpu_smt_active", "0")]
        {
            record.environment.client.insert(name.to_owned(), fact.to_owned());
        }
    }
    let noise = Noise::of(&made.run, &made.records).unwrap();
    let machine = &noise.machine;
    assert_eq!((machine.cpus, machine.one_machine), (8, true));
    assert_eq!(machine.steal_share, Some(0.25 / 8.0));
    // 2.25 busy less 0.25 stolen and 0.75 of the ends; packets and the conductor may be in that or
    // not.
    assert_eq!(machine.others_most_cores, Some(1.25));
    assert!((machine.others_least_cores.unwrap() - (1.25 - 0.375 - 0.05)).abs() < 1e-12);
    let begins: Vec<_> =
        noise.limits.iter().map(|limit| limit.split([',', ':']).next().unwrap()).collect();
    assert_eq!(
        begins,
        [
            "steal 3.12 %",
            "0.82 cores were busy with other programs",
            "governor powersave",
            "turbo is on"
        ],
        "worst first"
    );
}

#[test]
fn a_machine_that_gets_slower_is_told() {
    let mut made = twice(8);
    for record in &mut made.records {
        let slow = 1.0 + 0.1 * f64::from(record.round - 1) / 7.0;
        record.metrics.entry("received_bits_per_s".to_owned()).and_modify(|rate| *rate /= slow);
        for latency in record.latency.values_mut() {
            latency.p50 = (latency.p50 as f64 * slow) as u64;
        }
    }
    let noise = Noise::of(&made.run, &made.records).unwrap();
    let drift = noise.drift.unwrap();
    assert!((0.05..0.15).contains(&drift.slower) && drift.slower_p < 0.01, "{drift:?}");
    assert!(
        noise.limits[0].starts_with("the last rounds were ")
            && noise.limits[0].contains(" slower than"),
        "{noise:?}"
    );
    assert_eq!(Noise::of(&made.run, &[]), None);
    let few: Vec<Record> =
        made.records.iter().filter(|record| record.round <= 4).cloned().collect();
    assert_eq!(Noise::of(&made.run, &few).unwrap().drift, None, "4 rounds show none");
}

#[test]
fn what_takes_twice_as_long_is_half_as_fast() {
    for (factor, slower) in [(2.0f64, 0.5), (4.0, 0.75), (0.5, -1.0)] {
        let mut made = twice(9);
        for record in &mut made.records {
            let slow = factor.powf(f64::from(record.round - 1) / 8.0);
            record.metrics.entry("received_bits_per_s".to_owned()).and_modify(|rate| *rate /= slow);
            for latency in record.latency.values_mut() {
                latency.p50 = (latency.p50 as f64 * slow) as u64;
            }
        }
        let noise = Noise::of(&made.run, &made.records).unwrap();
        let drift = noise.drift.unwrap();
        assert!((drift.slower - slower).abs() < 0.05, "{factor}: {drift:?}");
        // Of a rate, what is left of it; of a latency, by how much it grew.
        let moved = |at: usize| noise.figures[at].moved.unwrap();
        assert!((moved(0) / (1.0 / factor - 1.0) - 1.0).abs() < 0.1, "{factor}: {}", moved(0));
        assert!((moved(2) / (factor - 1.0) - 1.0).abs() < 0.1, "{factor}: {}", moved(2));
    }
}

#[test]
fn a_round_in_which_the_testbed_changed_is_in_no_figure() {
    let told = |noise: &Noise| noise.drift.map(|drift| (drift.slower, drift.slower_p));
    let made = twice(12);
    let mut other = twice(12);
    // Both paths got slower and slower from round 7 on, while a neighbour was moved.
    for record in other.records.iter_mut().filter(|record| record.round > 6) {
        let slower = 1.0 - 0.05 * f64::from(record.round - 6);
        record.metrics.values_mut().for_each(|value| *value *= slower);
        record.testbed_changed = Some("pod x came to node b".to_owned());
        record.window_s = 9.0;
    }
    let kept: Vec<Record> =
        made.records.iter().filter(|record| record.round <= 6).cloned().collect();
    let [without, with] =
        [&kept, &other.records].map(|records| Noise::of(&made.run, records).unwrap());
    assert_eq!(told(&with), told(&without), "the trend is that of the quiet rounds");
    assert_eq!((with.rounds, with.window_s), (6, 2.0));
    assert_eq!((with.figures, with.machine), (without.figures, without.machine));
}

#[test]
fn a_path_that_differs_from_itself_is_marked() {
    let mut made = twice(9);
    for record in made.records.iter_mut().filter(|record| record.path == "again") {
        record.metrics.entry("received_bits_per_s".to_owned()).and_modify(|rate| *rate *= 0.8);
    }
    let noise = Noise::of(&made.run, &made.records).unwrap();
    assert!(noise.figures[0].differs && !noise.figures[2].differs);
    // What it could have seen does not depend on what it saw.
    let plain = twice(9);
    let plain = Noise::of(&plain.run, &plain.records).unwrap();
    let seen = |noise: &Noise| noise.figures[0].could_have_seen.unwrap();
    assert!((seen(&noise) / seen(&plain) - 1.0).abs() < 1e-9);
    assert!(
        noise_page(&noise)
            .lines()
            .any(|line| line.starts_with("  stream received") && line.contains("]!"))
    );
    assert!(!noise_page(&plain).contains('!'), "{}", noise_page(&plain));
}

#[test]
fn the_page_has_80_columns_and_all_of_it() {
    for rounds in [1, 3, 10, 12] {
        let made = twice(rounds);
        let noise = Noise::of(&made.run, &made.records).unwrap();
        let page = noise_page(&noise);
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for figure in &noise.figures {
            let rows = page.lines().filter(|line| {
                line.starts_with(&format!("  {} {} ", figure.workload, figure.label))
            });
            assert_eq!(rows.count(), 2, "{page}");
        }
        assert!(page.contains(&format!("{rounds} round")), "{page}");
        assert!(noise.limits.iter().all(|limit| page.contains(&limit[..20])), "{page}");
        // Of one round there is no interval and nothing that could be seen.
        assert_eq!(noise.figures[0].low.is_none(), rounds == 1);
        assert_eq!(noise.figures[0].could_have_seen.is_none(), rounds < 3);
    }
}
