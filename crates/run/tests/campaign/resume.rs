//! Folders that a run left before its end, or that cannot be used.

use std::fs;
use std::path::{Path, PathBuf};

use hopbench_agent::hello;
use hopbench_model::{FaultKind, Plan, Record, RunFile, RunStatus, SharedParts, record_of_line};
use hopbench_run::results::{Folder, TrialId, open, read};
use hopbench_run::{Campaign, new_run, same_build};
use hopbench_wire::Hello;

use crate::bed::Bed;
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{latency, path, plan};

fn small() -> Plan {
    plan(vec![path("x", 1, 1), path("y", 1, 1)], latency(&[1, 64]), 2)
}

/// A folder with all eight records of [`small`].
fn finished() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let ended = run(small(), dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    assert_eq!((ended.good, ended.errors), (8, 0));
    dir
}

fn records(dir: &Path) -> PathBuf {
    dir.join("records.jsonl")
}

/// Where the lines end.
fn line_ends(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|i| bytes[*i] == b'\n').map(|i| i + 1).collect()
}

/// The line of a record that says little.
fn bare(record: &Record) -> Vec<u8> {
    let mut record = Record { job: serde_json::Value::Null, ..record.clone() };
    record.environment = hopbench_model::Environment::default();
    record.cost = hopbench_model::Cost::default();
    record.settings.clear();
    record.latency.clear();
    record.intervals.clear();
    record.metrics.clear();
    let mut line = serde_json::to_vec(&record).unwrap();
    line.push(b'\n');
    line
}

/// A copy as a crash could have left it: `bytes` of records, and a run that never ended.
fn crashed(whole: &Path, bytes: &[u8]) -> tempfile::TempDir {
    // A disk would be waited for at each of them.
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let run = fs::read_to_string(whole.join("run.json")).unwrap();
    fs::write(dir.path().join("run.json"), run.replace("\"complete\"", "\"running\"")).unwrap();
    fs::write(records(dir.path()), bytes).unwrap();
    dir
}

#[test]
fn a_crash_at_any_byte_loses_the_line_under_way_and_nothing_else() {
    let whole = finished();
    let ids: Vec<_> = contents(whole.path()).1.iter().map(TrialId::of).collect();
    // Less of everything, so that every byte can be tried.
    let bytes: Vec<u8> = contents(whole.path()).1.iter().flat_map(bare).collect();
    let ends = line_ends(&bytes);
    let from = ends[ends.len() - 3];
    for cut in from..=bytes.len() {
        let dir = crashed(whole.path(), &bytes[..cut]);
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let (folder, resumed) = Folder::resume(dir.path()).unwrap();
        assert_eq!(resumed.done, ids[..complete].iter().cloned().collect(), "cut at {cut}");
        let clean = ends.contains(&cut);
        assert_eq!(resumed.notes.len(), usize::from(!clean), "{:?}", resumed.notes);
        drop(folder);
        assert_eq!(
            fs::read(records(dir.path())).unwrap(),
            bytes[..ends[complete - 1]],
            "cut at {cut}"
        );
    }
    // What is missing is measured, once, at a few of these places.
    let bytes = fs::read(records(whole.path())).unwrap();
    let ends = line_ends(&bytes);
    let from = ends[ends.len() - 3];
    for cut in [from, from + 1, ends[ends.len() - 2] + 100, bytes.len() - 1, bytes.len()] {
        let dir = crashed(whole.path(), &bytes[..cut]);
        let complete = ends.iter().filter(|end| **end <= cut).count();
        let mut follower = Follower::default();
        let ended = resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
        assert_eq!((ended.good, follower.started.len()), (8 - complete, 8 - complete));
        assert_eq!(follower.started, ids[complete..], "the rest, in the order it would have had");
        let (run, all) = contents(dir.path());
        assert_eq!((run.status, all.len()), (RunStatus::Complete, 8));
        assert!(all.iter().all(|record| record.run_id == run.run_id));
        assert_eq!(
            fs::read(records(dir.path())).unwrap()[..ends[complete - 1]],
            bytes[..ends[complete - 1]]
        );
    }
}

