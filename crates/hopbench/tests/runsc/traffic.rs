//! Every workload, every network kind, and what a record says of the sandbox.

use hopbench_model::{Record, RunStatus};

use super::sandboxed::{Sandboxed, skip, turn};
use crate::lab::User;
use crate::lab::namespace::{outside, outside_alone, shell};
use crate::lab::program::Running;
use crate::lab::wait::S;

/// Sandboxes as server, as client, on one node, behind a Service, and with every kind of network.
const SCENARIO: &str = "
name: sandboxes
testbed: {lab: {nodes: [a, b]}}
rounds: 1
time: 300ms
warmup: 50ms
interval: 100ms
seed: 7
paths:
  plain:      bridge@a -> bridge@b
  server:     bridge@a -> bridge+runsc@b
  client:     bridge+runsc@a -> bridge@b
  one-node:   bridge@a -> bridge+runsc@a
  cluster-ip: bridge@a -> bridge+runsc@b via cluster-ip
  overlay:    overlay@a -> overlay+runsc@b
  ptp:        ptp+runsc@a -> ptp+runsc@b
  macvlan:    macvlan@a -> macvlan+runsc@b
  eni:        eni+runsc@a -> eni@b
  six:        {from: bridge@a, to: bridge+runsc@b, family: ipv6}
  six-ptp:    {from: ptp+runsc@a, to: ptp+runsc@b, family: ipv6}
workloads:
  bulk:  {stream: {}}
  ask:   {rr: {size: 1KiB}}
  dgram: {udp: {size: 100B, rate: 1000pps}}
  echo:  {ping: {every: 10ms}, paths: [server, client, one-node, ptp, six]}
  page:  {http: {connections: 2, response: 1KiB}, paths: [server, client, cluster-ip]}
  ring:  {rr: {size: 1KiB, engine: uring}, paths: [plain, server]}
";

/// The only complete record of a path and workload.
fn only<'a>(records: &'a [Record], path: &str, workload: &str) -> &'a Record {
    let mut found =
        records.iter().filter(|record| record.path == path && record.workload == workload);
    let record = found.next().unwrap_or_else(|| panic!("no record of {workload} on {path}"));
    assert!(found.next().is_none(), "{workload} on {path} twice");
    record
}

#[test]
fn sandboxed_pods_are_measured_and_proven_by_whoever_asks() {
    let Some(_turn) = turn(outside_alone) else {
        return;
    };
    for user in User::all() {
        let sandboxed = Sandboxed::new(user, SCENARIO);
        let done = sandboxed.start().finish_within(120 * S);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = sandboxed.bench().results();
        assert_eq!(results.run.status, RunStatus::Complete, "{user}");
        let skipped: Vec<_> =
            results.run.skipped.iter().map(|s| (s.path.as_str(), s.workload.as_str())).collect();
        // A kernel of its own has no io_uring.
        assert_eq!(skipped, [("server", "ring")], "{user}");
        results.whole();
        let version = results.run.testbed.get("runtime runsc");
        assert!(version.is_some_and(|text| text.contains("runsc version")), "{user}: {version:?}");
        for record in &results.records {
            says_what_is_sandboxed(record);
        }
        let records = &results.records;
        // What the sandbox costs is seen from outside: its kernel is paid for, too.
        let per_request = |path: &str| {
            let record = only(records, path, "ask");
            let spent = &record.cost.server;
            (spent["user_s"] + spent["system_s"]) / record.metrics["requests"]
        };
        let (plain, inside) = (per_request("plain"), per_request("server"));
        assert!(
            inside > 1.5 * plain,
            "{user}: {inside} s of CPU a request in the sandbox, {plain} s without"
        );
        let rate = |path: &str| only(records, path, "ask").metrics["requests_per_s"];
        assert!(rate("server") < rate("plain"), "{user}: {} and {}", rate("server"), rate("plain"));
        assert!(rate("server") > 50.0, "{user}: {} requests a second", rate("server"));
        // The stack's own MTU and segmentation: more than one packet at a time, or this would be
        // far less.
        let bulk = only(records, "server", "bulk").metrics["received_bits_per_s"];
        assert!(bulk > 200e6, "{user}: {bulk} bits/s");
    }
}

/// A record of a path with a sandbox proves it, and says whose clock and whose meters it has.
fn says_what_is_sandboxed(record: &Record) {
    let name = format!("{} {}", record.path, record.workload);
    let (client, server) = match record.path.as_str() {
        "plain" => (false, false),
        "client" | "eni" => (true, false),
        "ptp" | "six-ptp" => (true, true),
        _ => (false, true),
    };
    let proofs: Vec<&str> =
        record.proof.iter().filter(|p| p.hop == "runsc").map(|p| p.evidence.as_str()).collect();
    assert_eq!(proofs.len(), usize::from(client) + usize::from(server), "{name}: {proofs:?}");
    assert!(proofs.iter().all(|evidence| evidence.contains("gvisor")), "{name}: {proofs:?}");
    let clock = if client || server { "a sandbox's own" } else { "shared" };
    assert_eq!(record.settings["clock"], clock, "{name}");
    let meters: Vec<bool> = ["meters", "server_meters"]
        .iter()
        .map(|end| {
            record
                .settings
                .get(*end)
                .is_some_and(|text| text.contains("from outside of the sandbox"))
        })
        .collect();
    assert_eq!(meters[0], client, "{name}: {:?}", record.settings);
    if !client {
        assert_eq!(meters[1], server, "{name}: {:?}", record.settings);
    }
    for node in &record.cost.nodes {
        // The kernel counts in ticks, and misses the little that a few datagrams take.
        let busy = node.busy_cores > 0.0 || record.workload != "bulk";
        assert!(!node.per_cpu_busy.is_empty() && busy, "{name}: {node:?}");
    }
}

#[test]
fn without_gvisor_its_paths_are_left_out_and_told() {
    let Some(_turn) = outside() else {
        return;
    };
    let scenario = "
name: none
time: 100ms
warmup: 20ms
interval: 20ms
rounds: 1
paths:
  plain: bridge@a -> bridge@b
  boxed: bridge@a -> bridge+runsc@b
workloads:
  ask: {rr: {}}
";
    let bench = crate::lab::Bench::new(User::Caller, scenario);
    let (file, out) = (bench.scenario(), bench.out());
    let mut command = bench.command(&["run", &file, "--out", &out.to_string_lossy()]);
    // Neither HOME nor this has one.
    let empty = User::Caller.folder();
    for tool in ["nft", "ip"] {
        let found = shell(&format!("command -v {tool}"));
        std::os::unix::fs::symlink(found.trim(), empty.path().join(tool)).expect("a link");
    }
    command.env("PATH", empty.path()).env("XDG_CACHE_HOME", empty.path());
    if ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .any(|folder| std::path::Path::new(folder).join("runsc").exists())
    {
        return skip("gVisor is where every user has it");
    }
    let done = Running::start(&mut command).finish();
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    let skipped: Vec<_> =
        results.run.skipped.iter().map(|s| (s.path.as_str(), s.reason.as_str())).collect();
    let [("boxed", reason)] = skipped[..] else { panic!("{skipped:?}") };
    assert!(
        reason.contains("no program `runsc`") && reason.contains("install-runsc.sh"),
        "{reason}"
    );
    assert!(reason.len() < 250, "{reason}");
    assert_eq!(results.records.len(), 1);
}
