//! `hopbench import`: what other tools wrote becomes a folder that reports and comparisons take.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use hopbench_model::{Record, RunFile, RunStatus, SharedParts, record_of_line};
use serde_json::Value;

use crate::lab::program;
use crate::lab::program::run;

/// A file that a tool wrote, of the tests of the crate that reads it.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/fixtures").join(name)
}

fn run_file(dir: &Path) -> RunFile {
    let text = fs::read_to_string(dir.join("run.json")).expect("run.json");
    serde_json::from_str(&text).expect("its form")
}

fn records(dir: &Path, shared: &SharedParts) -> Vec<Record> {
    let text = fs::read_to_string(dir.join("records.jsonl")).expect("records");
    let one = |line: &str| record_of_line(line.as_bytes(), shared).expect("a record");
    text.lines().map(one).collect()
}

/// Imports two files for each of two paths into a folder.
fn imported(dir: &Path, more: &[&str]) {
    let mut command = program(&["import", "--output"]);
    command.arg(dir).args(more);
    for (path, name) in [("a", "wrk.txt"), ("b", "hey.txt"), ("a", "wrk.txt"), ("b", "wrk.txt")] {
        command.arg(format!("{path}={}", file(name).display()));
    }
    let done = run(&mut command);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let said = format!("4 trials imported into {0}; see `hopbench report {0}`", dir.display());
    assert_eq!(done.stdout.trim_end(), said);
}

#[test]
fn a_folder_of_files_is_reported_and_marked() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("imported");
    imported(&dir, &["--baseline", "a"]);
    let kept = run_file(&dir);
    assert_eq!((kept.status, kept.plan.rounds), (RunStatus::Complete, 2));
    assert_eq!(kept.environment.keys().collect::<Vec<_>>(), ["commit", "version"]);
    let all = records(&dir, &kept.shared);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|record| record.run_id == kept.run_id && record.proof.is_empty()));
    let started = |record: &Record| record.started_at.ends_with('Z');
    assert!(all.iter().all(started), "that of the import");

    let report = |more: &[&str]| run(program(&["report"]).arg(&dir).args(more));
    for more in [&[][..], &["--details"], &["-f", "markdown"], &["-f", "html"]] {
        let text = report(more);
        assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{}", text.story());
        assert!(text.stdout.contains("imported, not proved"), "{more:?}: {}", text.stdout);
        assert!(!text.stdout.contains("all proved"), "{more:?}: {}", text.stdout);
        assert!(!text.stdout.contains("Every trial carries evidence"), "{more:?}");
        assert!(!text.stdout.contains("epoll"), "{more:?}: no file states an engine");
    }
    let json: Value = serde_json::from_str(&report(&["-f", "json"]).stdout).expect("JSON");
    assert_eq!(
        (&json["run"]["testbed"], &json["run"]["imported"]),
        (&"imported".into(), &true.into())
    );
    assert_eq!(json["run"]["planned_trials"], json["run"]["used_trials"]);
    let csv = report(&["-f", "csv"]).stdout;
    assert!(csv.contains("\na,,,,wrk-http,imported-http,"), "{csv}");
}

#[test]
fn two_folders_of_files_are_compared() {
    let parent = tempfile::tempdir().unwrap();
    let (one, two) = (parent.path().join("one"), parent.path().join("two"));
    imported(&one, &[]);
    imported(&two, &[]);
    let compare = |bound: &str| run(program(&["compare", "--fail-on", bound]).arg(&one).arg(&two));
    let same = compare("throughput>5%");
    assert_eq!(same.code, Some(0), "{}", same.story());
    let stated = compare("service_mean_ns>5%");
    assert_eq!(stated.code, Some(0), "{}", stated.story());
    let other = compare("p999_service>5%");
    assert_eq!(other.code, Some(2), "neither tool states it: {}", other.story());
}

#[test]
fn standard_input_is_a_file_and_names_are_paths() {
    let parent = tempfile::tempdir().unwrap();
    for (index, (words, path)) in [
        (&["-"][..], "stdin"),
        (&["--name", "base", "-"][..], "base"),
        (&["base=-", "--tool", "wrk2"][..], "base"),
    ]
    .into_iter()
    .enumerate()
    {
        let dir = parent.path().join(index.to_string());
        let mut command = program(&["import"]);
        command.args(words).arg("--output").arg(&dir);
        command.stdin(Stdio::from(fs::File::open(file("wrk.txt")).expect("the file")));
        let done = command.output().expect("the binary");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let plan = run_file(&dir).plan;
        assert_eq!(plan.paths[0].name, path);
        let tool = if words.contains(&"wrk2") { "wrk2-http-open" } else { "wrk-http" };
        assert_eq!(plan.points[0].workload, tool);
    }
}

#[test]
fn one_file_that_is_refused_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let (dir, bad) = (parent.path().join("results"), parent.path().join("bad.txt"));
    fs::write(&bad, "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n").expect("written");
    let mut command = program(&["import", "--output"]);
    let done = run(command.arg(&dir).arg(file("wrk.txt")).arg(&bad));
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.story());
    let said = format!("{} line 1: found `the end of the file`", bad.display());
    assert!(done.stderr.contains(&said), "{}", done.story());
    assert!(!dir.exists(), "something was written");
}

#[test]
fn a_folder_of_files_is_not_resumed() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("imported");
    imported(&dir, &[]);
    let done = run(program(&["run", "--resume"]).arg(&dir));
    assert_eq!(done.code, Some(2), "{}", done.story());
    assert!(done.stderr.contains("--resume: found"), "{}", done.story());
    assert!(done.stderr.contains("import all of them again"), "{}", done.story());
}
