//! Rounds that end when the figures are sure enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use hopbench_model::{Plan, Record, RunStatus, Schedule, StopRule, StopWhy, Stopped};
use hopbench_run::CellsEnded;
use hopbench_run::results::TrialId;
use hopbench_stats::Stop;
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{job, path, plan, point};
use crate::proxies::{IDLE, Player};

const GOAL: f64 = 0.02;

fn rule(metric: &str) -> StopRule {
    StopRule { half_width_share: GOAL, metric: metric.to_owned(), min_rounds: 3, budget_ns: None }
}

/// Paths with a point or more each, the first the baseline; what is looked at is what the bed's
/// script says.
fn scripted(paths: &[&str], points: &[u32], rounds: u32) -> Plan {
    let of = |n: &u32| point("w", &[("n", json!(n))], job("rr", json!({"size": "1B"}), 1, 50));
    Plan {
        baseline: Some(paths[0].to_owned()),
        stop: Some(rule("proxy_rss_bytes")),
        ..plan(
            paths.iter().map(|name| path(name, 1, 1)).collect(),
            points.iter().map(of).collect(),
            rounds,
        )
    }
}

fn quiet() -> Vec<f64> {
    [1000.0, 1001.0, 1002.0].repeat(10)
}

fn wild() -> Vec<f64> {
    [1000.0, 1400.0].repeat(15)
}

/// Restless at first, then less and less.
fn calming() -> Vec<f64> {
    let restless = [1000.0, 1040.0, 1015.0, 1030.0];
    restless.into_iter().chain((0..26).map(|n| 1024.0 + f64::from(n % 3))).collect()
}

/// Rounds after which such values are sure enough.
fn rounds_of(values: &[f64], most: usize) -> usize {
    let stop = Stop { half_width_share: GOAL, min_rounds: 3, max_rounds: most };
    (1..=most).find(|rounds| !stop.look(&values[..*rounds]).goes_on()).unwrap()
}

fn bed(player: &Player, script: &[(&str, Vec<f64>)]) -> Bed {
    let proxies = |cell: &str| {
        let path = cell.split(' ').next().unwrap().to_owned();
        (path, vec![player.plays("server-sidecar", "b", true)])
    };
    Bed {
        proxies: script.iter().map(|(cell, _)| proxies(cell)).collect(),
        script: script.iter().map(|(cell, values)| ((*cell).to_owned(), values.clone())).collect(),
        ..Bed::default()
    }
}

/// How many trials there are of each path and point.
fn counts(records: &[Record]) -> BTreeMap<String, usize> {
    let mut out = BTreeMap::new();
    for TrialId { path, point, .. } in records.iter().map(TrialId::of) {
        *out.entry(format!("{path} {point}")).or_default() += 1;
    }
    out
}

/// `quiet n=1: 3 narrow`.
fn told(stopped: &[Stopped]) -> Vec<String> {
    let one = |s: &Stopped| {
        let why = match s.why {
            StopWhy::Narrow => "narrow",
            StopWhy::Budget => "budget",
            StopWhy::Rounds => "rounds",
        };
        format!("{} {}: {} {why}", s.path, s.point, s.rounds)
    };
    stopped.iter().map(one).collect()
}

