//! Answers of the lab that are known beforehand: the rate of a link, the sum of what many pods
//! moved, and that a path is no different from itself.

use std::collections::BTreeMap;

use hopbench_model::Record;
use serde_json::Value;

use crate::lab::namespace::{outside, outside_alone};
use crate::lab::program::run;
use crate::lab::records::{latency, metric, states};
use crate::lab::{Bench, User};

/// Of the links, bits/s, with Ethernet headers.
const LINK: f64 = 1e9;
/// What a link of that rate must give, and how far off a kind may be.
const TOLERANCE: f64 = 0.02;

const GIGABIT: &str = "
name: gigabit
testbed: {lab: {nodes: [a, b], link: 1Gbit, mtu: 1500}}
rounds: 3
time: 400ms
warmup: 250ms
interval: 50ms
seed: 5
paths:
  host:    host@a -> host@b
  bridge:  bridge@a -> bridge@b
  ptp:     ptp@a -> ptp@b
  macvlan: macvlan@a -> macvlan@b
  eni:     eni@a -> eni@b
  overlay: overlay@a -> overlay@b
  six:         {from: bridge@a, to: bridge@b, family: ipv6}
  six-overlay: {from: overlay@a, to: overlay@b, family: ipv6}
workloads:
  there: {stream: {connections: 4}}
  back:  {stream: {connections: 4, direction: from-server}}
";

/// A full frame has 14 bytes of Ethernet, 1500 of IP; of those, IP takes 20 and TCP with time
/// stamps 32. A tunnel adds 50 (Ethernet 14, IP 20, UDP 8, VXLAN 8) and its pods have an MTU that
/// is as much smaller, so the frame stays as long. IPv6 takes 20 bytes more.
fn payload(path: &str) -> f64 {
    let tunnel = if path.ends_with("overlay") { 50.0 } else { 0.0 };
    let ip = if path.starts_with("six") { 40.0 } else { 20.0 };
    LINK * (1500.0 - tunnel - ip - 32.0) / 1514.0
}

#[test]
fn a_link_gives_every_kind_the_same_payload() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let (mut records, mut wrong) = (Vec::new(), Vec::new());
    // Where the machine stalled in two of three rounds, as many rounds more decide.
    for _ in 0..2 {
        let bench = Bench::new(User::Caller, GIGABIT);
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{}", done.story());
        let results = bench.results();
        results.whole();
        records.extend(results.records);
        wrong = not_the_links(&records);
        if wrong.is_empty() {
            return;
        }
    }
    panic!("{}", wrong.join("\n"));
}

/// The cells whose median over the rounds is not what the link gives: what a run reports of a cell
/// is that median, as one window may meet a stall of the machine.
fn not_the_links(records: &[Record]) -> Vec<String> {
    let mut cells: BTreeMap<(&str, &str), Vec<&Record>> = BTreeMap::new();
    for record in records {
        cells.entry((&record.path, &record.workload)).or_default().push(record);
    }
    assert_eq!(cells.len(), 16);
    let mut wrong = Vec::new();
    for ((path, workload), mut rounds) in cells {
        let rate = |record: &Record| metric(record, "received_bits_per_s");
        rounds.sort_by(|a, b| rate(a).total_cmp(&rate(b)));
        let middle = rounds[rounds.len() / 2];
        let expected = payload(path);
        let off = rate(middle) / expected - 1.0;
        if off.abs() > TOLERANCE || middle.limited_by != "nic" {
            let all: Vec<String> = rounds.iter().map(|r| format!("{:.2}", rate(r) / 1e6)).collect();
            wrong.push(format!(
                "{path} {workload}: {} Mbit/s, {:+.2} % of {:.2}; limited by {}: {}",
                all.join(" "),
                off * 100.0,
                expected / 1e6,
                middle.limited_by,
                middle.limited_because
            ));
        }
    }
    wrong
}

/// 50 pods: 20 clients of 5 backends, twice.
const MANY: &str = "
name: many
testbed: {lab: {nodes: [a, b]}}
rounds: 1
time: 500ms
warmup: 100ms
interval: 50ms
paths:
  routed:    {from: bridge@a, to: bridge@b, via: cluster-ip, clients: 20, backends: 5}
  tunnelled: {from: overlay@a, to: overlay@b, via: cluster-ip, clients: 20, backends: 5}
workloads:
  ask:  {rr: {size: 100B, connections: 2}}
  bulk: {stream: {connections: 2}}
";

