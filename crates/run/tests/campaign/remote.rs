//! Campaigns over control sessions that cross networks.

use std::time::Duration;

use hopbench_model::{Record, RunStatus, WarningKind};
use hopbench_sys::clock;
use hopbench_testbed::{Metered, MeteredKind};
use serde_json::json;

use crate::far::Far;
use crate::follower::{Follower, contents, run};
use crate::plans::{job, latency, path, plan, point};

/// Both ways to a port: straight and forwarded, with several clients; each session is opened once.
#[test]
fn sessions_over_networks_do_what_socket_pairs_do() {
    for forwarded in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        // On a busy machine an exchange can take as long as the windows of other tests.
        let points = [1, 2].map(|n| {
            point("w", &[("connections", json!(n))], job("rr", json!({"size": "1B"}), n, 200))
        });
        let plan = plan(vec![path("x", 3, 1), path("y", 1, 1)], points.into(), 2);
        let (mut bed, mut follower) = (Far::new(forwarded), Follower::default());
        let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
        assert_eq!((ended.good, ended.errors, ended.failures), (8, 0, 0), "{:?}", follower.failed);
        assert_eq!(bed.opened.len(), 6);
        assert!(bed.opened.values().all(|times| *times == 1), "{:?}", bed.opened);
        let (file, records) = contents(dir.path());
        assert_eq!((file.status, records.len()), (RunStatus::Complete, 8));
        for record in records {
            assert_eq!(record.settings["clock"], "shared");
            assert!(record.metrics["requests"] > 0.0);
        }
    }
}

/// Agents of a run, each with a key of its own: they measure what the plan has, and connect nowhere
/// else.
#[test]
fn agents_of_a_run_do_what_is_in_the_plan_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let points = [1, 4].map(|n| {
        point("w", &[("connections", json!(n))], job("rr", json!({"size": "1B"}), n, 200))
    });
    let plan = plan(vec![path("x", 3, 1), path("y", 1, 1)], points.into(), 1);
    let (mut bed, mut follower) = (Far::of_run(), Follower::default());
    let ended = run(plan.clone(), dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (4, 0, 0), "{:?}", follower.failed);
    // All of the plan from the first trial on: both servers, and the connections of three clients
    // with four each.
    let [first, .., last] = &bed.permits[..] else { panic!("{:?}", bed.permits) };
    assert_eq!((first.targets.len(), first.bounds.connections, first.bounds.threads), (2, 12, 1));
    assert_eq!(first, last);
    let (dir, nobody) = (tempfile::tempdir().unwrap(), "127.0.0.1:9".parse().unwrap());
    let (mut bed, mut follower) =
        (Far { permitted: Some(nobody), ..Far::of_run() }, Follower::default());
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.failures), (0, 4), "{:?}", follower.failed);
    assert!(
        follower.failed.iter().all(|why| why.contains("none of the 1 targets")),
        "{:?}",
        follower.failed
    );
}

/// An agent ends a session that is silent for 5 s. One path is measured for longer than that while
/// the other rests, and the testbed itself takes longer than that between the sessions' opening and
/// the trial.
#[test]
fn sessions_that_rest_are_kept_alive() {
    let dir = tempfile::tempdir().unwrap();
    let long = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 6000))];
    let (mut bed, mut follower) = (Far { slow_ms: 2600, ..Far::new(true) }, Follower::default());
    let ended = run(
        plan(vec![path("x", 1, 1), path("y", 1, 1)], long, 2),
        dir.path(),
        &mut bed,
        &mut follower,
    )
    .unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (4, 0, 0), "{:?}", follower.failed);
    assert!(bed.opened.values().all(|times| *times == 1), "{:?}", bed.opened);
}

