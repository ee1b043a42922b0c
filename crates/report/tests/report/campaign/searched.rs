//! A made-up run of searches: the searches are real, what they see is not.

use hopbench_model::{
    Cell, CpuOf, EQUAL_LOAD, RateRange, Record, RunFile, Schedule, SearchGoal, SearchOutcome,
    SearchSpec, SearchStep, Via,
};
use hopbench_stats::{Ceiling, Highest, Knee, Measurement, Outcome, Search, Why};
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};

pub(crate) const RATES: RateRange = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
pub(crate) const LEVELS: [u32; 6] = [8, 16, 32, 64, 128, 256];

/// The points of the run, by index.
pub(crate) const SLO: usize = 0;
pub(crate) const KNEE: usize = 1;
pub(crate) const CPU: usize = 2;
pub(crate) const LOSSLESS: usize = 3;

/// What a path can do: requests a second at most.
pub(crate) const PATHS: [(&str, f64); 4] =
    [("direct", 20_000.0), ("again", 20_100.0), ("overlay", 14_000.0), ("relay", 110.0)];

/// Four searches on four paths, of which one is nearly the baseline; nothing was measured yet.
pub(crate) fn run() -> RunFile {
    let paths = PATHS
        .map(|(name, _)| fixture::path(name, ("host", "a"), ("bridge", "b"), Via::Direct))
        .into();
    let rated = Schedule::Rate(RATES.lowest_per_s);
    let search = |goal, equal_load| {
        Some(SearchSpec { repeats: 3, equal_load, ..hopbench_model::fixture::search(goal) })
    };
    let mut points = vec![
        fixture::point("web", &[], fixture::job("http", json!({}), rated, 16)),
        fixture::point("pool", &[], fixture::job("http", json!({}), Schedule::Closed, 8)),
        fixture::point(
            "half",
            &[("size", json!("1KiB"))],
            fixture::job("http", json!({}), rated, 16),
        ),
        fixture::point("flood", &[], fixture::job("udp", json!({}), rated, 1)),
    ];
    let slo =
        SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates: RATES, precision: 0.02 };
    points[SLO].search = search(slo, true);
    points[KNEE].search = search(
        SearchGoal::Knee { connections: LEVELS.into(), threads: vec![1, 2], least_growth: 0.05 },
        false,
    );
    points[CPU].search = search(
        SearchGoal::Cpu { of: CpuOf::Node("b".to_owned()), ceiling: 0.6, rates: RATES },
        false,
    );
    points[LOSSLESS].search =
        search(SearchGoal::Lossless { loss_share: 0.001, rates: RATES, precision: 0.01 }, false);
    fixture::run("searches (made up)", paths, points, 3, Some("direct"))
}

/// Where a trial belongs.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) path: usize,
    pub(crate) point: usize,
    pub(crate) goal: &'a str,
    pub(crate) parameter: &'a str,
    pub(crate) figure: &'a str,
}

/// The record of a trial of a search.
pub(crate) fn trial(
    run: &RunFile,
    at: At<'_>,
    step: u32,
    load: f64,
    why: &str,
    value: f64,
) -> Record {
    let mut made = run.clone();
    let point = &mut made.plan.points[at.point];
    let whole = load.fract() == 0.0;
    point
        .point
        .insert(at.parameter.to_owned(), if whole { json!(load as u64) } else { json!(load) });
    match at.parameter {
        "rate" => point.job.schedule = Schedule::Rate(load),
        "connections" => point.job.connections = load as u32,
        _ => point.job.threads = load as u32,
    }
    let mut noise = Noise(u64::from(step));
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut record =
        fixture::record(&made, Cell { path: at.path, point: at.point }, step, costs, &mut noise);
    if at.parameter == "rate" {
        let metric = if record.job["workload"] == "udp" {
            "received_packets_per_s"
        } else {
            "requests_per_s"
        };
        record.metrics.insert(metric.to_owned(), load);
    }
    match at.figure {
        "requests_per_s" => _ = record.metrics.insert("requests_per_s".to_owned(), value),
        "loss" => _ = record.metrics.insert("lost_ratio".to_owned(), value),
        "response_ns p99" => {
            let latency = record.latency.get_mut("response_ns").unwrap();
            (latency.p50, latency.p90, latency.p99) =
                (value as u64 / 4, value as u64 / 2, value as u64);
            latency.max = latency.max.max(latency.p99);
        }
        _ => {}
    }
    record.search = Some(SearchStep {
        goal: at.goal.to_owned(),
        step,
        parameter: at.parameter.to_owned(),
        load,
        why: why.to_owned(),
        figure: at.figure.to_owned(),
        value: Some(value),
        within: true,
        broken: Vec::new(),
        found: None,
        outcome: None,
    });
    record
}

