//! Rounds, their order, and what stands in the folder afterwards.

use std::collections::BTreeSet;
use std::fs;

use hopbench_model::{
    Cell, Path, Plan, Reference, RunStatus, SECOND, Skipped, WarningKind, point_label,
};
use hopbench_run::results::{Folder, TrialId};
use hopbench_run::{order, uncompared};
use hopbench_testbed::Need;
use serde_json::json;

use crate::bed::Bed;
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{job, latency, path, plan, point};

#[test]
fn the_order_follows_from_seed_and_round() {
    let big =
        plan((0..10).map(|i| path(&i.to_string(), 1, 1)).collect(), latency(&[1, 2, 3, 4, 5]), 3);
    let indices =
        |plan, round| order(plan, round).iter().map(|c| (c.path, c.point)).collect::<Vec<_>>();
    let orders: Vec<_> = (1..=3).map(|round| indices(&big, round)).collect();
    for (round, one) in (1..).zip(&orders) {
        assert_eq!(one, &indices(&big, round), "the same every time");
        assert_eq!(one.iter().collect::<BTreeSet<_>>().len(), 50, "every cell once");
        // Fifty cells in random order keep few neighbours, and no path stays in one piece.
        let same_path = one.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        assert!(same_path < 20, "{same_path} of 49 neighbours are of one path");
    }
    assert!(orders[0] != orders[1] && orders[1] != orders[2], "each round has its own");
    assert_ne!(orders[0], indices(&Plan { seed: 8, ..big.clone() }, 1), "each seed has its own");
}

#[test]
fn the_cells_of_a_point_lie_next_to_each_other() {
    let paths = ["base", "base again", "x", "y"].map(|name| path(name, 1, 1));
    let sizes = ["1B", "64B", "4KiB"];
    let of =
        |size: &str| point("w", &[("size", json!(size))], job("rr", json!({"size": size}), 1, 50));
    let plan = plan(paths.into(), sizes.map(of).into(), 5);
    let rounds: Vec<_> = (1..=5).map(|round| order(&plan, round)).collect();
    for round in &rounds {
        assert_eq!(round.iter().collect::<std::collections::HashSet<_>>().len(), 12);
        let blocks: Vec<_> = round.chunks(4).collect();
        assert!(blocks.iter().all(|block| block.iter().all(|cell| cell.point == block[0].point)));
    }
    let orders = |of: fn(&[Cell]) -> Vec<usize>| {
        rounds.iter().map(|round| of(round)).collect::<BTreeSet<_>>().len()
    };
    assert!(orders(|round| round.iter().step_by(4).map(|cell| cell.point).collect()) > 1, "blocks");
    assert!(orders(|round| round[..4].iter().map(|cell| cell.path).collect()) > 1, "within one");
}

#[test]
fn a_budget_is_of_all_sessions_and_more_time_makes_more_rounds() {
    let dir = tempfile::tempdir().unwrap();
    let of =
        |size: &str| point("w", &[("size", json!(size))], job("rr", json!({"size": size}), 1, 50));
    // It is over as soon as the first trial began, but a run has a round.
    let plan = Plan {
        budget_ns: Some(1),
        ..plan(vec![path("x", 1, 1), path("y", 1, 1)], vec![of("1B")], 1)
    };
    let mut bed = Bed::default();
    run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let made = |rounds: u32, records: usize| {
        let (file, found) = contents(dir.path());
        assert_eq!(
            (file.status, file.plan.rounds, found.len()),
            (RunStatus::Complete, rounds, records)
        );
        assert!(file.spent_ns > 100_000_000, "{}: two windows of 50 ms", file.spent_ns);
        file
    };
    made(1, 2);
    // Nothing is missing, and the time is used up.
    resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let spent_ns = made(1, 2).spent_ns;
    let mut folder = Folder::resume(dir.path()).unwrap().0;
    folder.allow_more(2 * SECOND).unwrap();
    assert_eq!(folder.run().plan.budget_ns, Some(spent_ns + 2 * SECOND));
    drop(folder);
    resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    // A slow round makes the next look too long, so time that is left may do for one more later.
    let mut rounds = 1;
    for _ in 0..3 {
        let file = contents(dir.path()).0;
        assert!(file.plan.rounds >= rounds.max(2), "half of a round fits into 2 s");
        assert!(file.spent_ns <= spent_ns + 2 * SECOND + SECOND / 2, "{}", file.spent_ns);
        rounds = file.plan.rounds;
        made(rounds, 2 * rounds as usize);
        resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    }
}

