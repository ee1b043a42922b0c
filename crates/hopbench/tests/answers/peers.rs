//! Tools of others beside a workload: they run for real, in the same pods, and are read.

use std::io::Write;

use hopbench_model::{Record, RunStatus};
use serde_json::Value;

use crate::lab::bench::Results;
use crate::lab::namespace::{outside_alone, path, test_name};
use crate::lab::program::run;
use crate::lab::records::metric;
use crate::lab::{Bench, User};

/// Of the links, bits/s.
const LINK: f64 = 50e6;

/// A shaped link, through which as much goes whoever sends it.
const SCENARIO: &str = "
name: peers
testbed: {lab: {nodes: [a, b], link: 50Mbit}}
rounds: 2
warmup: 200ms
time: 2s
seed: 3
paths: {bridge: bridge@a -> bridge@b}
workloads:
  bulk: {stream: {connections: 2}, peer: iperf3}
  echo: {ping: {every: 20ms}, peer: ping}
";

/// Whether these programs are there. Where one is not, the test is skipped, or fails where they are
/// wanted.
fn have(programs: &[&str]) -> bool {
    let is_there = found(programs);
    let wanted = std::env::var("HOPBENCH_REQUIRE_TOOLS").is_ok_and(|value| value == "1");
    assert!(is_there || !wanted, "HOPBENCH_REQUIRE_TOOLS=1, but not all of {programs:?} are here");
    is_there
}

/// Whether these programs are there. Where one is not, the test is skipped.
fn found(programs: &[&str]) -> bool {
    let folders: Vec<_> = std::env::split_paths(&path()).collect();
    let is_there = |name: &&&str| folders.iter().any(|folder| folder.join(name).is_file());
    let missing: Vec<&&str> = programs.iter().filter(|name| !is_there(name)).collect();
    if !missing.is_empty() {
        let told = format!("\nSKIP {}: {missing:?} are not installed", test_name());
        let _ = writeln!(std::io::stdout(), "{told}");
    }
    missing.is_empty()
}

fn of<'r>(results: &'r Results, workload: &str) -> Vec<&'r Record> {
    let records: Vec<&Record> =
        results.records.iter().filter(|record| record.workload == workload).collect();
    assert_eq!(records.len(), 2, "{workload}");
    records
}

#[test]
fn iperf3_and_ping_measure_the_same_path() {
    if !have(&["iperf3", "ping"]) {
        return;
    }
    let Some(_turn) = outside_alone() else {
        return;
    };
    for user in User::all() {
        let bench = Bench::new(user, SCENARIO);
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = bench.results();
        assert_eq!(results.run.status, RunStatus::Complete, "{user}");
        assert_eq!(results.trials(), results.planned(), "{user}");
        // The link's rate is the answer, whoever asks. Without a warm-up less arrives: slow start
        // fills the queue of the link, and what it drops then takes a while.
        for (workload, least) in [("bulk", 0.5), ("bulk (iperf3)", 0.3)] {
            for record in of(&results, workload) {
                let share = metric(record, "received_bits_per_s") / LINK;
                assert!((least..1.1).contains(&share), "{user}: {workload}: {share} of the link");
            }
        }
        for record in of(&results, "echo (ping)") {
            assert_eq!(
                (metric(record, "sent"), metric(record, "received")),
                (100.0, 100.0),
                "{user}"
            );
            let [min, p50, max] =
                ["min", "p50", "max"].map(|point| metric(record, &format!("rtt_{point}_ns")));
            assert!(0.0 < min && min <= p50 && p50 <= max, "{user}: {min} {p50} {max}");
        }
        theirs(&results, user);
        reported(&bench, user);
    }
}

/// The same link for each test of netperf.
const NETPERF: &str = "
name: netperf
testbed: {lab: {nodes: [a, b], link: 50Mbit}}
rounds: 2
warmup: 200ms
time: 1s
seed: 3
paths: {bridge: bridge@a -> bridge@b}
workloads:
  bulk: {stream: {direction: from-server}, peer: netperf}
  echo: {rr: {size: 64B, response: 128B}, peer: netperf}
  datagrams: {rr: {size: 64B, udp: true}, peer: netperf}
  connects: {crr: {size: 64B}, peer: netperf}
  packets: {udp: {size: 1000B, rate: max}, peer: netperf}
";