/// The trials of a search to its end, numbered from `step` on.
pub(crate) fn drive(
    run: &RunFile,
    at: At<'_>,
    search: &mut dyn Search,
    mut step: u32,
    mut value: impl FnMut(f64) -> f64,
) -> Vec<Record> {
    let mut out = Vec::new();
    while let Some(load) = search.next_load() {
        let (seen, before) = (value(load), search.found().len());
        search.observe(load, Measurement { value: seen, within: true });
        let found = search.found().get(before).copied();
        let why = match search.trace().last().unwrap().why {
            Why::Scan => "scan",
            Why::Raise => "raise",
            Why::Narrow => "narrow",
            Why::Again => "again",
            Why::Confirm => "confirm",
        };
        let mut made = trial(run, at, step, load, why, seen);
        made.search.as_mut().unwrap().found = found;
        out.push(made);
        step += 1;
    }
    let known = |load: f64| Some(load).filter(|load| *load > 0.0 && load.is_finite());
    let outcome = match search.outcome() {
        Outcome::Searching => None,
        Outcome::Found { load, low, high } => {
            Some(SearchOutcome::Found { load, low, high: known(high) })
        }
        Outcome::AboveHighest => Some(SearchOutcome::AboveHighest),
        Outcome::BelowLowest => Some(SearchOutcome::BelowLowest),
        Outcome::GaveUp { low, high } => {
            Some(SearchOutcome::GaveUp { low: known(low), high: known(high) })
        }
    };
    out.last_mut().unwrap().search.as_mut().unwrap().outcome = outcome;
    out
}

/// Where a percentile of a path at its limit would be: 5 times 1 ms at 80 % of what the path can
/// do.
pub(crate) fn p99_ns(most: f64, rate: f64) -> f64 {
    if rate < 0.999 * most { 1e6 / (1.0 - rate / most) } else { 1e9 }
}

/// Throughput of a system that scales by Gunther's law: contention 2 %, coherence 0.01 %, highest
/// at 99 connections.
pub(crate) fn scaled(most: f64, n: f64) -> f64 {
    most / 50.0 * n / (1.0 + 0.02 * (n - 1.0) + 1e-4 * n * (n - 1.0))
}

/// All searches to their ends. On `relay` even the lowest rate is too high, its CPU is never
/// reached, and its knee is hard.
pub(crate) fn searched() -> Made {
    let run = run();
    let mut records = Vec::new();
    let mut noise = Noise(3);
    let mut found = Vec::new();
    for (path, (_, most)) in PATHS.into_iter().enumerate() {
        let at = |point, goal, parameter, figure| At { path, point, goal, parameter, figure };
        let slo = &mut Highest::slo(5e6, RATES.lowest_per_s, RATES.highest_per_s, 0.02, 3);
        records.extend(drive(&run, at(SLO, "slo", "rate", "response_ns p99"), slo, 1, |rate| {
            p99_ns(most, rate)
        }));
        if let Outcome::Found { load, .. } = slo.outcome() {
            found.push((path, load));
        }
        let levels = LEVELS.map(f64::from);
        let throughput =
            |n: f64| if most < 1000.0 { (100.0 * n).min(3200.0) } else { scaled(most, n) };
        let knee = &mut Knee::new(&levels, 0.05);
        let at_knee = at(KNEE, "knee", "connections", "requests_per_s");
        let trials = drive(&run, at_knee, knee, 1, |n| throughput(n) * noise.about(0.01));
        let next = trials.len() as u32 + 1;
        records.extend(trials);
        let threads = &mut Knee::new(&[1.0, 2.0], 0.05);
        let at_threads = At { parameter: "threads", ..at_knee };
        records.extend(drive(&run, at_threads, threads, next, |n| most / 5.0 * (1.0 + 0.01 * n)));
        let cpu = &mut Ceiling::new(0.6, RATES.lowest_per_s, RATES.highest_per_s, 3);
        let share =
            |rate: f64| if most < 1000.0 { 0.05 } else { (0.02 + rate / most * 0.9).min(1.0) };
        records.extend(drive(&run, at(CPU, "cpu", "rate", "cpu_share"), cpu, 1, share));
        let lossless =
            &mut Highest::lossless(0.001, RATES.lowest_per_s, RATES.highest_per_s, 0.01, 3);
        let lost = |rate: f64| (1.0 - most / rate).max(0.0);
        records.extend(drive(&run, at(LOSSLESS, "lossless", "rate", "loss"), lossless, 1, lost));
    }
    let at =
        At { path: 0, point: SLO, goal: EQUAL_LOAD, parameter: "rate", figure: "response_ns p99" };
    for (on, load) in found {
        for (path, (_, most)) in PATHS.into_iter().enumerate() {
            for step in 1..=3 {
                let value = p99_ns(most, load) * (1.0 + 0.01 * f64::from(step));
                records.push(trial(&run, At { path, ..at }, step, load, PATHS[on].0, value));
            }
        }
    }
    Made { run, records }
}