#[test]
fn zeros_at_the_end_are_a_crash_and_damage_in_the_middle_is_told() {
    let whole = finished();
    let mut bytes = fs::read(records(whole.path())).unwrap();
    // A block that never reached the disk, in a line whose end did.
    let last = bytes.len() - 200;
    bytes[last..last + 100].fill(0);
    let dir = crashed(whole.path(), &bytes);
    let (run, all, notes) = read(dir.path()).unwrap();
    assert_eq!((run.status, all.len(), notes.len()), (RunStatus::Running, 7, 1));
    assert!(
        notes[0].contains("line 8") && notes[0].contains("never reached the disk"),
        "{notes:?}"
    );
    assert_eq!(Folder::resume(dir.path()).unwrap().1.done.len(), 7);

    let mut bytes = fs::read(records(whole.path())).unwrap();
    let middle = bytes.iter().position(|b| *b == b'\n').unwrap() + 50;
    bytes[middle..middle + 10].fill(b'#');
    let dir = crashed(whole.path(), &bytes);
    for fault in [read(dir.path()).unwrap_err(), Folder::resume(dir.path()).unwrap_err()] {
        assert_eq!(fault.kind, FaultKind::Input);
        assert!(
            fault.text.contains("records.jsonl line 2 is damaged")
                && fault.text.contains("--resume"),
            "{fault}"
        );
    }
    assert_eq!(fs::read(records(dir.path())).unwrap(), bytes, "nothing was changed");
    // Read one at a time, what stands before the damage is told first.
    let (_, mut one_by_one) = open(dir.path()).unwrap();
    assert!(
        one_by_one.next().unwrap().is_ok()
            && one_by_one.next().unwrap().is_err()
            && one_by_one.next().is_none()
    );
}

#[test]
fn folders_that_are_no_results_are_refused() {
    let refusal = |dir: &Path| {
        let fault = Folder::resume(dir).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Input, "{fault}");
        assert_eq!(read(dir).unwrap_err().kind, FaultKind::Input);
        fault.text
    };
    let dir = tempfile::tempdir().unwrap();
    assert!(refusal(&dir.path().join("none")).contains("there is no folder"));
    assert!(refusal(dir.path()).contains("is no results folder"));
    let run_json = dir.path().join("run.json");
    fs::write(&run_json, "{\"schema\": \"hopbench.run/9\"}").unwrap();
    let text = refusal(dir.path());
    assert!(text.contains("found `hopbench.run/9`, expected `hopbench.run/1`"), "{text}");
    fs::write(&run_json, "{\"schema\": \"hop").unwrap();
    assert!(refusal(dir.path()).contains("run.json is damaged"));
    let other = finished();
    let text = fs::read_to_string(records(other.path())).unwrap();
    let id = read(other.path()).unwrap().0.run_id;
    fs::write(records(other.path()), text.replacen(&id, "feedfeedfeedfeed", 1)).unwrap();
    assert!(refusal(other.path()).contains("line 1 is of run feedfeedfeedfeed"));
}

#[test]
fn a_plan_of_more_rounds_than_any_scenario_is_damaged() {
    let whole = finished();
    let run_json = whole.path().join("run.json");
    let text = fs::read_to_string(&run_json).unwrap();
    for rounds in [0, 1001, u64::from(u32::MAX)] {
        let changed = text.replacen("\"rounds\": 2", &format!("\"rounds\": {rounds}"), 1);
        assert_ne!(changed, text, "run.json is spelled in another way");
        fs::write(&run_json, changed).unwrap();
        for fault in [read(whole.path()).unwrap_err(), Folder::resume(whole.path()).unwrap_err()] {
            assert_eq!(fault.kind, FaultKind::Input);
            assert!(
                fault.text.contains(&format!("the plan has {rounds} rounds, expected 1 to 1000")),
                "{fault}"
            );
        }
    }
}

#[test]
fn a_record_of_a_later_round_than_any_run_has_is_damaged() {
    let whole = finished();
    let file = whole.path().join("records.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    for round in ["1001", "4294967295"] {
        let changed = text.replacen("\"round\":2", &format!("\"round\":{round}"), 1);
        assert_ne!(changed, text, "records are spelled in another way");
        fs::write(&file, changed).unwrap();
        for fault in [read(whole.path()).unwrap_err(), Folder::resume(whole.path()).unwrap_err()] {
            assert_eq!(fault.kind, FaultKind::Input);
            assert!(
                fault.text.contains(&format!("found round {round}, expected at most 1000")),
                "{fault}"
            );
        }
    }
}

