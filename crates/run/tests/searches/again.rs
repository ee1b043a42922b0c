//! Searches that a crash ended in the middle.

use std::fs;
use std::path::Path;

use hopbench_model::{EQUAL_LOAD, Plan, Record, RunStatus, SearchStep, StopRule};
use hopbench_run::results::Folder;

use super::{knee, searching, steps, web, workshops};
use crate::bed::Bed;
use crate::follower::{Follower, contents, resume, run};
use crate::turn::Turn;

fn bed() -> Bed {
    workshops(&[("one", 1), ("two", 2)])
}

/// A whole run of two searches.
fn whole() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let plan = searching(&["one", "two"], vec![web(60, knee(&[1, 2, 4], &[1]))], 1);
    let mut follower = Follower::default();
    let ended = run(plan, dir.path(), &mut bed(), &mut follower).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", follower.failed);
    dir
}

/// A copy as a crash could have left it after so many bytes of records.
fn crashed(whole: &Path, bytes: &[u8]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let run = fs::read_to_string(whole.join("run.json")).unwrap();
    fs::write(dir.path().join("run.json"), run.replace("\"complete\"", "\"running\"")).unwrap();
    fs::write(dir.path().join("records.jsonl"), bytes).unwrap();
    dir
}

fn loads(steps: &[&SearchStep]) -> Vec<(u32, String, f64)> {
    steps.iter().map(|step| (step.step, step.parameter.clone(), step.load)).collect()
}

#[test]
fn a_crash_at_any_trial_loses_that_trial_and_the_search_goes_on_as_it_would_have() {
    let _turn = Turn::shared();
    let whole = whole();
    let bytes = fs::read(whole.path().join("records.jsonl")).unwrap();
    let all = contents(whole.path()).1;
    let ends: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    assert!(ends.len() >= 15, "{}", ends.len());
    for complete in [1, ends.len() / 2, ends.len() - 1] {
        // In the middle of the line after it.
        let start = ends[complete - 1];
        let dir = crashed(whole.path(), &bytes[..start + 100]);
        let (folder, resumed) = Folder::resume(dir.path()).unwrap();
        assert_eq!(
            (resumed.searched.len(), resumed.notes.len()),
            (complete, 1),
            "{:?}",
            resumed.notes
        );
        drop(folder);
        let mut follower = Follower::default();
        let ended = resume(dir.path(), &mut bed(), &mut follower).unwrap();
        assert_eq!(
            (ended.failures, ended.errors, ended.interrupted),
            (0, 0, false),
            "{:?}",
            follower.failed
        );
        let (run, again) = contents(dir.path());
        assert_eq!(run.status, RunStatus::Complete);
        let now = fs::read(dir.path().join("records.jsonl")).unwrap();
        assert_eq!(now[..start], bytes[..start], "{complete}: what was there stays");
        assert_eq!(again[..complete], all[..complete]);
        // The values of the rest are others; the next of each search follows from what was there.
        let next =
            |records: &[Record]| (records[complete].path.clone(), records[complete].point.clone());
        assert_eq!(next(&again), next(&all), "{complete}: the trial that was lost comes first");
        for path in ["one", "two"] {
            let (before, after) = (loads(&steps(&all, path)), loads(&steps(&again, path)));
            let kept = all[..complete].iter().filter(|record| record.path == path).count();
            assert_eq!(after[..kept], before[..kept], "{path}");
            assert_eq!(
                after.get(kept),
                before.get(kept),
                "{path}: the first trial after the crash"
            );
            let steps = steps(&again, path);
            assert!(steps.last().unwrap().outcome.is_some());
            assert_eq!(
                steps.iter().filter(|step| step.outcome.is_some()).count(),
                2,
                "connections and threads"
            );
        }
    }
    // What is whole stays whole.
    let mut follower = Follower::default();
    let ended = resume(whole.path(), &mut bed(), &mut follower).unwrap();
    assert_eq!((ended.good, follower.searches, follower.searched.len()), (0, (2, 0), 0));
}

