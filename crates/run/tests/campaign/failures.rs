//! Trials that go wrong.

use std::collections::BTreeMap;

use hopbench_model::RunStatus;
use hopbench_testbed::Testbed;
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::onlooker::{Onlooker, contents, resume, run};
use crate::plans::{job, latency, path, plan, point};

fn bed(path: &str, trouble: Trouble) -> Bed {
    Bed { trouble: BTreeMap::from([(path.to_owned(), trouble)]), ..Bed::default() }
}

#[test]
fn a_path_that_cannot_be_taken_fails_three_times_a_round_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("good", 1, 1)], latency(&[1, 2, 3, 4, 5]), 2);
    let (mut bed, mut onlooker) = (bed("bad", Trouble::NoRoute), Onlooker::default());
    let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (10, 0, 10));
    assert_eq!(bed.routes.iter().filter(|path| *path == "bad").count(), 6, "three tries a round");
    assert_eq!(onlooker.given_up, [("bad".to_owned(), 1, 2), ("bad".to_owned(), 2, 2)]);
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, records.len()), (RunStatus::Incomplete, 10));
    let reasons = |text: &str| run.failures.iter().filter(|f| f.path == "bad" && f.reason.contains(text)).count();
    assert_eq!((reasons("the road is closed"), reasons("not tried")), (6, 4));
}

#[test]
fn a_proof_that_fails_makes_the_record_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("good", 1, 1)], latency(&[1]), 1);
    let ended = run(plan, dir.path(), &mut bed("bad", Trouble::NoProof), &mut Onlooker::default()).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 1, 0));
    let (file, records) = contents(dir.path());
    assert_eq!(file.status, RunStatus::Incomplete);
    for record in &records {
        let why = record.error.clone().unwrap_or_default();
        assert_eq!(record.path == "bad", why.contains("did not take the path: loopback: 1 packet"), "{why}");
    }
    // The next try finds the way.
    let mut onlooker = Onlooker::default();
    let ended = resume(dir.path(), &mut Bed::default(), &mut onlooker).unwrap();
    assert_eq!((ended.good, onlooker.started.len(), onlooker.started[0].path.as_str()), (1, 1, "bad"));
    let (again, records) = contents(dir.path());
    assert_eq!((again.status, records.len(), again.run_id), (RunStatus::Complete, 2, file.run_id));
    let aside = std::fs::read_to_string(dir.path().join("superseded.jsonl")).unwrap();
    assert!(aside.lines().count() == 1 && aside.contains("did not take the path"), "{aside}");
}

/// Three clients of one server; one of them, or the server, dies in the middle of the first trial.
fn dies(client: bool) -> (Bed, Onlooker, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 600))];
    let plan = plan(vec![path("x", 3, 1), path("y", 1, 1)], points, 1);
    let (mut bed, mut onlooker) = (bed("x", Trouble::Dies(300, client)), Onlooker::default());
    let ended = run(plan, dir.path(), &mut bed, &mut onlooker).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 0, 1), "{:?}", onlooker.failed);
    assert!(
        onlooker.failed[0].contains(if client { "client 3 of x" } else { "server 1 of x" }),
        "{:?}",
        onlooker.failed
    );
    (bed, onlooker, dir)
}

#[test]
fn a_client_that_dies_ends_the_trial_and_what_was_measured_is_kept() {
    let (mut bed, _, dir) = dies(true);
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len(), records.len()), (RunStatus::Incomplete, 1, 2));
    let cut = records.iter().find(|r| r.path == "x").unwrap();
    let why = cut.incomplete.clone().unwrap();
    assert!(why.contains("lost the agent client 3 of x"), "{why}");
    // The other two told what they did until then; nobody accounts for the third.
    assert!(cut.metrics["requests"] > 0.0 && cut.window_s > 0.05 && cut.window_s < 0.6, "{} s", cut.window_s);
    assert!(cut.error.is_none(), "half an account is no contradiction");
    bed.is_up = true;
    bed.down();
    // The agent is there again, and the trial is repeated; the others are not.
    let mut onlooker = Onlooker::default();
    let ended = resume(dir.path(), &mut Bed::default(), &mut onlooker).unwrap();
    assert_eq!((ended.good, onlooker.started.len()), (1, 1));
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len(), records.len()), (RunStatus::Complete, 0, 2));
    assert!(records.iter().all(|r| r.incomplete.is_none()));
}

#[test]
fn a_server_that_dies_ends_the_trial() {
    let (_, _, dir) = dies(false);
    assert_eq!(contents(dir.path()).0.failures.len(), 1);
}

#[test]
fn an_interrupted_trial_is_kept_as_incomplete_and_nothing_follows() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 400))];
    let plan = plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 2);
    // An interval is 20 ms; two ends tick.
    let mut onlooker = Onlooker { enough_after_ticks: Some(50), ..Onlooker::default() };
    let ended = run(plan, dir.path(), &mut Bed::default(), &mut onlooker).unwrap();
    assert!(ended.interrupted && ended.good < 4 && ended.failures == 0, "{ended:?}");
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len()), (RunStatus::Incomplete, 0));
    assert_eq!(records.len(), ended.good + 1);
    let last = records.last().unwrap();
    assert_eq!(last.incomplete.as_deref(), Some("interrupted"));
    assert!(last.metrics["requests"] > 0.0 && last.window_s < 0.4);
    // What is left is measured, and nothing twice.
    let mut onlooker = Onlooker::default();
    let more = resume(dir.path(), &mut Bed::default(), &mut onlooker).unwrap();
    assert_eq!((more.good, ended.good + more.good), (onlooker.left, 4));
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, records.len()), (RunStatus::Complete, 4));
}