/// It is in Debian's non-free section, so no machine has to have it.
#[test]
fn netperf_measures_where_it_is_installed() {
    if !found(&["netperf", "netserver"]) {
        return;
    }
    let Some(_turn) = outside_alone() else {
        return;
    };
    for user in User::all() {
        let bench = Bench::new(user, NETPERF);
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = bench.results();
        assert_eq!(results.run.status, RunStatus::Complete, "{user}");
        theirs(&results, user);
        for (workload, figure) in [
            ("bulk (netperf)", "received_bits_per_s"),
            ("echo (netperf)", "service_p99_ns"),
            ("datagrams (netperf)", "service_p99_ns"),
            ("connects (netperf)", "connections_per_s"),
            ("packets (netperf)", "received_packets_per_s"),
        ] {
            for record in of(&results, workload) {
                assert!(metric(record, figure) > 0.0, "{user}: {workload}");
                let server = record.settings["server command"].as_str();
                assert!(server.starts_with("netserver -D -f "), "{user}: {server}");
            }
        }
        for record in of(&results, "bulk (netperf)") {
            let share = metric(record, "received_bits_per_s") / LINK;
            assert!((0.3..1.1).contains(&share), "{user}: {share} of the link");
        }
    }
}

/// What the records of tools have, and what they do not.
fn theirs(results: &Results, user: User) {
    for record in results.records.iter().filter(|record| record.workload.ends_with(')')) {
        let name = format!("{user}: {}", record.workload);
        assert_eq!((&record.error, &record.incomplete), (&None, &None), "{name}");
        let tool = record.workload.rsplit_once(" (").expect("a tool").1.trim_end_matches(')');
        let setting = |key: &str| record.settings.get(key).map(String::as_str).unwrap_or_default();
        assert!(
            setting("command").starts_with(&format!("{tool} ")),
            "{name}: {:?}",
            record.settings
        );
        assert!(setting("measured by").contains(char::is_numeric), "{name}: {:?}", record.settings);
        assert!(setting("not proved").contains("does not say"), "{name}");
        assert_eq!(setting("server command").starts_with("iperf3 -s"), tool == "iperf3", "{name}");
        // It ran where the agents run, and the links of the path carried what it says.
        let hops: Vec<&str> = record.proof.iter().map(|proof| proof.hop.as_str()).collect();
        for hop in ["client", "CPUs", "no other way"] {
            assert!(hops.contains(&hop), "{name}: no {hop} in {hops:?}");
        }
        assert!(hops.iter().any(|hop| hop.contains("eth0")), "{name}: {hops:?}");
        assert!(record.proof.iter().all(|proof| proof.ok), "{name}: {:?}", record.proof);
        // Nothing but what the tool states.
        assert!(record.latency.is_empty() && record.invariants.is_empty(), "{name}");
        assert!(record.cost.nodes.is_empty() && record.limited_by.is_empty(), "{name}");
    }
}

/// The reports show both, and how they compare.
fn reported(bench: &Bench, user: User) {
    let out = bench.out();
    let report = |format: &str| {
        let arguments = ["report", &out.to_string_lossy(), "--format", format];
        let done = run(&mut bench.command(&arguments));
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        done.stdout
    };
    let summary: Value = serde_json::from_str(&report("json")).expect("JSON");
    assert!(summary["run"]["imported"].is_null(), "it is a run of ours");
    let workloads = summary["workloads"].as_array().expect("workloads");
    let names: Vec<&str> = workloads.iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["bulk", "bulk (iperf3)", "echo", "echo (ping)"]);
    let peer = &workloads[1]["peer"];
    assert_eq!((&peer["tool"], &peer["of"]), (&"iperf3".into(), &"bulk".into()));
    let ratio = peer["comparisons"][0]["ratio"]["median"].as_f64().expect("a ratio");
    assert!((0.3..1.2).contains(&ratio), "{user}: iperf3 is {ratio} of ours");
    let table = report("table");
    for text in ["bulk (iperf3) measured by iperf3", "iperf3 to bulk", "slow start"] {
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(text), "{user}: no `{text}` in {table}");
    }
}

/// `plan` says which package has a tool, where it is not installed.
#[test]
fn a_tool_that_is_not_there_is_named_before_anything_starts() {
    let bench = Bench::new(User::Caller, SCENARIO);
    let plan = |programs: &str| {
        let scenario = bench.scenario();
        let arguments = ["plan", &scenario, "--only", "workload=bulk (iperf3)"];
        run(bench.command(&arguments).env("PATH", programs))
    };
    let nowhere = tempfile::tempdir().expect("a folder");
    let done = plan(&nowhere.path().to_string_lossy());
    if have(&["iperf3"]) {
        // The folders of system programs are looked at in any case.
        assert_eq!(done.code, Some(0), "{}", done.story());
        return;
    }
    assert_eq!(done.code, Some(3), "{}", done.story());
    let words = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in ["iperf3 is missing: no program `iperf3` in PATH", "apt-get install iperf3"] {
        assert!(words.contains(text), "{}", done.story());
    }
}