#[test]
fn quiet_cells_stop_and_noisy_ones_go_on_with_their_baseline() {
    let dir = tempfile::tempdir().unwrap();
    let player = Player::start(IDLE);
    // At point 2 all are quiet.
    let script = [
        ("base n=1", quiet()),
        ("base n=2", quiet()),
        ("wild n=1", wild()),
        ("wild n=2", quiet()),
        ("calming n=1", calming()),
        ("calming n=2", quiet()),
    ];
    let mut bed = bed(&player, &script);
    let mut follower = Follower::default();
    let ended = run(
        scripted(&["base", "wild", "calming"], &[1, 2], 8),
        dir.path(),
        &mut bed,
        &mut follower,
    )
    .unwrap();
    let calm = rounds_of(&calming(), 8);
    assert!(calm > 3 && calm < 8 && rounds_of(&wild(), 8) == 8, "{calm}");
    let (file, records) = contents(dir.path());
    let expected = [
        ("base n=1", 8),
        ("base n=2", 3),
        ("calming n=1", calm),
        ("calming n=2", 3),
        ("wild n=1", 8),
        ("wild n=2", 3),
    ];
    assert_eq!(counts(&records), expected.map(|(cell, rounds)| (cell.to_owned(), rounds)).into());
    // Each has its rounds from the first on.
    let rounds = |path: &str, point: u64| -> Vec<u32> {
        let of = records.iter().filter(|record| record.path == path && record.point["n"] == point);
        of.map(|record| record.round).collect()
    };
    assert_eq!((rounds("wild", 2), rounds("base", 1)), (vec![1, 2, 3], (1..=8).collect()));
    assert_eq!(
        (file.status, ended.failures, file.notes.len()),
        (RunStatus::Complete, 0, 0),
        "{:?}",
        file.notes
    );
    let calm_stop = format!("calming n=1: {calm} narrow");
    let expected =
        ["base n=1: 8 narrow", "base n=2: 3 narrow", "wild n=1: 8 rounds", "wild n=2: 3 narrow"];
    let expected = [&expected[..], &[calm_stop.as_str(), "calming n=2: 3 narrow"]].concat();
    assert_eq!(told(&file.stopped), expected);
    assert!(
        file.stopped.iter().all(|s| s.figure == "proxy_rss_bytes" && !s.instead),
        "{:?}",
        file.stopped
    );
    let is_narrow =
        |s: &Stopped| s.half_width_share.is_some_and(|share| share > 0.0 && share <= GOAL);
    assert!(
        file.stopped.iter().all(|s| is_narrow(s) == (s.why == StopWhy::Narrow)),
        "{:?}",
        file.stopped
    );
    // The baseline was sure and went on for the others.
    assert_eq!(
        follower.cells_ended,
        Some(CellsEnded { narrow: 5, by_rounds: 1, ..CellsEnded::default() })
    );
    let open: Vec<usize> = follower.rounds.iter().map(|(_, open, _)| *open).collect();
    let expected: Vec<usize> =
        (1..=8).map(|round| if round <= 3 { 6 } else { 2 + usize::from(round <= calm) }).collect();
    assert_eq!(open, expected);
    assert!(
        follower.rounds[0].2.is_none() && follower.rounds[3].2.is_some_and(|widest| widest > 0.1)
    );
    // Trials are counted as they come; how many there will be is known in the end.
    let numbers: Vec<usize> = follower.numbers.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=records.len()).collect::<Vec<_>>());
    assert_eq!((follower.left, follower.numbers[0].1), (18, 18), "three rounds are sure to come");
    assert_eq!(follower.numbers.last(), Some(&(records.len(), records.len())));
}