#[test]
fn a_run_that_has_all_rounds_before_its_time_is_over_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let point = point("w", &[("size", json!("1B"))], job("rr", json!({"size": "1B"}), 1, 50));
    let plan = Plan { budget_ns: Some(1), ..plan(vec![path("x", 1, 1)], vec![point], 1) };
    let mut bed = Bed::default();
    run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap();
    // As if it had made all rounds but the last one.
    let [records, file] = ["records.jsonl", "run.json"].map(|name| dir.path().join(name));
    let record = fs::read_to_string(&records).unwrap();
    let of = |round: u32| record.replacen("\"round\":1,", &format!("\"round\":{round},"), 1);
    assert_ne!(of(2), record, "records are spelled in another way");
    fs::write(&records, (1..=999).map(of).collect::<String>()).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let changed = text.replacen("\"rounds\": 1,", "\"rounds\": 999,", 1);
    assert_ne!(changed, text, "run.json is spelled in another way");
    fs::write(&file, changed).unwrap();
    let mut folder = Folder::resume(dir.path()).unwrap().0;
    folder.allow_more(3600 * SECOND).unwrap();
    drop(folder);
    let mut follower = Follower::default();
    resume(dir.path(), &mut bed, &mut follower).unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, file.plan.rounds, records.len()), (RunStatus::Complete, 1000, 1000));
    for notes in [&file.notes, &follower.notes] {
        let says = |note: &String| note.contains(": a run has at most 1000. A longer `time`");
        assert!(notes.iter().any(says), "{notes:?}");
    }
}

#[test]
fn a_budget_that_is_ended_is_a_whole_run_of_less_time() {
    // Three times what it takes until it is ended, for busy machines.
    const BUDGET_NS: u64 = 5 * SECOND;
    let dir = tempfile::tempdir().unwrap();
    let of =
        |size: &str| point("w", &[("size", json!(size))], job("rr", json!({"size": size}), 1, 50));
    let plan = Plan {
        budget_ns: Some(BUDGET_NS),
        ..plan(vec![path("x", 1, 1), path("y", 1, 1)], vec![of("1B"), of("64B")], 1)
    };
    let mut bed = Bed::default();
    // Before anything was measured it is no run at all.
    let nothing = tempfile::tempdir().unwrap();
    let mut follower = Follower { enough_after_ticks: Some(0), ..Follower::default() };
    let ended = run(plan.clone(), nothing.path(), &mut bed, &mut follower).unwrap();
    assert!(ended.interrupted);
    assert_eq!(contents(nothing.path()).0.status, RunStatus::Incomplete);

    let told = |file: &hopbench_model::RunFile| {
        let about = |note: &&String| note.contains("the user ended the rounds after");
        file.notes.iter().filter(about).cloned().collect::<Vec<_>>()
    };
    // It ends in different places of a round, of which not all trials are made.
    let mut before = 0;
    for ticks in [20, 7, 3] {
        let mut follower = Follower { enough_after_ticks: Some(ticks), ..Follower::default() };
        let ended = match before {
            0 => run(plan.clone(), dir.path(), &mut bed, &mut follower).unwrap(),
            _ => resume(dir.path(), &mut bed, &mut follower).unwrap(),
        };
        assert!(!ended.interrupted && ended.failures == 0, "{ended:?}");
        let (file, records) = contents(dir.path());
        assert_eq!(file.status, RunStatus::Complete);
        assert!(file.spent_ns < BUDGET_NS && records.len() > before, "{}", file.spent_ns);
        before = records.len();
        assert!(records.iter().all(|record| record.incomplete.is_none()), "one was cut");
        let last = records.iter().map(|record| record.round).max();
        assert_eq!(last, Some(file.plan.rounds), "a round of which nothing is there");
        let notes = told(&file);
        assert_eq!(
            notes.last(),
            follower
                .notes
                .last()
                .map(|note| { format!("session {}: {note}", file.session) })
                .as_ref()
        );
        let missing = 4 * file.plan.rounds as usize - records.len();
        let says =
            format!(": {missing} of the 4 trials of round {} were not made", file.plan.rounds);
        let note = notes.last().expect("a note");
        assert!(note.ends_with(" of 5 s") || note.ends_with(&says), "{note}, {missing} missing");
        assert_eq!(note.ends_with(&says), missing > 0, "{note}");
    }
    // What is left of the time is for more rounds, and what was cut is made up for.
    resume(dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, records.len()), (RunStatus::Complete, 4 * file.plan.rounds as usize));
    assert!(records.len() > before && told(&file).len() == 3, "{:?}", file.notes);
}