/// The ways to all agents together take longer than the first agent puts up with silence.
#[test]
fn sessions_that_wait_for_others_to_be_opened_are_kept_alive() {
    let dir = tempfile::tempdir().unwrap();
    let (mut bed, mut follower) = (Far { far_ms: 2000, ..Far::new(true) }, Follower::default());
    let ended =
        run(plan(vec![path("x", 3, 1)], latency(&[1]), 1), dir.path(), &mut bed, &mut follower)
            .unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 0, 0), "{:?}", follower.failed);
    assert_eq!(bed.opened.values().copied().collect::<Vec<_>>(), [1, 1, 1, 1], "{:?}", bed.opened);
}

/// A port-forward is cut inside a trial: that trial fails, and says why; the next opens another.
#[test]
fn a_session_that_is_cut_fails_its_trial_only() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 600))];
    let plan = plan(vec![path("x", 2, 1), path("y", 1, 1)], points, 3);
    let (mut bed, mut follower) =
        (Far { cut: Some(("x".to_owned(), 300)), ..Far::new(true) }, Follower::default());
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.failures), (5, 1), "{:?}", follower.failed);
    let why = &follower.failed[0];
    assert!(
        why.contains("lost the agent client 1 of x")
            && why.contains("the connection to it was cut"),
        "{why}"
    );
    let again: Vec<u32> = bed.opened.values().copied().collect();
    assert_eq!(again, [2, 1, 1, 1, 1], "{:?}", bed.opened);
}

/// One that is cut between trials is not even noticed.
#[test]
fn a_session_that_is_cut_between_trials_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 3);
    let (mut bed, mut follower) = (Far { cut_after: true, ..Far::new(true) }, Follower::default());
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.failures), (3, 0), "{:?}", follower.failed);
    assert_eq!(bed.opened.values().copied().collect::<Vec<_>>(), [2, 1], "{:?}", bed.opened);
}

#[test]
fn another_token_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 1);
    let (mut bed, mut follower) =
        (Far { other_token: true, ..Far::new(false) }, Follower::default());
    let began = clock::now();
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.failures), (0, 1));
    assert!(follower.failed[0].contains("has another token"), "{:?}", follower.failed);
    assert!(clock::now() - began < 5_000_000_000, "a refusal is no silence");
}

/// A hundred agents on fifty machines are one client: every exchange is in one distribution, each
/// machine is there once, and how far apart they began stands in the record.
#[test]
fn a_hundred_clients_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 800))];
    let (mut bed, mut follower) = (Far::new(false), Follower::default());
    let ended =
        run(plan(vec![path("x", 100, 1)], points, 1), dir.path(), &mut bed, &mut follower).unwrap();
    let record = contents(dir.path()).1.remove(0);
    let said = (&record.error, &follower.failed);
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 0, 0), "{said:?}");
    assert_eq!(record.settings["clients"], "100");
    assert_eq!(record.latency["service_ns"].count as f64, record.metrics["requests"]);
    assert!(record.metrics["requests"] >= 100.0);
    // All of them are in this process: what each saw of the one machine is there once a node.
    let names: Vec<&str> = record.cost.nodes.iter().map(|node| node.name.as_str()).collect();
    let expected: Vec<String> = (1..=50).map(|n| format!("c{n}")).chain(["s".to_owned()]).collect();
    assert_eq!(names, expected);
    let skew: u64 = record.settings["start_skew_ns"].parse().unwrap();
    assert!(skew < 800_000_000, "{skew} ns: some began when the window was over");
    assert_eq!(record.settings.get("clock_error_ns"), None, "they read this clock");
}

fn measured(bed: &mut Far, window_ms: u64, rounds: u32) -> (Vec<Record>, Follower) {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, window_ms))];
    let mut follower = Follower::default();
    let ended =
        run(plan(vec![path("x", 1, 1)], points, rounds), dir.path(), bed, &mut follower).unwrap();
    assert_eq!(ended.failures, 0, "{:?}", follower.failed);
    (contents(dir.path()).1, follower)
}

fn said(what: &str) -> Vec<String> {
    vec![what.to_owned()]
}

