//! Knees and service levels that can be calculated.

use std::collections::BTreeSet;

use hopbench_model::{Plan, Record, RunStatus, Schedule, SearchOutcome, SearchStep};
use hopbench_stats::summary::median;
use serde_json::json;

use super::{MS, consistent, knee, rates, searched, searching, slo, steps, web, workshops};
use crate::bed::Bed;
use crate::follower::{Follower, contents, run};
use crate::plans::latency;
use crate::turn::Turn;

fn outcome(step: &SearchStep) -> (&str, f64) {
    match step.outcome {
        Some(SearchOutcome::Found { load, .. }) => (&step.parameter, load),
        other => panic!("{step:?}: {other:?}"),
    }
}

#[test]
fn the_knee_of_a_server_is_where_all_its_workers_have_something_to_do() {
    let _turn = Turn::alone();
    let dir = tempfile::tempdir().unwrap();
    let points = vec![web(200, knee(&[1, 2, 4, 8, 16], &[1, 2]))];
    let plan = searching(&["three", "four"], points, 1);
    let mut follower = Follower::default();
    let ended =
        run(plan, dir.path(), &mut workshops(&[("three", 3), ("four", 4)]), &mut follower).unwrap();
    assert_eq!(
        (ended.errors, ended.failures, ended.interrupted),
        (0, 0, false),
        "{:?}",
        follower.failed
    );
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, run.failures.len()), (RunStatus::Complete, 0));
    consistent(&records);
    for path in ["three", "four"] {
        let steps = steps(&records, path);
        let ends: Vec<_> =
            steps.iter().filter(|step| step.outcome.is_some()).map(|step| outcome(step)).collect();
        // Both are busy with 4 connections and not with 2. One thread is enough for all of it. One
        // level off is allowed.
        assert!(
            matches!(ends[..], [("connections", 4.0 | 8.0), ("threads", 1.0 | 2.0)]),
            "{path}: {ends:?}"
        );
        let of_threads = records
            .iter()
            .filter(|record| record.path == path && record.point.contains_key("threads"));
        assert!(
            of_threads
                .into_iter()
                .all(|record| f64::from(super::of(record).connections) == ends[0].1),
            "{path}"
        );
        assert!(steps.iter().all(|step| step.within && step.figure == "requests_per_s"), "{path}");
        let numbers: Vec<u32> = steps.iter().map(|step| step.step).collect();
        assert_eq!(
            numbers,
            (1..=u32::try_from(steps.len()).unwrap()).collect::<Vec<_>>(),
            "{path}"
        );
    }
    // A search has its second trial when all have had their first.
    let order: Vec<&str> = records.iter().map(|record| record.path.as_str()).collect();
    let shortest =
        ["three", "four"].map(|path| steps(&records, path).len()).into_iter().min().unwrap();
    assert!(order.chunks(2).take(shortest).all(|pass| pass[0] != pass[1]), "{order:?}");
    assert!(
        order.chunks(2).take(shortest).collect::<BTreeSet<_>>().len() == 2,
        "each pass has an order of its own"
    );
    assert_eq!((follower.searches, follower.searched.len()), ((2, 2), records.len()));
    assert_eq!(follower.found.len(), 4, "{:?}", follower.found);
    let capacity = follower
        .found
        .iter()
        .find(|(path, step, _)| path == "four" && step.parameter == "connections");
    let capacity = capacity.unwrap().2.unwrap();
    assert!((capacity / 800.0 - 1.0).abs() < 0.15, "4 workers with 5 ms: {capacity}");
}

#[test]
fn searches_follow_the_rounds_and_are_in_none() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let mut points = latency(&[1]);
    points.push(web(40, knee(&[1, 2], &[])));
    let plan = searching(&["x"], points, 2);
    let mut follower = Follower::default();
    let ended = run(plan.clone(), dir.path(), &mut workshops(&[]), &mut follower).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", follower.failed);
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, follower.started.len(), follower.left), (RunStatus::Complete, 2, 2));
    assert!(
        records[..2].iter().all(|record| record.search.is_none() && record.workload == "latency")
    );
    assert!(records.len() > 2 && records[2..].iter().all(|record| record.search.is_some()));
    assert_eq!(hopbench_run::order(&plan, 1).len(), 1);
}

/// The share of requests of an M/D/1 queue that are answered within `x` services, at a load `rho`
/// (A. K. Erlang, 1909).
fn answered_within(x: f64, rho: f64) -> f64 {
    let wait = x - 1.0;
    let term = |i: i32| {
        let y = rho * (wait - f64::from(i));
        let factorial: f64 = (1..=i).map(f64::from).product();
        (-y).powi(i) / factorial * y.exp()
    };
    if wait < 0.0 { 0.0 } else { (1.0 - rho) * (0..=wait.floor() as i32).map(term).sum::<f64>() }
}

/// The load of an M/D/1 queue at which the share `p` of the requests is answered within `services`.
fn theory(services: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.01, 0.99);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if answered_within(services, middle) >= p { low = middle } else { high = middle }
    }
    low
}

/// Our HTTP target answers after a delay, and one connection has one request under way: a queue
/// with one server and a service of a fixed time, which the client's own service times tell.
fn queue(limit_ns: u64) -> Plan {
    let mut web = searched(
        "http",
        json!({"url": "http://127.0.0.1/"}),
        2000,
        slo(90.0, limit_ns, rates(200.0, 800.0)),
    );
    web.job.schedule = Schedule::Poisson(200.0);
    web.server.request = "/?size=16&delay=2ms".to_owned();
    searching(&["x"], vec![web], 1)
}

/// What is found, with the service time that it was found with, ns.
fn found(plan: Plan) -> (f64, f64, Vec<Record>) {
    let dir = tempfile::tempdir().unwrap();
    let mut follower = Follower::default();
    let ended = run(plan, dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", follower.failed);
    let (_, records) = contents(dir.path());
    consistent(&records);
    let load = outcome(records.last().unwrap().search.as_ref().unwrap()).1;
    let near = records
        .iter()
        .filter(|record| (record.search.as_ref().unwrap().load / load - 1.0).abs() < 0.1);
    let services: Vec<f64> = near.map(|record| record.latency["service_ns"].mean).collect();
    (load, median(&services).unwrap(), records)
}

#[test]
fn a_service_level_agrees_with_queueing_theory() {
    let _turn = Turn::alone();
    // The service is the delay and what a timer, a round trip and two programs add to it: six fit
    // into the limit. Then four of five requests wait, and 98 % of simulated searches are within 5
    // % of theory.
    let limit_ns = 14 * MS;
    let mut told = Vec::new();
    for _ in 0..2 {
        let (load, service_ns, records) = found(queue(limit_ns));
        let expected = theory(limit_ns as f64 / service_ns, 0.9) * 1e9 / service_ns;
        let off = load / expected - 1.0;
        told.push(format!(
            "{load}/s found, {expected:.1}/s by theory ({:+.1} %), with a service of {:.0} us, in \
             {} trials",
            100.0 * off,
            service_ns / 1000.0,
            records.len()
        ));
        eprintln!("{}", told[told.len() - 1]);
        let seeds: BTreeSet<u64> = records.iter().map(|record| super::of(record).seed).collect();
        assert_eq!(seeds.len(), records.len(), "no trial has the arrivals of another");
        if off.abs() <= 0.05 {
            return;
        }
    }
    panic!("{told:?}");
}