#[test]
fn fifty_pods_conserve_what_they_move() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, MANY);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    assert_eq!(results.records.len(), 4, "one record a trial, not one a client");
    results.whole();
    for record in &results.records {
        let name = format!("{} {}", record.path, record.workload);
        // 20 x 2 connections to backends that are chosen at random: one that gets none has a chance
        // of 5 x 0.8^40.
        let hits = backends(record);
        assert!(hits.len() == 5 && hits.iter().all(|hits| *hits >= 1), "{name}: {hits:?}");
        assert!(hits.iter().sum::<u64>() >= 40, "{name}: {hits:?}");
        // Of all 20 clients and all 5 backends together; that it holds has been seen above.
        states(
            record,
            if record.workload == "bulk" { "received_le_sent" } else { "served_le_sent" },
        );
        assert!(record.errors.is_empty(), "{name}: {:?}", record.errors);
    }
}

/// Connections that each backend of the record's Service got, as its NAT counted them.
fn backends(record: &Record) -> Vec<u64> {
    let proof = record.proof.iter().find(|proof| proof.hop.starts_with("dnat on "));
    let evidence = proof.map_or("", |proof| proof.evidence.as_str());
    let inside = evidence
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(" to the backends"))
        .map(|(sum, _)| sum);
    let hits = inside.unwrap_or_else(|| panic!("no connections in `{evidence}`"));
    hits.split(" + ")
        .map(|n| n.parse().unwrap_or_else(|_| panic!("`{n}` in `{evidence}`")))
        .collect()
}

/// The same path by two names, and ten workloads that are five times the same two.
const TWICE: &str = "
name: twice
testbed: {lab: {nodes: [a, b], link: 1Gbit}}
rounds: 6
time: 100ms
warmup: 50ms
interval: 50ms
baseline: first
a-a: false
paths:
  first:  host@a -> host@b
  second: host@a -> host@b
workloads:
  ask-1:  {rr: {size: 64B}}
  ask-2:  {rr: {size: 64B}}
  ask-3:  {rr: {size: 64B}}
  ask-4:  {rr: {size: 64B}}
  ask-5:  {rr: {size: 64B}}
  bulk-1: {stream: {connections: 2}}
  bulk-2: {stream: {connections: 2}}
  bulk-3: {stream: {connections: 2}}
  bulk-4: {stream: {connections: 2}}
  bulk-5: {stream: {connections: 2}}
";

/// What the report says of the path and its double: for each workload whether there is a difference
/// in the figure that comes first, and in words.
fn differences() -> Vec<(bool, String)> {
    let bench = Bench::new(User::Caller, TWICE);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    bench.results().whole();
    let report =
        run(&mut bench.command(&["report", &bench.out().to_string_lossy(), "--format", "json"]));
    let summary: Value =
        serde_json::from_str(&report.stdout).unwrap_or_else(|e| panic!("{e}: {}", report.story()));
    let of = |workload: &Value| {
        let cells = workload["cells"].as_array().expect("cells");
        let double = cells.iter().find(|cell| cell["path"] == "second").expect("the double");
        let figure = &double["figures"][0];
        let (ratio, verdict) = (&figure["ratio"], &figure["ratio"]["verdict"]);
        // On a machine that is very busy a window may pass without a single exchange, and its round
        // without a ratio.
        assert!(ratio["rounds"].as_u64().is_some_and(|rounds| rounds >= 4), "{double}");
        let ends = [&ratio["low"], &ratio["median"], &ratio["high"]]
            .map(|end| end.as_f64().expect("a ratio"));
        assert!(ends[0] <= ends[1] && ends[1] <= ends[2], "{ends:?}");
        let text =
            format!("{} {} {}: {ends:.3?}", workload["name"], figure["name"], verdict["text"]);
        (!["same", "not_decided"].contains(&verdict["outcome"].as_str().expect("a word")), text)
    };
    summary["workloads"].as_array().expect("workloads").iter().map(of).collect()
}

/// All comparisons of a run are judged together: where nothing differs, at most one run in 20 calls
/// a difference anywhere, whatever else runs on the machine, since the order in a round is random.
/// Whoever is unlucky is asked once more: twice in a row is one in 400.
#[test]
fn a_path_is_no_different_from_itself() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let wrong = |seen: &[(bool, String)]| seen.iter().any(|(differs, _)| *differs);
    let first = differences();
    if wrong(&first) {
        let second = differences();
        assert!(!wrong(&second), "twice in a row: {first:#?} {second:#?}");
    }
}

/// Answers of 12500 bytes, 200 a second over one connection: twice what a link of 10 Mbit/s
/// carries, and little within a node.
const TWICE_AS_MUCH: &str = "
name: twice-as-much
testbed: {lab: {nodes: [a, b], link: 10Mbit, mtu: 1500}}
rounds: 5
time: 500ms
warmup: 200ms
interval: 100ms
baseline: near
a-a: false
paths:
  near: host@a -> host@a
  far:  host@a -> host@b
