//! Several files: paths, points and rounds.

use serde_json::json;

use crate::{files, fixture, record_of};

#[test]
fn files_of_one_path_are_rounds_and_of_several_are_paths() {
    let text = fixture("wrk.txt");
    let imported = files(&[("a", &text), ("b", &text), ("a", &text)], None).expect("three files");
    let of: Vec<(&str, u32)> =
        imported.records.iter().map(|record| (record.path.as_str(), record.round)).collect();
    assert_eq!(of, [("a", 1), ("b", 1), ("a", 2)]);
    assert_eq!((imported.plan.rounds, imported.plan.cells.len()), (2, 2));
    assert!(imported.records.iter().all(|record| record.point.is_empty()));
    assert!(imported.plan.is_imported() && imported.plan.contradiction().is_none());
    assert!(imported.notes[0].starts_with("imported, not proved: the figures are as wrk stated"));
}

/// Another setting is another point, not another round.
#[test]
fn settings_that_differ_are_points() {
    let h2 = fixture("h2load.txt");
    let other = h2.replace("Application protocol: http/1.1", "Application protocol: h2");
    assert_ne!(other, h2, "the fixture is of HTTP/1.1, as fixtures/make.sh asks for");
    let imported = files(&[("a", &h2), ("a", &other)], None).expect("two files");
    let points: Vec<_> =
        imported.records.iter().map(|record| record.point["protocol"].clone()).collect();
    assert_eq!(points, [json!("http/1.1"), json!("h2")]);
    assert_eq!((imported.plan.points.len(), imported.plan.rounds), (2, 1));
}

#[test]
fn a_setting_that_one_file_does_not_state_is_told() {
    let text = fixture("fortio.json");
    let plain = text.replace("\"NumThreads\": 4,", "");
    assert_ne!(plain, text, "the fixture has 4 threads, as fixtures/make.sh asks for");
    let imported = files(&[("a", &text), ("a", &plain)], None).expect("two files");
    let points: Vec<_> =
        imported.records.iter().map(|record| record.point["connections"].clone()).collect();
    assert_eq!(points, [json!(4), json!("not stated")]);
}

#[test]
fn tools_are_workloads_of_their_own() {
    let (wrk, hey) = (fixture("wrk.txt"), fixture("hey.txt"));
    let imported = files(&[("a", &wrk), ("a", &hey)], None).expect("two files");
    let workloads: Vec<&str> =
        imported.plan.points.iter().map(|point| point.workload.as_str()).collect();
    assert_eq!(workloads, ["wrk-http", "hey-http"]);
    assert_eq!(imported.plan.rounds, 1);
}

#[test]
fn a_record_has_its_file_and_no_time_that_was_not_stated() {
    let text = fixture("wrk.txt");
    let imported = files(&[("a", &text)], None).expect("a file");
    let record = &imported.records[0];
    assert_eq!(record.settings["imported from"], "a.file of wrk");
    assert_eq!(record.started_at, "", "the time of the import is its caller's");
    assert!(record.settings["started"].starts_with("not stated"));
}

#[test]
fn an_output_without_a_file_has_the_same_figures() {
    let content = fixture("wrk-latency.txt");
    let (alone, file) = (hopbench_import::stated("wrk", &content).unwrap(), record_of(&content));
    assert_eq!((&alone.metrics, &alone.job), (&file.metrics, &file.job));
    assert!(alone.path.is_empty() && alone.workload.is_empty());
    assert!(!alone.settings.contains_key("imported from"), "{:?}", alone.settings);
    let why = hopbench_import::stated("iperf3", &content).unwrap_err().to_string();
    assert!(why.starts_with("the output of iperf3 line 1: found `Running"), "{why}");
}
