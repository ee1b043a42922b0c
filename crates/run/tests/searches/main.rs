//! Searches for a load, on systems whose answer is known. Those that measure are alone on the
//! machine.

#![allow(clippy::unwrap_used, reason = "all of this is test")]
#![allow(clippy::print_stderr, reason = "what was found is printed")]
#![allow(dead_code, reason = "campaigns in rounds, whose bed this is, need more of it")]

mod again;
#[path = "../campaign/bed.rs"]
mod bed;
mod broken;
mod equal;
#[path = "../campaign/follower.rs"]
mod follower;
mod known;
#[path = "../campaign/plans.rs"]
mod plans;
#[path = "../campaign/relay.rs"]
mod relay;
#[path = "../../../hopbench/tests/lab/turn.rs"]
mod turn;
mod workshop;

use hopbench_model::{
    Job, Path, Plan, Point, RateRange, Record, Schedule, SearchGoal, SearchStep, fixture,
};
use serde_json::json;

use crate::bed::Bed;
use crate::plans::{job, path, plan, point};
use crate::workshop::workshop;

const MS: u64 = 1_000_000;

/// A workload that is searched, with a window of so many ms.
fn searched(workload: &str, params: serde_json::Value, window_ms: u64, goal: SearchGoal) -> Point {
    let mut job = job(workload, params, 1, window_ms);
    job.timing.warmup_ns = 50 * MS;
    Point { search: Some(fixture::search(goal)), ..point("web", &[], job) }
}

/// HTTP, answered by a program that is no agent.
fn web(window_ms: u64, goal: SearchGoal) -> Point {
    let mut web = searched("http", json!({"url": "http://127.0.0.1/"}), window_ms, goal);
    web.server.program = "workshop".to_owned();
    web
}

fn knee(connections: &[u32], threads: &[u32]) -> SearchGoal {
    SearchGoal::Knee {
        connections: connections.to_vec(),
        threads: threads.to_vec(),
        least_growth: 0.05,
    }
}

fn rates(lowest_per_s: f64, highest_per_s: f64) -> RateRange {
    RateRange { lowest_per_s, highest_per_s }
}

fn slo(percentile: f64, limit_ns: u64, rates: RateRange) -> SearchGoal {
    SearchGoal::Slo { percentile, limit_ns, rates, precision: 0.02 }
}

/// A bed whose paths lead to workshops with so many workers, each taking 5 ms for a request.
fn workshops(workers: &[(&str, usize)]) -> Bed {
    let elsewhere =
        |(name, workers): &(&str, usize)| ((*name).to_owned(), workshop(*workers, 5 * MS));
    Bed { elsewhere: workers.iter().map(elsewhere).collect(), ..Bed::default() }
}

/// What the records of a path's searches say, in order.
fn steps<'r>(records: &'r [Record], path: &str) -> Vec<&'r SearchStep> {
    records
        .iter()
        .filter(|record| record.path == path)
        .filter_map(|record| record.search.as_ref())
        .collect()
}

fn of(record: &Record) -> Job {
    serde_json::from_value(record.job.clone()).unwrap()
}

/// One path for each of these names, all with these points.
fn searching(names: &[&str], points: Vec<Point>, rounds: u32) -> Plan {
    plan(names.iter().map(|name| path(name, 1, 1)).collect::<Vec<Path>>(), points, rounds)
}

/// The jobs of records are those of the steps that they say, and a step says which bounds its trial
/// broke.
fn consistent(records: &[Record]) {
    for record in records {
        let (step, job) = (record.search.as_ref().unwrap(), of(record));
        assert_eq!(
            (record.round, record.point[&step.parameter].as_f64()),
            (step.step, Some(step.load))
        );
        assert_eq!(step.within, step.broken.is_empty() && step.value.is_some(), "{step:?}");
        match step.parameter.as_str() {
            "connections" => assert_eq!(f64::from(job.connections), step.load),
            "threads" => assert_eq!(f64::from(job.threads), step.load),
            _ => assert_eq!(
                job.schedule,
                match job.schedule {
                    Schedule::Poisson(_) => Schedule::Poisson(step.load),
                    _ => Schedule::Rate(step.load),
                }
            ),
        }
    }
}