#[test]
fn the_budget_ends_rounds_and_another_session_has_one_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let player = Player::start(IDLE);
    let mut plan = scripted(&["base", "wild", "quiet"], &[1], 20);
    // It is over as soon as the first trial began.
    plan.stop.as_mut().unwrap().budget_ns = Some(1);
    let mut bed =
        bed(&player, &[("base n=1", quiet()), ("wild n=1", wild()), ("quiet n=1", quiet())]);
    let mut follower = Follower::default();
    run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    let file = contents(dir.path()).0;
    assert_eq!(
        (file.status, follower.started.len()),
        (RunStatus::Complete, 3),
        "the round is finished, and no more begins"
    );
    assert_eq!(
        told(&file.stopped),
        ["base n=1: 1 budget", "wild n=1: 1 budget", "quiet n=1: 1 budget"]
    );
    assert!(
        file.stopped.iter().all(|stopped| stopped.half_width_share.is_none()),
        "one round has no width"
    );
    assert_eq!(follower.cells_ended, Some(CellsEnded { by_budget: 3, ..CellsEnded::default() }));
    for session in 2..=4 {
        let mut follower = Follower::default();
        resume(dir.path(), &mut bed, &mut follower).unwrap();
        let rounds: BTreeSet<u32> = follower.started.iter().map(|trial| trial.round).collect();
        assert_eq!(rounds, BTreeSet::from([session]), "a session is good for a round");
        assert_eq!(follower.started.len(), if session == 4 { 2 } else { 3 });
    }
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, records.len(), file.session), (RunStatus::Complete, 11, 4));
    assert_eq!(
        told(&file.stopped),
        ["base n=1: 4 narrow", "wild n=1: 4 budget", "quiet n=1: 3 narrow"]
    );
    let stop = Stop { half_width_share: GOAL, min_rounds: 3, max_rounds: 20 };
    assert_eq!(file.stopped[1].half_width_share, stop.look(&wild()[..4]).half_width_share);
    // With time enough it ends for good.
    let calmed = wild()[..4].iter().copied().chain(vec![1200.0; 26]).collect();
    bed.script.insert("wild n=1".to_owned(), calmed);
    let file_path = dir.path().join("run.json");
    let text = fs::read_to_string(&file_path).unwrap();
    assert!(text.contains("\"budget_ns\": 1"), "{text}");
    fs::write(&file_path, text.replace("\"budget_ns\": 1", "\"budget_ns\": 3600000000000"))
        .unwrap();
    resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let file = contents(dir.path()).0;
    assert!(
        file.stopped.iter().all(|stopped| stopped.why == StopWhy::Narrow),
        "{:?}",
        file.stopped
    );
    // And then there is nothing left to do.
    let mut follower = Follower::default();
    resume(dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((follower.started.len(), follower.left), (0, 0));
    let again = contents(dir.path()).0;
    assert_eq!((again.status, again.stopped), (RunStatus::Complete, file.stopped));
}

/// A copy of a folder as a crash left it, with the first of its records.
fn crashed(whole: &Path, records: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut file = contents(whole).0;
    file.status = RunStatus::Running;
    file.stopped.clear();
    fs::write(dir.path().join("run.json"), serde_json::to_vec(&file).unwrap()).unwrap();
    let all = fs::read_to_string(whole.join("records.jsonl")).unwrap();
    let lines: String = all.lines().take(records).map(|line| format!("{line}\n")).collect();
    fs::write(dir.path().join("records.jsonl"), lines).unwrap();
    dir
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_trials() {
    let whole = tempfile::tempdir().unwrap();
    let player = Player::start(IDLE);
    let script = [("base n=1", quiet()), ("calming n=1", calming()), ("quiet n=1", quiet())];
    let plan = scripted(&["base", "calming", "quiet"], &[1], 20);
    run(plan, whole.path(), &mut bed(&player, &script), &mut Follower::default()).unwrap();
    let (file, records) = contents(whole.path());
    let ids: Vec<TrialId> = records.iter().map(TrialId::of).collect();
    assert_eq!(ids.len(), 3 + 2 * rounds_of(&calming(), 20));
    for cut in [0, 1, 4, 8, 9, 10, ids.len() - 1, ids.len()] {
        let dir = crashed(whole.path(), cut);
        let mut bed = Bed { trials: counts(&records[..cut]), ..bed(&player, &script) };
        let mut follower = Follower::default();
        resume(dir.path(), &mut bed, &mut follower).unwrap();
        assert_eq!(follower.started, ids[cut..], "killed after {cut} trials");
        let (again, all) = contents(dir.path());
        assert_eq!(all.iter().map(TrialId::of).collect::<Vec<_>>(), ids);
        assert_eq!(
            (again.status, &again.stopped),
            (RunStatus::Complete, &file.stopped),
            "killed after {cut} trials"
        );
    }
}

#[test]
fn a_path_without_values_has_all_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let player = Player::start(IDLE);
    let plan = scripted(&["quiet", "bad"], &[1], 5);
    let mut bed = bed(&player, &[("quiet n=1", quiet()), ("bad n=1", quiet())]);
    bed.trouble.insert("bad".to_owned(), Trouble::NoRoute);
    let ended = run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let (file, records) = contents(dir.path());
    // The baseline goes on with it: it may come to itself any time.
    assert_eq!((ended.good, ended.failures, records.len()), (5, 5, 5));
    assert_eq!(
        (file.status, told(&file.stopped)),
        (RunStatus::Incomplete, vec!["quiet n=1: 5 narrow".to_owned()])
    );
    // Its way is free again: what is missing is measured, and three of five rounds were enough.
    bed.trouble.clear();
    bed.trials.insert("bad n=1".to_owned(), 0);
    let ended = resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let (file, _) = contents(dir.path());
    assert_eq!((ended.good, ended.failures, file.status), (3, 0, RunStatus::Complete));
    assert_eq!(told(&file.stopped), ["quiet n=1: 5 narrow", "bad n=1: 3 narrow"]);
    assert_eq!(file.failures.len(), 0, "what is not needed has not failed: {:?}", file.failures);
}

