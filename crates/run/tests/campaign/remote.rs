//! Campaigns over control sessions that cross networks.

use hopbench_model::RunStatus;
use hopbench_sys::clock;
use serde_json::json;

use crate::far::Far;
use crate::onlooker::{Onlooker, contents, run};
use crate::plans::{job, latency, path, plan, point};

/// Both ways to a port: straight and forwarded, with several clients; each session is opened once.
#[test]
fn sessions_over_networks_do_what_socket_pairs_do() {
    for forwarded in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(vec![path("x", 3, 1), path("y", 1, 1)], latency(&[1, 2]), 2);
        let (mut bed, mut onlooker) = (Far::new(forwarded), Onlooker::default());
        let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
        assert_eq!((ended.good, ended.errors, ended.failures), (8, 0, 0), "{:?}", onlooker.failed);
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

/// An agent ends a session that is silent for 5 s. One path is measured for longer than that while the other rests, and
/// the testbed itself takes longer than that between the sessions' opening and the trial.
#[test]
fn sessions_that_rest_are_kept_alive() {
    let dir = tempfile::tempdir().unwrap();
    let long = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 6000))];
    let (mut bed, mut onlooker) = (Far { slow_ms: 2600, ..Far::new(true) }, Onlooker::default());
    let ended = run(plan(vec![path("x", 1, 1), path("y", 1, 1)], long, 2), dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (4, 0, 0), "{:?}", onlooker.failed);
    assert!(bed.opened.values().all(|times| *times == 1), "{:?}", bed.opened);
}

/// A port-forward is cut inside a trial: that trial fails, and says why; the next opens another.
#[test]
fn a_session_that_is_cut_fails_its_trial_only() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 600))];
    let plan = plan(vec![path("x", 2, 1), path("y", 1, 1)], points, 3);
    let (mut bed, mut onlooker) = (Far { cut: Some(("x".to_owned(), 300)), ..Far::new(true) }, Onlooker::default());
    let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.failures), (5, 1), "{:?}", onlooker.failed);
    let why = &onlooker.failed[0];
    assert!(why.contains("lost the agent client 1 of x") && why.contains("the connection to it was cut"), "{why}");
    let again: Vec<u32> = bed.opened.values().copied().collect();
    assert_eq!(again, [2, 1, 1, 1, 1], "{:?}", bed.opened);
}

/// One that is cut between trials is not even noticed.
#[test]
fn a_session_that_is_cut_between_trials_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    // The cut comes while the second reading of the counters, after the traffic, takes its time.
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 3);
    let (mut bed, mut onlooker) = (Far { slow_ms: 700, cut: Some(("x".to_owned(), 250)), ..Far::new(true) }, Onlooker::default());
    let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.failures), (3, 0), "{:?}", onlooker.failed);
    assert_eq!(bed.opened.values().copied().collect::<Vec<_>>(), [2, 1], "{:?}", bed.opened);
}

#[test]
fn another_token_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 1);
    let (mut bed, mut onlooker) = (Far { other_token: true, ..Far::new(false) }, Onlooker::default());
    let began = clock::now();
    let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.failures), (0, 1));
    assert!(onlooker.failed[0].contains("has another token"), "{:?}", onlooker.failed);
    assert!(clock::now() - began < 5_000_000_000, "a refusal is no silence");
}
