//! Every path at the loads that were found on the others.

use std::collections::BTreeMap;

use hopbench_model::{EQUAL_LOAD, Record, RunStatus, SearchOutcome, SearchStep, record_of_line};

use super::{consistent, knee, searching, steps, web, workshops};
use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, resume, run};
use crate::turn::Turn;

const LEVELS: [u32; 5] = [1, 2, 4, 8, 16];

/// The knee of a path.
fn found(records: &[Record], path: &str) -> f64 {
    let outcomes = steps(records, path).into_iter().filter_map(|step| step.outcome);
    let loads: Vec<f64> = outcomes
        .map(|outcome| match outcome {
            SearchOutcome::Found { load, .. } => load,
            SearchOutcome::AboveHighest => 16.0,
            other => panic!("{path}: {other:?}"),
        })
        .collect();
    assert_eq!(loads.len(), 1, "{path}");
    loads[0]
}

#[test]
fn each_path_is_measured_at_the_load_of_the_other() {
    let _turn = Turn::alone();
    let dir = tempfile::tempdir().unwrap();
    let mut point = web(200, knee(&LEVELS, &[]));
    point.search.as_mut().unwrap().equal_load = true;
    let bed = || workshops(&[("one", 1), ("four", 4)]);
    let plan = searching(&["one", "four"], vec![point], 2);
    let mut follower = Follower::default();
    let ended = run(plan, dir.path(), &mut bed(), &mut follower).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", follower.failed);
    let (file, records) = contents(dir.path());
    assert_eq!(file.status, RunStatus::Complete);
    consistent(&records);
    let is_visit = |step: &SearchStep| step.goal == EQUAL_LOAD;
    let first =
        records.iter().position(|record| is_visit(record.search.as_ref().unwrap())).unwrap();
    assert!(
        records[first..].iter().all(|record| is_visit(record.search.as_ref().unwrap())),
        "they come last"
    );
    // By where, and where the load was found: how often, at which load, how fast on average.
    let mut visits: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for record in &records[first..] {
        let step = record.search.as_ref().unwrap();
        assert_eq!(
            (step.outcome, step.within, step.figure.as_str()),
            (None, true, "requests_per_s")
        );
        assert_eq!(step.value, Some(record.metrics["requests_per_s"]));
        visits.entry((&record.path, &step.why)).or_default().push((step.load, step.value.unwrap()));
    }
    let cells: Vec<_> = visits.keys().copied().collect();
    assert_eq!(cells, [("four", "four"), ("four", "one"), ("one", "four"), ("one", "one")]);
    for ((at, why), trials) in &visits {
        assert_eq!(trials.len(), 2, "{at} {why}: as often as there are rounds");
        let workers = found(&records, why);
        assert!(trials.iter().all(|(load, _)| *load == workers), "{at} {why}: {trials:?}");
    }
    let of = |at, why| visits[&(at, why)].iter().map(|(_, rate)| rate).sum::<f64>();
    // Four workers make more of four connections than of one, and one worker does not.
    assert!(found(&records, "four") > found(&records, "one"), "{visits:?}");
    assert!(
        of("four", "four") > 1.5 * of("four", "one") && of("one", "four") < 1.3 * of("one", "one"),
        "{visits:?}"
    );
    assert_eq!(visits[&("one", "one")].len() * 4, records.len() - first);
    // Both passes have all four.
    for pass in records[first..].chunks(4) {
        let mut cells: Vec<_> = pass
            .iter()
            .map(|record| (&*record.path, record.search.as_ref().unwrap().why.as_str()))
            .collect();
        cells.sort_unstable();
        assert_eq!(cells, visits.keys().copied().collect::<Vec<_>>());
    }
    // A crash in the middle of them: the rest comes, and in its order.
    let path = dir.path().join("records.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: String =
        text.lines().take(records.len() - 3).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, kept).unwrap();
    let mut later = Follower::default();
    let ended = resume(dir.path(), &mut bed(), &mut later).unwrap();
    assert_eq!((ended.good, later.searches), (3, (2, 0)));
    let again = contents(dir.path()).1;
    let trial = |record: &Record| (record.path.clone(), record.point.clone(), record.round);
    assert_eq!(
        again.iter().map(trial).collect::<Vec<_>>(),
        records.iter().map(trial).collect::<Vec<_>>()
    );
}

/// Two paths with one load; trials of one of them at it fail, whichever path it was found on.
#[test]
fn what_fails_at_one_load_found_on_two_paths_are_two_trials() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let mut point = web(40, knee(&[1], &[]));
    point.search.as_mut().unwrap().equal_load = true;
    let bed = || workshops(&[("one", 1), ("two", 1)]);
    run(
        searching(&["one", "two"], vec![point], 1),
        dir.path(),
        &mut bed(),
        &mut Follower::default(),
    )
    .unwrap();
    let path = dir.path().join("records.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: String = text
        .lines()
        .filter(|line| !line.contains(EQUAL_LOAD))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&path, kept).unwrap();
    let trouble = [("one".to_owned(), Trouble::NoRoute)].into();
    let ended =
        resume(dir.path(), &mut Bed { trouble, ..bed() }, &mut Follower::default()).unwrap();
    assert_eq!((ended.failures, ended.good), (2, 2));
    let failures = contents(dir.path()).0.failures;
    assert!(failures.iter().all(|f| f.path == "one" && f.point == "connections=1"), "{failures:?}");
    assert_eq!(
        (failures.len(), failures[0].round.abs_diff(failures[1].round)),
        (2, 1),
        "{failures:?}"
    );
    let ended = resume(dir.path(), &mut bed(), &mut Follower::default()).unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!((ended.good, file.status, file.failures.len()), (2, RunStatus::Complete, 0));
    assert_eq!(
        records.iter().filter(|record| record.search.as_ref().unwrap().goal == EQUAL_LOAD).count(),
        4
    );
}