/// What comes of reading a folder; that it comes at all is part of the test.
fn refusal_in_time(dir: &Path) -> [String; 2] {
    let (sender, receiver) = std::sync::mpsc::channel();
    let dir = dir.to_owned();
    std::thread::spawn(move || {
        let _ = sender.send([read(&dir).map(drop), Folder::resume(&dir).map(drop)]);
    });
    let done =
        receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("an answer within 20 s");
    done.map(|result| {
        let fault = result.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Input, "{fault}");
        fault.text
    })
}

#[test]
fn files_without_end_are_neither_waited_for_nor_read() {
    for name in ["run.json", "records.jsonl"] {
        let dir = finished();
        let path = dir.path().join(name);
        let refused = |found: &str| {
            for text in refusal_in_time(dir.path()) {
                assert!(
                    text.contains(name) && text.contains(&format!("found {found}, expected")),
                    "{text}"
                );
            }
            let gone = if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) };
            gone.unwrap();
        };
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused("a folder");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        refused("a pipe");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        refused("a device");
        // All of it is a hole.
        fs::File::create(&path).unwrap().set_len(65 << 20).unwrap();
        let texts = refusal_in_time(dir.path());
        assert!(
            texts.iter().all(|text| text.contains(name) && text.contains("64 MiB")),
            "{texts:?}"
        );
    }
}

#[test]
fn a_folder_is_used_by_one_process_and_only_when_it_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("deep/er");
    let run_file = || new_run(small(), String::new(), &hello()).unwrap();
    let folder = Folder::create(&at, run_file()).unwrap();
    for fault in [Folder::resume(&at).unwrap_err(), Folder::create(&at, run_file()).unwrap_err()] {
        assert_eq!(fault.kind, FaultKind::Input);
        assert!(fault.text.contains("another hopbench is writing to"), "{fault}");
    }
    drop(folder);
    let fault = Folder::create(&at, run_file()).unwrap_err();
    assert!(fault.kind == FaultKind::Input && fault.text.contains("is not empty"), "{fault}");
    assert!(Folder::resume(&at).is_ok());
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(Folder::create(&file, run_file()).unwrap_err().kind, FaultKind::Environment);
}

#[test]
fn a_run_that_goes_on_elsewhere_says_so() {
    let whole = finished();
    let bytes = fs::read(records(whole.path())).unwrap();
    let dir = crashed(whole.path(), &bytes);
    let (folder, resumed) = Folder::resume(dir.path()).unwrap();
    let mut elsewhere = hello();
    elsewhere.machine.insert("kernel".to_owned(), "99.1".to_owned());
    elsewhere.version = "9.9.9".to_owned();
    let mut follower = Follower::default();
    let finished =
        Campaign::resume(folder, resumed, elsewhere).run(&mut Bed::default(), &mut follower);
    assert_eq!(
        (finished.fault, finished.ended.good, follower.started.len()),
        (None, 0, 0),
        "everything was there"
    );
    assert!(
        follower.notes.iter().any(|n| n.contains("another kernel") && n.contains("99.1")),
        "{:?}",
        follower.notes
    );
    assert!(follower.notes.iter().any(|n| n.contains("another version")), "{:?}", follower.notes);
    drop(finished.folder);
    // Later still, on a machine that was started again, where the testbed turns out otherwise.
    let (folder, resumed) = Folder::resume(dir.path()).unwrap();
    let mut later = Hello { boot_id: "another".to_owned(), ..hello() };
    later.machine.insert("cpu_count".to_owned(), "77".to_owned());
    let facts = (0..9).map(|n| (format!("fact {n}"), "new".to_owned())).collect();
    let mut bed = Bed { facts, ..Bed::default() };
    let mut follower = Follower::default();
    assert_eq!(Campaign::resume(folder, resumed, later).run(&mut bed, &mut follower).fault, None);
    let notes = contents(dir.path()).0.notes;
    let of = |session: &str| -> Vec<&String> {
        notes.iter().filter(|note| note.starts_with(session)).collect()
    };
    let (second, third) = (of("session 2: "), of("session 3: "));
    assert!(
        second.len() == 2 && second[0].contains("99.1") && second[1].contains("9.9.9"),
        "{notes:?}"
    );
    assert!(
        third.len() == 3 && third[0].contains("boot_id") && third[1].contains("now it is 77"),
        "{notes:?}"
    );
    let testbed = "resumed on a testbed that is not as it was: bed (it was loopback, now it is \
                   unknown), fact 0 (it was";
    assert!(third[2].contains(testbed) && third[2].ends_with(", and 5 facts more"), "{notes:?}");
    assert!(follower.notes.iter().any(|note| note.contains(testbed)), "{:?}", follower.notes);
}

