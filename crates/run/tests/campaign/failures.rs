//! Trials that go wrong.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;

use hopbench_agent::hello;
use hopbench_model::{Failure, RunFile, RunStatus, SECOND};
use hopbench_run::new_run;
use hopbench_run::results::Folder;
use hopbench_sys::clock;
use hopbench_testbed::Testbed;
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{job, latency, path, plan, point};

fn bed(path: &str, trouble: Trouble) -> Bed {
    Bed { trouble: BTreeMap::from([(path.to_owned(), trouble)]), ..Bed::default() }
}

#[test]
fn a_path_that_cannot_be_taken_fails_three_times_a_round_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("good", 1, 1)], latency(&[1, 2, 3, 4, 5]), 2);
    let (mut bed, mut follower) = (bed("bad", Trouble::NoRoute), Follower::default());
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (10, 0, 10));
    assert_eq!(bed.routes.iter().filter(|path| *path == "bad").count(), 6, "three tries a round");
    assert_eq!(follower.given_up, [("bad".to_owned(), 1, 2), ("bad".to_owned(), 2, 2)]);
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, records.len()), (RunStatus::Incomplete, 10));
    let reasons = |text: &str| {
        run.failures.iter().filter(|f| f.path == "bad" && f.reason.contains(text)).count()
    };
    assert_eq!((reasons("the road is closed"), reasons("not tried")), (6, 4));
}

#[test]
fn a_proof_that_fails_makes_the_record_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("good", 1, 1)], latency(&[1]), 1);
    let ended =
        run(plan, dir.path(), &mut bed("bad", Trouble::NoProof), &mut Follower::default()).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 1, 0));
    let (file, records) = contents(dir.path());
    assert_eq!(file.status, RunStatus::Incomplete);
    for record in &records {
        let why = record.error.clone().unwrap_or_default();
        assert_eq!(
            record.path == "bad",
            why.contains("did not take the path: loopback: 1 packet"),
            "{why}"
        );
    }
    // The next try finds the way.
    let mut follower = Follower::default();
    let ended = resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!(
        (ended.good, follower.started.len(), follower.started[0].path.as_str()),
        (1, 1, "bad")
    );
    let (again, records) = contents(dir.path());
    assert_eq!((again.status, records.len(), again.run_id), (RunStatus::Complete, 2, file.run_id));
    let aside = std::fs::read_to_string(dir.path().join("superseded.jsonl")).unwrap();
    assert!(aside.lines().count() == 1 && aside.contains("did not take the path"), "{aside}");
}

#[test]
fn no_evidence_is_no_proof() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("good", 1, 1)], latency(&[1]), 1);
    let ended =
        run(plan, dir.path(), &mut bed("bad", Trouble::NoEvidence), &mut Follower::default())
            .unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 1, 0));
    for record in &contents(dir.path()).1 {
        let why = record.error.clone().unwrap_or_default();
        assert_eq!(
            record.path == "bad",
            why.contains("did not take the path: bed: the testbed has no evidence"),
            "{why}"
        );
    }
}

/// Three clients of one server; one of them, or the server, dies in the middle of the first trial.
fn dies(client: bool) -> (Bed, Follower, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 600))];
    let plan = plan(vec![path("x", 3, 1), path("y", 1, 1)], points, 1);
    let (mut bed, mut follower) = (bed("x", Trouble::Dies(300, client)), Follower::default());
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (1, 0, 1), "{:?}", follower.failed);
    assert!(
        follower.failed[0].contains(if client { "client 3 of x" } else { "server 1 of x" }),
        "{:?}",
        follower.failed
    );
    (bed, follower, dir)
}

#[test]
fn a_client_that_dies_ends_the_trial_and_what_was_measured_is_kept() {
    let (mut bed, _, dir) = dies(true);
    let (file, records) = contents(dir.path());
    // The record says why; a failure beside it would be the same trial a second time.
    assert_eq!((file.status, file.failures.len(), records.len()), (RunStatus::Incomplete, 0, 2));
    let cut = records.iter().find(|r| r.path == "x").unwrap();
    let why = cut.incomplete.clone().unwrap();
    assert!(why.contains("lost the agent client 3 of x"), "{why}");
    // The other two told what they did until then; nobody accounts for the third.
    assert!(
        cut.metrics["requests"] > 0.0 && cut.window_s > 0.05 && cut.window_s < 0.6,
        "{} s",
        cut.window_s
    );
    assert!(cut.error.is_none(), "half an account is no contradiction");
    bed.is_up = true;
    bed.down();
    // The agent is there again, and the trial is repeated; the others are not.
    let mut follower = Follower::default();
    let ended = resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!((ended.good, follower.started.len()), (1, 1));
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len(), records.len()), (RunStatus::Complete, 0, 2));
    assert!(records.iter().all(|r| r.incomplete.is_none()));
}

