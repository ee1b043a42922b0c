//! Comparisons of two runs: made up, nothing was measured.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod bounds;
mod formats;
mod runs;
mod saturated;
mod searched;
mod verdicts;

use hopbench_model::{Fault, Record, RunFile, Schedule, Via};
use hopbench_report::comparison::{Asked, Comparison, Row, Values, compare};
use serde_json::json;

use crate::campaign::fixture::{Costs, Noise, job, path, point, record, run};

/// A run whose trials are made up cell by cell.
pub(crate) struct Made {
    pub(crate) run: RunFile,
    pub(crate) records: Vec<Record>,
}

/// Two paths with bulk traffic and a request at a time, over so many rounds. `speed` is that of the
/// path; `salt` makes runs differ in their noise, which deviates by 2 %.
pub(crate) fn made(rounds: u32, salt: u32, speed: impl Fn(&str) -> f64) -> Made {
    let paths =
        ["host", "bridge"].map(|name| path(name, (name, "a"), (name, "b"), Via::Direct)).to_vec();
    let points = vec![
        point("bulk", &[], job("stream", json!({"size": "128KiB"}), Schedule::Closed, 4)),
        point(
            "ask",
            &[("size", json!("64B"))],
            job("rr", json!({"size": "64B"}), Schedule::Closed, 1),
        ),
    ];
    of(run("made up", paths, points, rounds, Some("host")), salt, speed)
}

/// All trials of a run.
pub(crate) fn of(mut run: RunFile, salt: u32, speed: impl Fn(&str) -> f64) -> Made {
    run.run_id = format!("run-{salt}");
    let mut noise = Noise::default();
    (0..1000 * salt).for_each(|_| {
        noise.next();
    });
    let mut records = Vec::new();
    for round in 1..=run.plan.rounds {
        for cell in &run.plan.cells {
            let speed = speed(&run.plan.paths[cell.path].name);
            let costs = Costs { speed, latency: 1.0 / speed, cpu: 1.0 };
            let mut record = record(&run, *cell, round, costs, &mut noise);
            record.limited_by = "unknown".to_owned();
            // Uniform within 3.46 % deviates by 2 %.
            let rate = 8e9 * speed * noise.about(0.0346);
            record
                .metrics
                .entry("received_bits_per_s".to_owned())
                .and_modify(|value| *value = rate);
            if record.workload == "bulk" {
                record.metrics.insert("sent_bits_per_s".to_owned(), rate * 1.001);
            }
            record.metrics.entry("retransmitted_bytes".to_owned()).and_modify(|bytes| *bytes = 0.0);
            if let Some(latency) = record.latency.get_mut("service_ns") {
                let at = |ns: f64, about: f64| (ns / speed * about) as u64;
                (latency.p50, latency.p99) =
                    (at(50_000.0, noise.about(0.0346)), at(120_000.0, noise.about(0.0346)));
                latency.p999 = at(400_000.0, noise.about(0.0346));
            }
            records.push(record);
        }
    }
    Made { run, records }
}

pub(crate) fn values(made: &Made, asked: &Asked) -> Values {
    let mut values =
        Values::new(format!("results/{}", made.run.run_id), made.run.clone(), &asked.bounds);
    made.records.iter().for_each(|record| values.add(record));
    values
}

pub(crate) fn attempt(a: &Made, b: &Made, asked: &Asked) -> Result<Comparison, Fault> {
    compare(&[values(a, asked)], &[values(b, asked)], asked)
}

pub(crate) fn compared(a: &Made, b: &Made, asked: &Asked) -> Comparison {
    attempt(a, b, asked).unwrap()
}

/// With these bounds.
pub(crate) fn bounded(bounds: &[&str]) -> Asked {
    Asked {
        bounds: bounds.iter().map(|bound| bound.parse().unwrap()).collect(),
        ..Asked::default()
    }
}

/// The comparison of a figure of a cell.
pub(crate) fn row<'a>(comparison: &'a Comparison, path: &str, metric: &str) -> &'a Row {
    let mut rows = comparison.comparisons.iter();
    rows.find(|row| row.path == path && row.metric == metric)
        .unwrap_or_else(|| panic!("no {metric} of {path}"))
}