#[test]
fn the_rounds_of_a_budget_go_on_without_a_path_that_is_gone_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    let of = point("w", &[("size", json!("1B"))], job("rr", json!({"size": "1B"}), 1, 50));
    // It is over after a round.
    let plan = Plan {
        budget_ns: Some(1),
        baseline: Some("x".to_owned()),
        ..plan(["x", "y", "z"].map(|name| path(name, 1, 1)).into(), vec![of], 1)
    };
    run(plan, dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    let mut folder = Folder::resume(dir.path()).unwrap().0;
    folder.allow_more(2 * SECOND).unwrap();
    drop(folder);
    let mut bed = Bed { unsupported: vec!["y".to_owned()], ..Bed::default() };
    let mut follower = Follower::default();
    let ended = resume(dir.path(), &mut bed, &mut follower).unwrap();
    let (file, records) = contents(dir.path());
    assert_eq!((file.status, ended.failures), (RunStatus::Complete, 0));
    let count = |path: &str| records.iter().filter(|record| record.path == path).count();
    let rounds = file.plan.rounds as usize;
    assert!(rounds > 1, "half of a round fits into 2 s");
    assert_eq!(["x", "y", "z"].map(count), [rounds, 1, rounds]);
    let note = "`y` cannot be measured any more, so the rounds of this session are without it: \
                this bed does not do it";
    assert_eq!(follower.notes, [note]);
    assert_eq!(file.notes.last(), Some(&format!("session {}: {note}", file.session)));
}

#[test]
fn every_cell_of_every_round_leaves_one_record() {
    let dir = tempfile::tempdir().unwrap();
    // A window that has room for an exchange where other tests have the CPUs.
    let of = |size: &str| {
        point("latency", &[("size", json!(size))], job("rr", json!({"size": size}), 1, 200))
    };
    let plan = plan(vec![path("x", 1, 1), path("y", 1, 1)], ["1B", "64B"].map(of).into(), 3);
    let (mut bed, mut follower) = (Bed::default(), Follower::default());
    let ended = run(plan.clone(), dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures, ended.interrupted), (12, 0, 0, false));
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, run.failures.len()), (RunStatus::Complete, 0));
    assert!(
        run.ended_at.is_some()
            && run.testbed["bed"] == "loopback"
            && run.environment.contains_key("kernel")
    );
    assert_eq!(run.plan, plan);
    let ids: Vec<_> = records.iter().map(TrialId::of).collect();
    assert_eq!(ids, follower.started, "records come in the order of the trials");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 12);
    let rounds: Vec<_> = records.iter().map(|r| r.round).collect();
    assert_eq!(rounds, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    let expected: Vec<_> = (1..=3)
        .flat_map(|round| order(&plan, round))
        .map(|cell| plan.paths[cell.path].name.clone())
        .collect();
    assert_eq!(bed.routes, expected);
    for record in &records {
        assert_eq!(
            (record.run_id.as_str(), record.workload.as_str()),
            (run.run_id.as_str(), "latency")
        );
        assert_eq!(record.job["workload"], "rr");
        assert!(
            record.metrics["requests"] > 0.0
                && record.error.is_none()
                && record.incomplete.is_none()
        );
        assert!(
            record.proof.iter().any(|p| p.hop == "loopback") && record.proof.iter().all(|p| p.ok)
        );
        let nodes: Vec<_> = record.cost.nodes.iter().map(|n| n.name.as_str()).collect();
        assert_eq!(nodes, ["a", "b"], "nodes have the testbed's names");
        assert!(record.settings["nodes_share_a_machine"].starts_with("a, b:"));
        assert!(!record.warnings.iter().any(|w| w.kind == WarningKind::Incomplete));
    }
    assert!(
        bed.opened.values().all(|n| *n == 1),
        "sessions are kept between trials: {:?}",
        bed.opened
    );
    assert!(!bed.is_up, "the testbed is taken down");
}

#[test]
fn what_cannot_be_measured_is_skipped_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(vec![path("x", 1, 1), path("y", 1, 1), path("z", 1, 1)], latency(&[1]), 2);
    let need = Need {
        path: Some("z".to_owned()),
        what: "runsc".to_owned(),
        why: "it is not in PATH".to_owned(),
        remedy: "install gVisor".to_owned(),
    };
    let mut bed = Bed { unsupported: vec!["x".to_owned()], missing: vec![need], ..Bed::default() };
    let mut follower = Follower::default();
    let ended = run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    assert_eq!((ended.good, bed.routes), (2, vec!["y".to_owned(), "y".to_owned()]));
    let (run, records) = contents(dir.path());
    assert_eq!((run.status, records.len()), (RunStatus::Complete, 2));
    let reasons: Vec<_> = run.skipped.iter().map(|s| format!("{}: {}", s.path, s.reason)).collect();
    assert_eq!(reasons, follower.skipped);
    assert_eq!(
        reasons,
        ["x: this bed does not do it", "z: runsc is missing: it is not in PATH; install gVisor"]
    );
}

