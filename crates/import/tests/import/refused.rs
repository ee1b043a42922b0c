//! Files that are refused, all of them at once.

use hopbench_import::{Given, import};

use crate::{files, fixture, refusal};

#[test]
fn every_file_that_is_wrong_is_told() {
    let text = fixture("wrk.txt");
    let why = files(&[("a", "x"), ("b", &text), ("c", "{")], None).map(|_| ()).unwrap_err();
    let lines: Vec<&str> = why.lines().collect();
    assert_eq!(lines.len(), 2, "{why}");
    assert!(lines[0].starts_with("a.file line 1: found `x`, expected the output of iperf3"));
    assert!(lines[1].starts_with("c.file line 1 column 1: found `EOF while parsing an object`"));
}

#[test]
fn a_baseline_is_a_path_of_the_files() {
    let text = fixture("wrk.txt");
    let given = [Given { path: "a".to_owned(), file: "a.txt".to_owned(), content: &text }];
    assert!(import(&given, None, Some("a")).is_ok_and(|all| all.plan.baseline.is_some()));
    let problems = import(&given, None, Some("b")).map(|_| ()).unwrap_err();
    let said = problems[0].to_string();
    assert_eq!(said, "--baseline: found `b`, expected a path of the files: a");
}

/// Every text that is cut off somewhere is read or refused, and nothing else happens.
#[test]
fn a_file_that_is_cut_off_anywhere_never_panics() {
    let of_netperf = ["netperf-cpu.txt", "netperf-udp.txt", "netperf-rr.txt"];
    let values = ["netperf-rr-values.txt", "netperf-rr-columns.txt"];
    let others = ["wrk.txt", "hey.txt", "h2load.txt", "sockperf.txt", "qperf-lat.txt"];
    for name in others.into_iter().chain(of_netperf).chain(values) {
        let text = fixture(name);
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let _ = files(&[("a", &text[..end])], None);
        }
    }
}

#[test]
fn numbers_of_strangers_overflow_nothing() {
    let nines = "9".repeat(300);
    let text = fixture("wrk.txt");
    let (before, rest) = text.split_once(" requests in ").expect("its line");
    let (_, behind) = rest.split_once(',').expect("what was read");
    let long = refusal(&format!("{before} requests in {nines}s,{behind}"));
    assert!(long.contains("expected `56981 requests in 1.00s"), "{long}");
    let huge = format!(
        "PING a (a) 56(84) bytes of data.\n\
         {nines} packets transmitted, {nines} received, time 1ms\n\
         rtt min/avg/max/mdev = {nines}/{nines}/{nines}/0 ms\n"
    );
    let imported = files(&[("a", &huge)], None);
    let is_finite = |value: &f64| value.is_finite();
    assert!(imported.is_ok_and(|all| all.records[0].metrics.values().all(is_finite)));
}