#[test]
fn a_trial_in_which_the_testbed_changed_is_measured_again() {
    // What is known before a trial is no change of it; the second try is quiet.
    let changes = vec![
        said("before"),
        said("pod s restarted"),
        said("between"),
        Vec::new(),
        said("later"),
        Vec::new(),
    ];
    let mut bed = Far { changes, ..Far::new(false) };
    let (records, follower) = measured(&mut bed, 20, 2);
    assert_eq!(records.len(), 2, "one record a trial");
    let note = "x w : measured again, as the testbed changed: pod s restarted";
    assert_eq!(follower.notes, [note]);
    assert_eq!(
        records[0].settings["measured_again"],
        "1 times, as the testbed changed: pod s restarted"
    );
    assert!(!records[1].settings.contains_key("measured_again"));
    for record in records {
        assert_eq!(record.testbed_changed, None);
        assert!(
            record.warnings.iter().all(|warning| warning.kind != WarningKind::EnvironmentChanged)
        );
    }
}

#[test]
fn a_testbed_that_never_rests_leaves_a_record_that_says_so() {
    let restless =
        |n: usize| vec![Vec::new(), vec![format!("pod {n} went"), format!("pod {n} came")]];
    let mut bed = Far { changes: (1..=3).flat_map(restless).collect(), ..Far::new(false) };
    let (records, follower) = measured(&mut bed, 20, 1);
    assert_eq!(follower.notes.len(), 2, "twice again, and no more: {:?}", follower.notes);
    let record = &records[0];
    assert_eq!(record.testbed_changed.as_deref(), Some("pod 3 went; pod 3 came"));
    assert!(
        record.settings["measured_again"]
            .ends_with("pod 1 went; pod 1 came | pod 2 went; pod 2 came")
    );
    let told =
        record.warnings.iter().filter(|warning| warning.kind == WarningKind::EnvironmentChanged);
    assert_eq!(
        told.map(|warning| warning.detail.as_str()).collect::<Vec<_>>(),
        ["pod 3 went", "pod 3 came"]
    );
}

#[test]
fn what_others_metered_is_in_the_record() {
    let now = clock::wall();
    let reading = |after: bool| {
        let at = now + if after { Duration::from_secs(40) } else { Duration::ZERO };
        let (who, cpu_ns) =
            ("client 1 of x".to_owned(), if after { 25_000_000_000 } else { 5_000_000_000 });
        let throttled_ns = Some(if after { 2_000_000_000 } else { 0 });
        Metered {
            who,
            what: MeteredKind::Agent,
            source: "kubelet",
            at,
            cpu_ns,
            memory_bytes: Some(7),
            throttled_ns,
        }
    };
    let mut bed =
        Far { meters: vec![vec![reading(false)], vec![reading(true)]], ..Far::new(false) };
    let (records, _) = measured(&mut bed, 100, 1);
    assert_eq!(bed.asked, 2, "where the agents see everything nothing is waited for");
    let metered = &records[0].cost.metered;
    assert_eq!(
        (metered.len(), metered[0].who.as_str(), metered[0].what.as_str()),
        (1, "client 1 of x", "agent")
    );
    assert!(
        (metered[0].window_s - 40.0).abs() < 1e-6 && (-60.0..0.0).contains(&metered[0].starts_at_s),
        "{metered:?}"
    );
    assert!(
        (metered[0].figures["cores"] - 0.5).abs() < 1e-6
            && metered[0].figures["memory_bytes"] == 7.0
    );
    let told = |kind| records[0].warnings.iter().any(|warning| warning.kind == kind);
    assert!(told(WarningKind::CpuQuota) && !told(WarningKind::EnvironmentChanged));
    assert_eq!(records[0].testbed_changed, None, "which is no change of the testbed");
    // A window of 100 ms is compared with nothing.
    assert!(!told(WarningKind::MetersDisagree));
}