#[test]
fn what_a_rate_fixes_is_not_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let mut paced = job("rr", json!({"size": "1B"}), 1, 100);
    paced.schedule = Schedule::Rate(200.0);
    // Whatever it is, it is sure enough.
    let stop = StopRule { half_width_share: 1e12, ..rule("throughput") };
    let points = vec![
        point("paced", &[], paced),
        point("free", &[], job("rr", json!({"size": "1B"}), 1, 50)),
    ];
    let plan = Plan { stop: Some(stop), ..plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 6) };
    let mut follower = Follower::default();
    run(plan, dir.path(), &mut Bed::default(), &mut follower).unwrap();
    resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!((records.len(), file.stopped.len()), (12, 4));
    let looked_at: Vec<_> =
        file.stopped.iter().map(|s| (s.workload.as_str(), s.figure.as_str(), s.instead)).collect();
    let (paced, free) = (("paced", "response_ns p99", true), ("free", "requests_per_s", false));
    assert_eq!(looked_at, [paced, free, paced, free]);
    let note = "stop: paced: its throughput is what its rate says: its rounds end when its \
                response_ns p99 is sure";
    assert_eq!((file.notes, follower.notes), (vec![note.to_owned()], vec![note.to_owned()]));
}

/// What a rule looks at stands in the records of every kind of workload under the name that it has
/// there.
#[test]
fn every_workload_has_the_figures_that_it_names() {
    let params = |name: &str| match name {
        "stream" => json!({"size": "64KiB", "direction": "to-server", "receive": "copy"}),
        "push" => json!({"size": "100B", "rate": 100.0, "stagger": "spread"}),
        "udp" => json!({"size": "64B", "rate": "1000pps", "gso": 1}),
        "ping" => json!({"every": "50ms", "size": "56B"}),
        "http" => json!({}),
        _ => json!({"size": "1B"}),
    };
    let mut points = Vec::new();
    for workload in hopbench_load::WORKLOADS {
        let mut job = job(workload.name(), params(workload.name()), 1, 300);
        job.kind = workload.kind().carried(workload.name());
        workload.settle(&mut job);
        if workload.kind().is_of_exchanges() {
            let paced = hopbench_model::Job { schedule: Schedule::Rate(100.0), ..job.clone() };
            points.push(point(workload.name(), &[("rate", json!(100))], paced));
        }
        points.push(point(workload.name(), &[], job));
    }
    let dir = tempfile::tempdir().unwrap();
    let mut follower = Follower::default();
    let plan = plan(vec![path("x", 1, 1)], points, 1);
    let ended = run(plan.clone(), dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!((ended.good, ended.failures), (plan.points.len(), 0), "{:?}", follower.failed);
    for record in contents(dir.path()).1 {
        let workload = hopbench_load::workload(&record.workload).unwrap();
        let job = plan
            .points
            .iter()
            .find(|p| (&p.workload, &p.point) == (&record.workload, &record.point));
        let metric = record.metrics.get(workload.kind().unit.metric());
        assert!(
            metric.is_some_and(|metric| *metric > 0.0),
            "{}: {:?}",
            record.workload,
            record.metrics
        );
        if let Some(kind) = workload.latency(&job.unwrap().job) {
            let latency = record.latency.get(kind.name());
            assert!(
                latency.is_some_and(|latency| latency.count > 0),
                "{}: {:?}",
                record.workload,
                record.latency
            );
        }
    }
}