/// A run of the knee of two paths, each measured once at both loads; what its records say, a line
/// each.
fn compared(threads: &[u32]) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let mut point = web(40, knee(&[1], threads));
    point.search.as_mut().unwrap().equal_load = true;
    let bed = &mut workshops(&[("one", 1), ("two", 1)]);
    let ended =
        run(searching(&["one", "two"], vec![point], 1), dir.path(), bed, &mut Follower::default())
            .unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0));
    let text = std::fs::read_to_string(dir.path().join("records.jsonl")).unwrap();
    (dir, text.lines().map(|line| format!("{line}\n")).collect())
}

/// The number of connections is that of the search, the number of threads is not.
#[test]
fn a_trial_at_an_equal_load_counts_only_with_all_that_was_found() {
    let _turn = Turn::shared();
    let (dir, mut lines) = compared(&[1]);
    let shared = contents(dir.path()).0.shared;
    let visit = lines.iter_mut().find(|line| line.contains(EQUAL_LOAD)).unwrap();
    let mut record = record_of_line(visit.as_bytes(), &shared).unwrap();
    assert_eq!((&record.job["connections"], &record.job["threads"]), (&1.into(), &1.into()));
    record.job["threads"] = 2.into();
    *visit = format!("{}\n", serde_json::to_string(&record).unwrap());
    std::fs::write(dir.path().join("records.jsonl"), lines.concat()).unwrap();
    let bed = &mut workshops(&[("one", 1), ("two", 1)]);
    let mut later = Follower::default();
    let ended = resume(dir.path(), bed, &mut later).unwrap();
    assert_eq!((ended.good, ended.failures), (1, 0), "{:?}", later.searched);
    let (path, step) = &later.searched[0];
    assert_eq!(
        (path, &step.why, step.goal.as_str()),
        (&record.path, &record.search.unwrap().why, EQUAL_LOAD)
    );
}

/// A path whose search was over, but which was not measured yet at what was found.
#[test]
fn a_path_that_is_gone_misses_the_loads_that_were_found_and_the_others_have_its_load() {
    let _turn = Turn::shared();
    let (dir, lines) = compared(&[]);
    let kept: String = lines.into_iter().filter(|line| !line.contains(EQUAL_LOAD)).collect();
    std::fs::write(dir.path().join("records.jsonl"), kept).unwrap();
    let bed = || workshops(&[("one", 1), ("two", 1)]);
    let mut later = Follower::default();
    let ended =
        resume(dir.path(), &mut Bed { unsupported: vec!["one".to_owned()], ..bed() }, &mut later)
            .unwrap();
    assert_eq!((ended.failures, ended.good), (2, 2), "{:?}", later.searched);
    let mut found_on: Vec<_> =
        later.searched.iter().map(|(path, step)| (path.as_str(), step.why.as_str())).collect();
    found_on.sort_unstable();
    assert_eq!(found_on, [("two", "one"), ("two", "two")]);
    let file = contents(dir.path()).0;
    assert_eq!(
        (file.status, file.skipped.len(), file.failures.len()),
        (RunStatus::Incomplete, 0, 2)
    );
    for failure in &file.failures {
        assert_eq!((failure.path.as_str(), failure.point.as_str()), ("one", "connections=1"));
        assert_eq!(failure.reason, "it cannot be measured any more: this bed does not do it");
    }
    // When the path is there again nothing is missing.
    let ended = resume(dir.path(), &mut bed(), &mut Follower::default()).unwrap();
    let file = contents(dir.path()).0;
    assert_eq!((ended.good, file.status, file.failures.len()), (2, RunStatus::Complete, 0));
}

/// A record of a path that is no longer there must not pass for a trial of a search that is open.
#[test]
fn a_trial_at_an_equal_load_is_no_trial_of_a_search() {
    let _turn = Turn::shared();
    let dir = tempfile::tempdir().unwrap();
    let bed = || workshops(&[("one", 1)]);
    let plan = searching(&["one"], vec![web(40, knee(&[1, 2], &[]))], 1);
    run(plan, dir.path(), &mut bed(), &mut Follower::default()).unwrap();
    let path = dir.path().join("records.jsonl");
    let mut first = contents(dir.path()).1.remove(0);
    let step = first.search.as_mut().unwrap();
    (step.goal, step.why, step.outcome) = (EQUAL_LOAD.to_owned(), "past".to_owned(), None);
    let load = step.load;
    std::fs::write(&path, format!("{}\n", serde_json::to_string(&first).unwrap())).unwrap();
    let mut later = Follower::default();
    resume(dir.path(), &mut bed(), &mut later).unwrap();
    assert_eq!(
        (later.searched[0].1.load, later.searched[0].1.step),
        (load, 2),
        "the search begins at its start"
    );
    assert!(later.notes.iter().all(|note| !note.contains("otherwise")), "{:?}", later.notes);
}