#[test]
fn a_server_that_dies_ends_the_trial() {
    let (_, _, dir) = dies(false);
    let (file, records) = contents(dir.path());
    let cut: Vec<_> = records.iter().filter_map(|record| record.incomplete.as_deref()).collect();
    assert!(
        file.failures.is_empty() && cut.len() == 1 && cut[0].contains("server 1 of x"),
        "{cut:?}"
    );
}

#[test]
fn an_earlier_failure_stands_until_its_trial_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("bad", 1, 1), path("worse", 1, 1)], latency(&[1]), 1);
    let closed = [("bad", Trouble::NoRoute), ("worse", Trouble::NoRoute)];
    let mut bed = Bed {
        trouble: closed.map(|(path, trouble)| (path.to_owned(), trouble)).into(),
        ..Bed::default()
    };
    assert_eq!(run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap().failures, 2);
    let failed = || -> Vec<String> {
        contents(dir.path())
            .0
            .failures
            .into_iter()
            .map(|f| format!("{}: {}", f.path, f.reason))
            .collect()
    };
    let both = failed();
    assert!(
        both.len() == 2 && both.iter().all(|reason| reason.contains("the road is closed")),
        "{both:?}"
    );
    // A session that ends before it tries anything forgets nothing.
    let mut enough = Follower { enough_after_ticks: Some(0), ..Follower::default() };
    assert!(resume(dir.path(), &mut Bed::default(), &mut enough).unwrap().interrupted);
    assert_eq!(failed(), both);
    // What fails again is there once, what is measured no more.
    bed.trouble.remove("bad");
    let ended = resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    assert_eq!((ended.good, ended.failures), (1, 1));
    assert_eq!(failed(), ["worse: the road is closed"]);
    // What a crash kept from being crossed out is crossed out when the folder is taken up.
    let (file, _) = contents(dir.path());
    let stale = Failure { path: "bad".to_owned(), ..file.failures[0].clone() };
    let text = serde_json::to_string(&RunFile { failures: vec![stale], ..file }).unwrap();
    std::fs::write(dir.path().join("run.json"), text).unwrap();
    assert_eq!(Folder::resume(dir.path()).unwrap().0.run().failures, []);
}

#[test]
fn many_failures_are_not_written_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 1000);
    let mut folder =
        Folder::create(dir.path(), new_run(plan, String::new(), &hello()).unwrap()).unwrap();
    let (mut written, mut last) = (0, 0);
    let began = clock::now();
    for round in 1..=1000 {
        let of = |text: &str| text.to_owned();
        let (path, workload, point) = (of("x"), of("latency"), of("size=1B"));
        folder.fail(Failure { path, workload, point, round, reason: of("closed") }).unwrap();
        // Every writing makes a new file.
        let inode = std::fs::metadata(dir.path().join("run.json")).unwrap().ino();
        written += u64::from(inode != last);
        last = inode;
    }
    let seconds = (clock::now() - began) / SECOND;
    assert!(written <= 2 + seconds, "{written} times in {seconds} s");
    folder.update(|_| {}).unwrap();
    drop(folder);
    assert_eq!(contents(dir.path()).0.failures.len(), 1000);
    // What fails later is on the disk a second later at most, if anything happens.
    let (mut folder, _) = Folder::resume(dir.path()).unwrap();
    clock::sleep_until(clock::now() + SECOND);
    folder
        .fail(Failure { reason: "again".to_owned(), ..folder.run().failures[7].clone() })
        .unwrap();
    let failures = contents(dir.path()).0.failures;
    assert_eq!(
        (failures.len(), failures[999].round, failures[999].reason.as_str()),
        (1000, 8, "again")
    );
}

#[test]
fn an_interrupted_trial_is_kept_as_incomplete_and_nothing_follows() {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 400))];
    let plan = plan(vec![path("x", 1, 1), path("y", 1, 1)], points, 2);
    // Two ends are heard of ten times a second at most: four or five times in a trial.
    let mut follower = Follower { enough_after_ticks: Some(11), ..Follower::default() };
    let ended = run(plan, dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert!(ended.interrupted && ended.good < 4 && ended.failures == 0, "{ended:?}");
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len()), (RunStatus::Incomplete, 0));
    assert_eq!(records.len(), ended.good + 1);
    let last = records.last().unwrap();
    assert_eq!(last.incomplete.as_deref(), Some("interrupted"));
    assert!(last.metrics["requests"] > 0.0 && last.window_s < 0.4);
    // What is left is measured, and nothing twice.
    let mut follower = Follower::default();
    let more = resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!((more.good, ended.good + more.good), (follower.left, 4));
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, records.len()), (RunStatus::Complete, 4));
}
