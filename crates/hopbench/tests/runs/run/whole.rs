//! A run of everything a scenario can name, to its end.

use std::collections::BTreeSet;

use hopbench_model::{RunStatus, WarningKind};

use crate::lab::bench::FILES;
use crate::lab::namespace::outside_alone;
use crate::lab::program::run;
use crate::lab::{Bench, User};

/// Every network kind across nodes, every kind of Service, and one node alone.
const EVERYTHING: &str = "
name: everything
testbed: {lab: {nodes: [a, b, c]}}
rounds: 1
time: 200ms
warmup: 20ms
interval: 50ms
seed: 7
baseline: host
a-a: false
paths:
  host:       host@a -> host@b
  bridge:     bridge@a -> bridge@b
  overlay:    overlay@a -> overlay@b
  ptp:        ptp@a -> ptp@b
  macvlan:    macvlan@a -> macvlan@b
  eni:        eni@a -> eni@b
  one-node:   bridge@a -> bridge@a
  mixed:      host@a -> overlay@b
  cluster-ip: overlay@a -> bridge@b via cluster-ip
  node-port:  host@a -> bridge@c via node-port@b
  many:       {from: bridge@a, to: bridge@c, via: cluster-ip, clients: 2, backends: 2}
workloads:
  bulk:  {stream: {connections: 2}}
  ask:   {rr: {size: [1B, 1KiB]}}
  dgram: {udp: {size: 100B, rate: 2000pps}}
  echo:  {ping: {every: 10ms}}
  page:  {http: {connections: 2, response: 1KiB}, paths: [host, node-port, many]}
";

/// The files of a folder as they are now.
fn contents(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let read = |entry: std::fs::DirEntry| {
        (
            entry.file_name().to_string_lossy().into_owned(),
            std::fs::read(entry.path()).expect("a file"),
        )
    };
    let mut all: Vec<_> = entries.map(read).collect();
    all.sort();
    all
}

#[test]
fn everything_is_measured_by_whoever_asks() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    for user in User::all() {
        let bench = Bench::new(user, EVERYTHING);
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = bench.results();
        assert_eq!(results.files, BTreeSet::from(FILES.map(str::to_owned)), "{user}");
        let work: Vec<_> = std::fs::read_dir(bench.work()).expect("a folder").flatten().collect();
        assert_eq!(work.len(), 1, "{user}: {work:?}");
        assert_eq!(
            (results.run.status, results.run.failures.len()),
            (RunStatus::Complete, 0),
            "{user}"
        );
        assert!(results.run.ended_at.is_some(), "{user}");
        // Of ping, the three paths with a Service are left out, and told.
        let skipped: BTreeSet<_> =
            results.run.skipped.iter().map(|s| (s.path.as_str(), s.workload.as_str())).collect();
        assert_eq!(skipped, ["cluster-ip", "many", "node-port"].map(|path| (path, "echo")).into());
        // 11 paths x (stream, two rr, udp) + 8 x ping + 3 x http.
        assert_eq!(results.records.len(), 11 * 4 + 8 + 3, "{user}");
        results.whole();
        for record in &results.records {
            let name = format!("{} {}", record.path, record.workload);
            assert_eq!(record.run_id, results.run.run_id, "{name}");
            assert!((0.19..0.35).contains(&record.window_s), "{name}: {} s", record.window_s);
            let wrong = |kind| {
                matches!(
                    kind,
                    WarningKind::Errors | WarningKind::Incomplete | WarningKind::PortExhaustion
                )
            };
            let warnings: Vec<_> =
                record.warnings.iter().filter(|warning| wrong(warning.kind)).collect();
            assert!(warnings.is_empty(), "{user}: {name}: {warnings:?}");
            assert!(record.errors.is_empty(), "{user}: {name}: {:?}", record.errors);
            let moved =
                ["received_bits_per_s", "requests_per_s", "received_packets_per_s", "received"];
            assert!(
                moved.iter().any(|m| record.metrics.get(*m).is_some_and(|v| *v > 0.0)),
                "{name}: {:?}",
                record.metrics
            );
        }
        reports_say_it_all(&bench, results.records.len());
        // A run that is complete has nothing left to do.
        let again = bench.resume(&["--no-report"]);
        assert_eq!(again.code, Some(0), "{user}: {}", again.story());
        let after = bench.results();
        assert_eq!((after.lines, after.run.status), (results.lines, RunStatus::Complete), "{user}");
    }
}

/// Every format of `hopbench report` names every path, and leaves the folder as it was.
fn reports_say_it_all(bench: &Bench, trials: usize) {
    let out = bench.out();
    let before = contents(&out);
    let list = run(&mut bench.command(&["list", "reports"]));
    assert_eq!(list.code, Some(0), "{}", list.story());
    let formats = list.stdout.lines().filter_map(|line| line.split_whitespace().next());
    // There were none.
    let formats: Vec<&str> = formats.filter(|format| *format != "searches").collect();
    for format in ["table", "markdown", "csv", "json", "html"] {
        assert!(formats.contains(&format), "{format} is not among {formats:?}");
    }
    // Those for other tools have a line for each HTTP trial and say what they leave out.
    let (others, formats): (Vec<&str>, Vec<&str>) =
        formats.into_iter().partition(|format| ["istio-csv", "fortio"].contains(format));
    assert_eq!(others.len(), 2, "{others:?}");
    let pages = bench.results().records.iter().filter(|record| record.workload == "page").count();
    for format in others {
        let done = run(&mut bench.command(&["report", &out.to_string_lossy(), "--format", format]));
        assert_eq!(done.code, Some(0), "{}", done.story());
        let of_trials = done.stdout.lines().filter(|line| line.contains("_1024_none"));
        assert_eq!(of_trials.count(), pages, "{}", done.story());
        let told = format!("{} trials left out", trials - pages);
        assert!(pages > 0 && done.stderr.contains(&told), "{}", done.story());
    }
    for format in formats {
        let done = run(&mut bench.command(&["report", &out.to_string_lossy(), "--format", format]));
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{format}: {}", done.story());
        for word in ["overlay", "macvlan", "node-port", "bulk", "ask"] {
            assert!(done.stdout.contains(word), "{format} says nothing of {word}");
        }
        match format {
            "json" => {
                let summary: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
                assert_eq!(summary["run"]["used_trials"], trials, "{}", summary["run"]);
                assert_eq!(summary["run"]["planned_trials"], trials, "{}", summary["run"]);
            }
            "html" => assert!(done.stdout.trim_end().ends_with("</html>")),
            _ => {}
        }
    }
    assert!(contents(&out) == before, "a report changed the folder");
}