/// Makes of a folder what a version before `hopbench.record/2` left: all of a record is in its
/// line, and `run.json` has nothing that they share.
fn make_old(dir: &Path) -> String {
    let (mut run, all) = contents(dir);
    assert!(!run.shared.is_empty(), "the records share nothing");
    run.shared = SharedParts::default();
    fs::write(dir.join("run.json"), serde_json::to_vec(&run).unwrap()).unwrap();
    let old = |record: &Record| Record { schema: "hopbench.record/1".to_owned(), ..record.clone() };
    let lines = all.iter().map(|r| serde_json::to_string(&old(r)).unwrap() + "\n");
    let lines: String = lines.collect();
    fs::write(records(dir), &lines).unwrap();
    lines
}

#[test]
fn a_run_whose_records_are_older_goes_on_beside_them() {
    let dir = finished();
    let new = contents(dir.path()).1;
    let lines = make_old(dir.path());
    let old = contents(dir.path()).1;
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(Record { schema: new.schema.clone(), ..old.clone() }, *new);
    }
    // Half of it is lost.
    let bytes = lines.as_bytes();
    let kept = line_ends(bytes)[3];
    fs::write(records(dir.path()), &bytes[..kept]).unwrap();
    let mut follower = Follower::default();
    let ended = resume(dir.path(), &mut Bed::default(), &mut follower).unwrap();
    assert_eq!((ended.good, follower.started.len()), (4, 4));
    let (run, all) = contents(dir.path());
    assert_eq!(all[..4], old[..4]);
    let schemas: Vec<&str> = all.iter().map(|record| record.schema.as_str()).collect();
    assert_eq!(schemas, [["hopbench.record/1"; 4], ["hopbench.record/2"; 4]].concat());
    assert!(!run.shared.is_empty());
}

#[test]
fn records_whose_run_file_lost_what_they_share_are_refused() {
    let dir = finished();
    let run_json = dir.path().join("run.json");
    let whole = fs::read_to_string(&run_json).unwrap();
    let mut run = contents(dir.path()).0;
    run.shared = SharedParts::default();
    fs::write(&run_json, serde_json::to_vec(&run).unwrap()).unwrap();
    let bytes = fs::read(records(dir.path())).unwrap();
    for fault in [read(dir.path()).unwrap_err(), Folder::resume(dir.path()).unwrap_err()] {
        assert_eq!(fault.kind, FaultKind::Input);
        for word in [
            "records.jsonl line ",
            " has the key `",
            "expected",
            "`shared` of run.json",
            "put back",
        ] {
            assert!(fault.text.contains(word), "nothing about {word}: {fault}");
        }
    }
    assert_eq!(fs::read(records(dir.path())).unwrap(), bytes, "nothing was changed");
    // Whoever reads while the run goes on can have read `run.json` before it had the key.
    let (_, mut open) = open(dir.path()).unwrap();
    fs::write(&run_json, whole).unwrap();
    assert_eq!(open.by_ref().map(Result::unwrap).count(), 8);
}

#[test]
fn what_records_share_is_on_the_disk_before_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let all = contents(finished().path()).1;
    let mut run = new_run(small(), String::new(), &hello()).unwrap();
    run.run_id.clone_from(&all[0].run_id);
    let mut folder = Folder::create(dir.path(), run).unwrap();
    for (index, record) in all.iter().enumerate() {
        folder.append(record).unwrap();
        let (run, read) = contents(dir.path());
        assert_eq!(read, all[..=index]);
        assert_eq!(run.shared.is_empty(), index == 0, "after record {}", index + 1);
    }
    let (_, resumed) = {
        drop(folder);
        Folder::resume(dir.path()).unwrap()
    };
    assert_eq!(resumed.done.len(), 8);
}