#[test]
fn a_baseline_that_is_skipped_is_noted_once() {
    let plan = |baseline: &str| Plan {
        baseline: Some(baseline.to_owned()),
        ..plan(vec![path("x", 1, 1), path("y", 1, 1)], latency(&[1, 2]), 1)
    };
    let notes = |plan, bed: fn() -> Bed| {
        let dir = tempfile::tempdir().unwrap();
        let mut follower = Follower::default();
        run(plan, dir.path(), &mut bed(), &mut follower).unwrap();
        resume(dir.path(), &mut bed(), &mut Follower::default()).unwrap();
        let notes = contents(dir.path()).0.notes;
        assert_eq!(notes, follower.notes);
        notes
    };
    let without_x = || Bed { unsupported: vec!["x".to_owned()], ..Bed::default() };
    let all = "the baseline `x` cannot be measured here, so nothing is compared with it: this bed \
               does not do it";
    assert_eq!(notes(plan("x"), without_x), [all]);
    assert_eq!(notes(plan("y"), without_x), Vec::<String>::new());
    // One workload of two.
    let mut two = plan("x");
    two.points[1].workload = "other".to_owned();
    let without_other = || Bed { unsupported: vec!["x other".to_owned()], ..Bed::default() };
    let part = "the baseline `x` could not be measured in other, so nothing is compared with it \
                there: this bed does not do it";
    assert_eq!(notes(two, without_other), [part]);
}

#[test]
fn a_first_subject_that_is_skipped_is_noted_with_what_it_leaves_alone() {
    let path_of = |name: &str, reference: Option<(&str, bool)>| Path {
        reference: reference.map(|(path, again)| Reference { path: path.to_owned(), again }),
        ..path(name, 1, 1)
    };
    let paths = vec![
        path_of("x.old", None),
        path_of("x.new", Some(("x.old", false))),
        path_of("x.old again", Some(("x.old", true))),
        path_of("y.old", None),
        path_of("y.new", Some(("y.old", false))),
    ];
    let plan = plan(paths, latency(&[1, 2]), 1);
    let skipped = |names: &[&str]| -> Vec<Skipped> {
        let is_it = |cell: &&Cell| names.contains(&plan.at(**cell).0.name.as_str());
        let one = |cell: &Cell| {
            let (path, point) = plan.at(*cell);
            Skipped {
                path: path.name.clone(),
                workload: point.workload.clone(),
                point: point_label(&point.point),
                reason: "no such file".to_owned(),
            }
        };
        plan.cells.iter().filter(is_it).map(one).collect()
    };
    let whole =
        "`x.old` cannot be measured here, so `x.new` is compared with nothing: no such file";
    assert_eq!(uncompared(&plan, &skipped(&["x.old", "x.old again"])), [whole]);
    // What nobody misses is not told.
    for names in [&["x.old", "x.new"][..], &["x.new"], &[]] {
        assert_eq!(uncompared(&plan, &skipped(names)), Vec::<String>::new(), "{names:?}");
    }
    let part = "`y.old` could not be measured in latency, so `y.new` is compared with nothing \
                there: no such file";
    assert_eq!(uncompared(&plan, &skipped(&["y.old"])[..1]), [part]);

    // And a run says so, in its folder, too.
    let dir = tempfile::tempdir().unwrap();
    let mut bed = Bed { unsupported: vec!["y.old".to_owned()], ..Bed::default() };
    let mut follower = Follower::default();
    run(plan, dir.path(), &mut bed, &mut follower).unwrap();
    let told = "`y.old` cannot be measured here, so `y.new` is compared with nothing: this bed \
                does not do it";
    assert_eq!(contents(dir.path()).0.notes, [told]);
    assert_eq!(follower.notes, [told]);
}

#[test]
fn a_testbed_that_lacks_something_is_not_built() {
    let dir = tempfile::tempdir().unwrap();
    let need = Need {
        path: None,
        what: "user namespaces".to_owned(),
        why: "kernel.unprivileged_userns_clone=0".to_owned(),
        remedy: "use sudo".to_owned(),
    };
    let mut bed = Bed { missing: vec![need], ..Bed::default() };
    let plan = plan(vec![path("x", 1, 1)], latency(&[1]), 1);
    let fault = run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap_err();
    assert_eq!(fault.kind, hopbench_model::FaultKind::Environment);
    assert!(
        fault.text.contains("user namespaces is missing") && fault.text.contains("use sudo"),
        "{fault}"
    );
    assert_eq!(contents(dir.path()).0.status, RunStatus::Incomplete);
}

/// All meters of an agent take longer to read than this window is: it is over before its first
/// readings are there.
#[test]
fn a_window_that_is_over_before_it_was_looked_at_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let short = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 1))];
    let mut follower = Follower::default();
    let ended =
        run(plan(vec![path("x", 1, 1)], short, 20), dir.path(), &mut Bed::default(), &mut follower)
            .unwrap();
    assert_eq!((ended.good, ended.errors, ended.failures), (20, 0, 0), "{:?}", follower.failed);
}
