//! Searches whose trials fail.

use hopbench_model::{BrokenBound, RunStatus, Schedule, SearchBound, SearchOutcome};
use serde_json::json;

use super::{knee, rates, searched, searching, slo, steps, web, workshops};
use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, resume, run};
use crate::turn::Turn;

#[test]
fn a_search_fails_after_three_tries_and_is_made_when_the_path_is_whole_again() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let plan = searching(&["gone", "astray", "good"], vec![web(40, knee(&[1, 2], &[]))], 1);
    let trouble = [("gone", Trouble::NoRoute), ("astray", Trouble::NoProof)];
    let trouble = trouble.map(|(path, trouble)| (path.to_owned(), trouble)).into();
    let mut follower = Follower::default();
    let here = || workshops(&[("gone", 1), ("astray", 1), ("good", 1)]);
    let ended = run(plan, dir.path(), &mut Bed { trouble, ..here() }, &mut follower).unwrap();
    assert_eq!((ended.failures, ended.errors, ended.interrupted), (2, 0, false));
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len()), (RunStatus::Incomplete, 2));
    let reasons: Vec<_> = file
        .failures
        .iter()
        .map(|f| format!("{} {} {}: {}", f.path, f.point, f.round, f.reason))
        .collect();
    assert!(
        reasons.contains(&"gone connections=1 1: the road is closed; tried 3 times".to_owned()),
        "{reasons:?}"
    );
    assert!(
        reasons
            .iter()
            .any(|reason| reason.starts_with("astray connections=1 1: the traffic did not take")),
        "{reasons:?}"
    );
    assert_eq!(
        follower.notes.iter().filter(|note| note.contains("tried again")).count(),
        4,
        "{:?}",
        follower.notes
    );
    let good = steps(&records, "good");
    assert!(matches!(
        good.last().unwrap().outcome,
        Some(SearchOutcome::Found { .. } | SearchOutcome::AboveHighest)
    ));
    // What went astray is in the records, and no step of a search.
    let astray: Vec<_> = records.iter().filter(|record| record.path == "astray").collect();
    assert!(astray.len() == 1 && astray[0].error.is_some(), "the last of one trial");
    assert_eq!(astray[0].search.as_ref().unwrap().value, None);
    // Later all is well: what failed is searched from the start, what did not is not touched.
    let before: Vec<_> = good.into_iter().cloned().collect();
    let mut later = Follower::default();
    let ended = resume(dir.path(), &mut here(), &mut later).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", later.failed);
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.failures.len()), (RunStatus::Complete, 0));
    assert_eq!(steps(&records, "good").into_iter().cloned().collect::<Vec<_>>(), before);
    for path in ["gone", "astray"] {
        let steps = steps(&records, path);
        assert!(steps.last().unwrap().outcome.is_some() && steps[0].step == 1, "{path}");
    }
    assert!(records.iter().all(|record| record.error.is_none()));
}

#[test]
fn a_load_that_no_trial_can_have_is_told_at_once() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let mut web = web(40, knee(&[1, 2], &[]));
    web.job.threads = 2;
    let mut follower = Follower::default();
    let ended =
        run(searching(&["x"], vec![web], 1), dir.path(), &mut workshops(&[]), &mut follower)
            .unwrap();
    assert_eq!((ended.failures, ended.good, follower.searched.len()), (1, 0, 0));
    let reason = &contents(dir.path()).0.failures[0].reason;
    assert!(reason.contains("at most one thread a connection"), "{reason}");
}

/// The answers take longer than the client waits: every exchange of every load fails.
#[test]
fn a_load_under_which_exchanges_fail_is_too_high_and_no_error() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let mut web = searched(
        "http",
        json!({"url": "http://127.0.0.1/"}),
        60,
        slo(99.0, 1000, rates(50.0, 200.0)),
    );
    (web.job.schedule, web.job.connections) = (Schedule::Rate(50.0), 8);
    web.job.timing.timeout_ns = 20_000_000;
    web.server.request = "/?delay=200ms".to_owned();
    let mut follower = Follower::default();
    let ended =
        run(searching(&["x"], vec![web], 1), dir.path(), &mut Bed::default(), &mut follower)
            .unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", follower.failed);
    let (_, records) = contents(dir.path());
    let steps = steps(&records, "x");
    assert!(
        steps.iter().all(|step| step.load == 50.0 && !step.within && step.value.is_none()),
        "{steps:?}"
    );
    assert_eq!(steps.last().unwrap().outcome, Some(SearchOutcome::BelowLowest));
    let all_failed = BrokenBound { bound: SearchBound::Failed, share: 1.0 };
    assert!(steps.iter().all(|step| step.broken.contains(&all_failed)), "{steps:?}");
    assert!(records.iter().all(|record| {
        record.warnings.iter().any(|w| w.detail.contains("not one exchange succeeded"))
    }));
}