workloads:
  ask: {rr: {size: 1B, response: 12500B, rate: 200}}
";

/// What the link carries of these answers one after the other: 8 full frames of 1448 bytes of
/// payload and one of the rest, each with 66 bytes of Ethernet, IP, TCP and time stamps.
const CARRIED: f64 = 10e6 / 8.0 / (12_500.0 + 9.0 * 66.0);

#[test]
fn a_path_that_cannot_carry_a_rate_is_saturated_at_what_it_carries() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let measured = || {
        let bench = Bench::new(User::Caller, TWICE_AS_MUCH);
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{}", done.story());
        bench.results().whole();
        bench
    };
    // Where the machine let the generator be late in half of the trials, there is no verdict.
    let is_late = |bench: &Bench| {
        let records = bench.results().records;
        let near = records.iter().filter(|record| record.path == "near");
        near.filter(|record| record.is_generator_limited()).count() * 2 >= 5
    };
    let mut bench = measured();
    for _ in 0..2 {
        if is_late(&bench) {
            bench = measured();
        }
    }
    let report = |format: &str| {
        run(&mut bench.command(&["report", &bench.out().to_string_lossy(), "--format", format]))
    };
    let report_json = report("json");
    let summary: Value = serde_json::from_str(&report_json.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", report_json.story()));
    let cells = summary["workloads"][0]["cells"].as_array().expect("cells");
    let cell = |path: &str| cells.iter().find(|cell| cell["path"] == path).expect("a cell");
    assert!(cell("near").get("saturated_per_s").is_none(), "{}", cell("near"));
    let carried = cell("far")["saturated_per_s"].as_f64().unwrap_or_else(|| panic!("{cells:#?}"));
    assert!((carried / CARRIED - 1.0).abs() < 0.05, "{carried}/s, {CARRIED} are known");
    let ratio = |figure: &str| {
        let figures = cell("far")["figures"].as_array().expect("figures");
        let found = figures.iter().find(|one| one["name"] == figure).expect("a figure");
        found["ratio"].clone()
    };
    for figure in ["response_p50_ns", "response_p99_ns"] {
        let latency = ratio(figure);
        assert_eq!(latency["verdict"]["outcome"], "saturated", "{latency}");
        let text = latency["verdict"]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("saturated at "), "{latency}");
        assert!(latency.get("median").is_none() && latency.get("q").is_none(), "{latency}");
    }
    let rate = ratio("requests_per_s");
    let share = rate["median"].as_f64().unwrap_or_else(|| panic!("{rate}"));
    assert!((share / (CARRIED / 200.0) - 1.0).abs() < 0.05, "{rate}");
    if is_late(&bench) {
        // This machine stalls too often for a verdict; the rates are known all the same.
        assert_eq!(rate["verdict"]["outcome"], "generator", "{rate}");
        return;
    }
    assert_eq!(rate["verdict"]["outcome"], "worse", "{rate}");
    for format in ["screen", "table"] {
        let page = report(format);
        assert!(page.stdout.contains("saturated at "), "{format}: {}", page.story());
        assert!(!page.stdout.contains("not decided"), "{format}: {}", page.story());
    }
}

/// Two paths that differ by what the servers at their ends do before each answer.
const WORK: &str = "
name: work
testbed: {lab: {nodes: {a: {}, b: {}, c: {server-work: 200us}}}}
rounds: 1
time: 200ms
warmup: 50ms
interval: 50ms
paths:
  plain:   bridge@a -> bridge@b
  working: bridge@a -> bridge@c
workloads:
  epoll:     {rr: {engine: epoll}}
  spin:      {rr: {engine: spin}}
  threads:   {rr: {engine: threads}}
  datagrams: {rr: {udp: true}}
  web:       {http: {}}
  late:      {http: {path: /?delay=1ms}}
";

/// The least of all round trips is bounded by the work, however the machine stalls. Two ends that
/// spin need a CPU each, so nothing else may run.
#[test]
fn a_server_works_before_each_answer() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let bench = Bench::new(User::Caller, WORK);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    results.whole();
    assert_eq!(results.records.len(), 12);
    for record in &results.records {
        let service = latency(record, "service_ns");
        let said = record.warnings.iter().any(|w| w.detail.contains("works 200us"));
        let waits = if record.workload == "late" { 1_000_000 } else { 0 };
        let (cell, least) = (format!("{} {}", record.path, record.workload), service.min);
        if record.path == "working" {
            assert!(least >= waits + 200_000, "{cell}: {least} ns");
            assert!(said, "{cell}: {:?}", record.warnings);
        } else {
            assert!(least < waits + 200_000, "{cell}: {least} ns");
            assert!(!said, "{cell}: {:?}", record.warnings);
        }
    }
}