#[test]
fn a_user_who_has_enough_keeps_what_was_measured() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let plan = searching(&["one", "two"], vec![web(80, knee(&[1, 2, 4, 8], &[]))], 1);
    // Each trial has ticks of both of its ends every 20 ms.
    let mut follower = Follower { enough_after_ticks: Some(40), ..Follower::default() };
    let ended = run(plan, dir.path(), &mut bed(), &mut follower).unwrap();
    assert_eq!(
        (ended.interrupted, ended.failures, ended.errors),
        (true, 0, 0),
        "{:?}",
        follower.failed
    );
    let (file, records) = contents(dir.path());
    let whole =
        |records: &[Record]| records.iter().filter(|record| record.incomplete.is_none()).count();
    assert_eq!(
        (file.status, file.failures.len(), ended.good),
        (RunStatus::Incomplete, 0, whole(&records))
    );
    assert!((1..20).contains(&ended.good), "{}", ended.good);
    let mut later = Follower::default();
    let ended = resume(dir.path(), &mut bed(), &mut later).unwrap();
    assert_eq!(
        (ended.failures, ended.errors, ended.interrupted),
        (0, 0, false),
        "{:?}",
        later.failed
    );
    let (file, again) = contents(dir.path());
    assert_eq!((file.status, whole(&again)), (RunStatus::Complete, again.len()));
    for path in ["one", "two"] {
        let numbers: Vec<u32> = steps(&again, path).iter().map(|step| step.step).collect();
        assert_eq!(
            numbers,
            (1..=u32::try_from(numbers.len()).unwrap()).collect::<Vec<_>>(),
            "{path}"
        );
    }
}

#[test]
fn a_search_that_cannot_be_finished_any_more_has_failed_and_one_that_was_finished_has_not() {
    let _turn = Turn::shared();
    let whole = whole();
    let bytes = fs::read(whole.path().join("records.jsonl")).unwrap();
    // Each path has had a trial or more.
    let half = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(3).unwrap().0 + 1;
    let dir = crashed(whole.path(), &bytes[..half]);
    let without_one = || Bed { unsupported: vec!["one".to_owned()], ..bed() };
    let ended = resume(dir.path(), &mut without_one(), &mut Follower::default()).unwrap();
    assert_eq!((ended.failures, ended.errors), (1, 0));
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, run.skipped.len(), run.failures.len()), (RunStatus::Incomplete, 0, 1));
    let (failure, measured) = (&run.failures[0], steps(&records, "one").len());
    assert_eq!(failure.reason, "the search is not finished: this bed does not do it");
    assert_eq!((failure.path.as_str(), failure.round as usize), ("one", measured + 1));
    assert!(steps(&records, "two").last().unwrap().outcome.is_some(), "the other goes on");
    // When the path is there again the search goes on.
    resume(dir.path(), &mut bed(), &mut Follower::default()).unwrap();
    let (run, _) = contents(dir.path());
    assert_eq!((run.status, run.failures.len()), (RunStatus::Complete, 0));
    // What was finished before is neither skipped nor missing.
    resume(whole.path(), &mut without_one(), &mut Follower::default()).unwrap();
    let (run, _) = contents(whole.path());
    assert_eq!((run.status, run.skipped.len(), run.failures.len()), (RunStatus::Complete, 0, 0));
}

#[test]
fn searches_end_with_the_time_and_each_session_makes_a_pass() {
    let _turn = Turn::shared();
    let rule = StopRule {
        half_width_share: 0.02,
        metric: "throughput".to_owned(),
        min_rounds: 3,
        budget_ns: Some(1),
    };
    passes_of_sessions(|plan| plan.stop = Some(rule));
    // Nothing but searches: the budget of a plan is theirs.
    passes_of_sessions(|plan| plan.budget_ns = Some(1));
}

fn passes_of_sessions(limit: impl FnOnce(&mut Plan)) {
    let dir = tempfile::tempdir().unwrap();
    let mut point = web(40, knee(&[1], &[]));
    point.search.as_mut().unwrap().equal_load = true;
    let mut plan = searching(&["one", "two"], vec![point], 1);
    limit(&mut plan);
    let mut ended = run(plan, dir.path(), &mut bed(), &mut Follower::default()).unwrap();
    let mut sessions = 1;
    while ended.failures > 0 {
        let (file, _) = contents(dir.path());
        assert_eq!((file.status, file.failures.len()), (RunStatus::Incomplete, ended.failures));
        assert!(
            file.failures
                .iter()
                .all(|f| f.reason == "the time (`budget`) ended; `--resume` goes on")
        );
        assert!(ended.good >= 1, "session {sessions}");
        ended = resume(dir.path(), &mut bed(), &mut Follower::default()).unwrap();
        sessions += 1;
        assert!(sessions < 20);
    }
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len()), (RunStatus::Complete, 0));
    assert!(sessions > 1 && steps(&records, "one").iter().any(|step| step.goal == EQUAL_LOAD));
}