#[test]
fn another_build_does_not_go_on_unasked() {
    let ours = hello();
    let run = new_run(small(), String::new(), &ours).unwrap();
    assert_eq!(same_build(&run, &ours), Ok(()));
    // The machine may be another: that is noted.
    assert_eq!(
        same_build(&run, &Hello { boot_id: String::new(), machine: Default::default(), ..hello() }),
        Ok(())
    );
    let (version, commit) = ("9.9.9".to_owned(), "abcdef".to_owned());
    for other in [Hello { version, ..hello() }, Hello { commit, ..hello() }] {
        let fault = same_build(&run, &other).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Input);
        for word in [&ours.version, &other.version, &other.commit, "--resume-anyway"] {
            assert!(fault.text.contains(word), "nothing about {word}: {fault}");
        }
    }
}

#[test]
fn records_say_in_which_session_they_were_measured() {
    let whole = finished();
    assert!(contents(whole.path()).1.iter().all(|record| record.session == 1));
    let bytes = fs::read(records(whole.path())).unwrap();
    let ends = line_ends(&bytes);
    let dir = crashed(whole.path(), &bytes[..ends[4]]);
    // One that is broken off at once, and one that measures the rest.
    let mut enough = Follower { enough_after_ticks: Some(0), ..Follower::default() };
    resume(dir.path(), &mut Bed::default(), &mut enough).unwrap();
    assert_eq!(contents(dir.path()).0.session, 2);
    resume(dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    let (run, all) = contents(dir.path());
    assert_eq!((run.session, run.status), (3, RunStatus::Complete));
    let sessions: Vec<u32> = all.iter().map(|record| record.session).collect();
    assert_eq!(sessions, [1, 1, 1, 1, 1, 3, 3, 3]);
    // Folders from before there were sessions.
    let json = |value: serde_json::Value| {
        let mut object = value.as_object().unwrap().clone();
        assert!(object.remove("session").is_some());
        serde_json::Value::Object(object)
    };
    let old: Record = serde_json::from_value(json(serde_json::to_value(&all[7]).unwrap())).unwrap();
    let old_run: RunFile =
        serde_json::from_value(json(serde_json::to_value(&run).unwrap())).unwrap();
    assert_eq!((old.session, old_run.session), (1, 1));
}

#[test]
fn a_cell_that_was_measured_is_not_skipped_when_it_cannot_be_measured_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let without = |paths: &[&str]| Bed {
        unsupported: paths.iter().map(|p| (*p).to_owned()).collect(),
        ..Bed::default()
    };
    let plan = plan(
        vec![path("x", 1, 1), path("y", 1, 1), path("z", 1, 1), path("w", 1, 1)],
        latency(&[1]),
        2,
    );
    // z and w cannot be measured at first; of x round 1 is measured and round 2 is lost.
    run(plan, dir.path(), &mut without(&["z", "w"]), &mut Follower::default()).unwrap();
    let all = fs::read_to_string(records(dir.path())).unwrap();
    let shared = contents(dir.path()).0.shared;
    let kept = |line: &&str| {
        let record = record_of_line(line.as_bytes(), &shared).unwrap();
        (record.path.as_str(), record.round) != ("x", 2)
    };
    let lines: String = all.lines().filter(kept).map(|line| format!("{line}\n")).collect();
    fs::write(records(dir.path()), lines).unwrap();
    // Then x and y cannot, nor still z, and w can.
    let mut follower = Follower::default();
    let ended = resume(dir.path(), &mut without(&["x", "y", "z"]), &mut follower).unwrap();
    assert_eq!(
        (ended.good, ended.failures, follower.skipped.as_slice()),
        (2, 1, &["z: this bed does not do it".to_owned()][..])
    );
    let (file, all) = contents(dir.path());
    let skipped: Vec<&str> = file.skipped.iter().map(|cell| cell.path.as_str()).collect();
    assert_eq!((file.status, skipped, all.len()), (RunStatus::Incomplete, vec!["z"], 5));
    let failure = &file.failures[0];
    assert_eq!((file.failures.len(), failure.path.as_str(), failure.round), (1, "x", 2));
    assert_eq!(failure.reason, "it cannot be measured any more: this bed does not do it");
    // Where all can be measured again, nothing is left of that.
    resume(dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    let (file, all) = contents(dir.path());
    assert_eq!(
        (file.status, file.skipped.len(), file.failures.len(), all.len()),
        (RunStatus::Complete, 0, 0, 8)
    );
}
