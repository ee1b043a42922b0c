//! Meshes through the binary and real Envoys: every hop counts what was sent, more proxies take
//! longer, and a proxy that dies costs its own trial.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hopbench_model::{ProxyCost, Record};

use crate::lab::bench::Results;
use crate::lab::envoy::{self, is_envoy};
use crate::lab::namespace::{outside, outside_alone};
use crate::lab::process::try_kill;
use crate::lab::program::run;
use crate::lab::wait::{S, until};
use crate::lab::{Bench, User};

/// 16 connections at constant rates, every mode and a gateway.
const MODES: &str = "
name: modes
testbed: {lab: {nodes: 3}}
rounds: 3
time: 600ms
warmup: 200ms
seed: 3
baseline: none
a-a: false
paths:
  none:    bridge@a -> bridge@b
  server:  bridge@a -> bridge@b mesh server
  client:  bridge@a -> bridge@b mesh client
  both:    bridge@a -> bridge@b mesh both
  ingress: bridge@a -> bridge@b via gateway@c mesh server
workloads:
  rates: {http: {connections: 16, rate: [100, 1000], response: 1KiB}}
";

const PATIENCE: u64 = 180 * S;

/// Envoy where a user can run it.
fn within_reach(envoy: &Path, folder: &Path, user: User) -> PathBuf {
    if user == User::Caller {
        return envoy.to_owned();
    }
    let copy = folder.join("envoy");
    let copied = run(std::process::Command::new("cp").arg(envoy).arg(&copy));
    assert_eq!(copied.code, Some(0), "{}", copied.story());
    copy
}

fn named(record: &Record) -> Vec<&ProxyCost> {
    record.cost.proxies.iter().filter(|proxy| proxy.named).collect()
}

/// The trials of a cell.
fn trials<'r>(results: &'r Results, path: &'r str, rate: u64) -> impl Iterator<Item = &'r Record> {
    results
        .records
        .iter()
        .filter(move |record| record.path == path && record.point["rate"].as_u64() == Some(rate))
}

/// The median over the rounds of a cell that have the figure.
fn median(
    results: &Results,
    path: &str,
    rate: u64,
    of: impl Fn(&Record) -> Option<f64>,
) -> Option<f64> {
    let mut values: Vec<f64> = trials(results, path, rate).filter_map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Whether the record says that a proxy's processes were not read at the window's edges: a
/// conductor that waits 20 ms for a CPU is too late, and gives no figure rather than one of another
/// time.
fn was_read_late(record: &Record, proxy: &ProxyCost) -> bool {
    let said = record.settings.get(&format!("proxy_{}", proxy.name));
    said.is_some_and(|said| said.starts_with("unavailable: read ") && said.ends_with(" ms late"))
}

#[test]
fn every_hop_counts_what_was_sent_and_more_hops_take_longer() {
    let Some(envoy) = envoy::program() else { return };
    let Some(_turn) = outside_alone() else { return };
    for (user, rounds) in User::all().into_iter().zip(["3", "1"]) {
        let folder = user.folder();
        let envoy = within_reach(&envoy, folder.path(), user);
        let bench = Bench::new(user, MODES);
        let done = bench
            .start(&["--rounds", rounds, "--envoy", &envoy.to_string_lossy()])
            .finish_within(PATIENCE);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = bench.results();
        assert!(results.run.skipped.is_empty(), "{user}: {:?}", results.run.skipped);
        results.whole();
        results.records.iter().for_each(sound);
        if rounds == "1" {
            continue;
        }
        // The fastest of some 1800 exchanges: whoever else uses the machine makes most of them
        // slower, and does not make any of them skip a hop.
        let fastest = |path| {
            trials(&results, path, 1000).map(|record| record.latency["service_ns"].min).min()
        };
        let all = ["none", "server", "client", "both"].map(|path| fastest(path).expect("a trial"));
        let [none, server, client, both] = all;
        let ordered = none < server && none < client && server < both && client < both;
        assert!(ordered, "fastest: none {none}, server {server}, client {client}, both {both} ns");
        let known = |path, rate| {
            median(&results, path, rate, |record| record.metrics.get("proxy_cores").copied())
        };
        let cores = ["server", "client", "both", "ingress"]
            .map(|path| known(path, 100).zip(known(path, 1000)));
        let cores: Vec<(f64, f64)> = cores.into_iter().flatten().collect();
        assert!(
            !cores.is_empty(),
            "no path has its proxies' CPU at both rates: {:?}",
            results.records[0].settings
        );
        assert!(
            cores.iter().all(|(at_100, at_1000)| at_1000 > at_100),
            "cores at 100/s and at 1000/s: {cores:?}"
        );
        let late =
            |record: &Record| record.cost.proxies.iter().any(|proxy| was_read_late(record, proxy));
        reported(&bench, !results.records.iter().any(late));
    }
}

/// Every proxy of the path counted the very requests that the client sent, and the others none.
fn sound(record: &Record) {
    let name = format!("{} {:?} round {}", record.path, record.point, record.round);
    let expected: &[&str] = match record.path.as_str() {
        "none" => &[],
        "server" => &["server-sidecar"],
        "client" => &["client-sidecar"],
        "both" => &["client-sidecar", "server-sidecar"],
        _ => &["gateway", "server-sidecar"],
    };
    let proxies = named(record);
    assert_eq!(
        proxies.iter().map(|proxy| proxy.name.as_str()).collect::<Vec<_>>(),
        expected,
        "{name}"
    );
    // Those of the window, of the warm-up, and nothing else: the schedule says how many that are.
    let rate = record.point["rate"].as_f64().unwrap_or_default();
    let asked = rate * (record.window_s + 0.2);
    for proxy in &proxies {
        let requests = proxy.figures["requests"];
        assert_eq!(requests, proxies[0].figures["requests"], "{name}: {}", proxy.name);
        assert!((requests - asked).abs() <= 0.05 * asked + 17.0, "{name}: {requests} of {asked}");
        let spent = |figure: &str, least: f64| {
            proxy.figures.get(figure).is_some_and(|value| *value > least)
        };
        let known = spent("cpu_s", 0.0) && spent("rss_bytes", 10e6);
        assert!(known || was_read_late(record, proxy), "{name}: {proxy:?} {:?}", record.settings);
    }
    for proxy in record.cost.proxies.iter().filter(|proxy| !proxy.named) {
        // What it did not count is left out.
        let requests = proxy.figures.get("requests");
        assert_eq!(requests, None, "{name}: {} is not on the path", proxy.name);
        let idles = proxy.figures.get("rss_bytes").is_some_and(|bytes| *bytes > 10e6);
        assert!(idles || was_read_late(record, proxy), "{name}: idling costs memory: {proxy:?}");
    }
    assert!(record.errors.is_empty(), "{name}: {:?}", record.errors);
}

/// The reports show the modes as what each hop adds, and other tools get their labels. `complete`:
/// what the proxies spent is known of every trial.
fn reported(bench: &Bench, complete: bool) {
    let out = bench.out();
    let report = |format: &str| {
        let done = run(&mut bench.command(&["report", &out.to_string_lossy(), "--format", format]));
        assert_eq!(done.code, Some(0), "{}", done.story());
        done.stdout
    };
    let summary: serde_json::Value = serde_json::from_str(&report("json")).expect("JSON");
    assert!(
        summary["waterfall"].as_array().is_some_and(|list| !list.is_empty()),
        "{}",
        summary["waterfall"]
    );
    assert!(report("table").contains("what each hop adds"));
    let rows = report("istio-csv");
    let mut modes = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let label = row.split(',').nth(2).unwrap_or_default();
        let mode = ["no_istio", "serveronly", "clientonly", "both", "ingress"]
            .into_iter()
            .find(|m| label.ends_with(m));
        *modes.entry(mode.expect("a mode of the kit")).or_insert(0) += 1;
        // CPU of the sidecars, which stand in the pods in every mode, and of the gateway, which
        // stands in front of one.
        let has = |column: usize| {
            row.split(',').nth(column).is_some_and(|value| value.parse::<f64>().is_ok())
        };
        let expected = [true, true, mode == Some("ingress")];
        let found = [has(9), has(10), has(11)];
        assert!(
            found == expected
                || !complete && found.iter().zip(expected).all(|(has, may)| may || !has),
            "{row}"
        );
    }
    assert_eq!(
        modes.into_values().collect::<Vec<_>>(),
        [6; 5],
        "two rates in three rounds each: {rows}"
    );
}

#[test]
fn without_envoy_the_other_paths_are_measured() {
    let Some(_turn) = outside() else { return };
    let bench = Bench::new(User::Caller, MODES);
    // No cache, and a PATH in which there is none.
    let mut command =
        bench.command(&["run", &bench.scenario(), "--out", &bench.out().to_string_lossy()]);
    command.args(["--rounds", "1", "--duration", "100ms"]).env("XDG_CACHE_HOME", bench.work());
    let done = run(command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin"));
    if done.stderr.is_empty() && Path::new("/usr/bin/envoy").exists() {
        return;
    }
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    assert_eq!(results.records.len(), 2, "the bare path at two rates");
    assert_eq!(results.run.skipped.len(), 8, "{:?}", results.run.skipped);
    for skipped in &results.run.skipped {
        assert!(
            skipped.reason.contains("envoy") && skipped.reason.contains("install-envoy"),
            "{}",
            skipped.reason
        );
    }
    let missing =
        run(&mut bench.command(&["plan", &bench.scenario(), "--envoy", "/no/such/envoy"]));
    assert!(
        missing.code == Some(2) && missing.stderr.contains("/no/such/envoy"),
        "{}",
        missing.story()
    );
}

/// One path without proxies, one with both.
const TWO: &str = "
name: two
testbed: {lab: {nodes: 2}}
rounds: 2
time: 1500ms
warmup: 50ms
paths:
  none: bridge@a -> bridge@b
  both: bridge@a -> bridge@b mesh both
workloads:
  ask: {http: {connections: 2, rate: 200}}
";

/// The Envoys of a run: its descendants by that name.
fn envoys(run: u32) -> Vec<u32> {
    let mut all = vec![run];
    let mut at = 0;
    while at < all.len() {
        let children = format!("/proc/{}/task", all[at]);
        let tasks = std::fs::read_dir(children).into_iter().flatten().flatten();
        for task in tasks {
            let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            all.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        at += 1;
    }
    all.into_iter().filter(|pid| is_envoy(*pid)).collect()
}

#[test]
fn an_envoy_that_dies_costs_its_trial_and_comes_again() {
    let Some(envoy) = envoy::program() else { return };
    let Some(_turn) = outside() else { return };
    let bench = Bench::new(User::Caller, TWO);
    let started = bench.start(&["--envoy", &envoy.to_string_lossy(), "--only", "path=both"]);
    let both = until(20 * S, || Some(envoys(started.pid())).filter(|list| list.len() == 2))
        .expect("two Envoys");
    // They are there before the first trial begins; a moment later it is under way.
    crate::lab::wait::pause(S);
    try_kill(both[0]);
    let done = started.finish();
    assert_eq!(done.code, Some(4), "{}", done.story());
    let results = bench.results();
    let cut: Vec<&Record> =
        results.records.iter().filter(|record| record.incomplete.is_some()).collect();
    let told = cut.iter().filter_map(|record| record.incomplete.as_deref());
    let told: Vec<&str> =
        told.chain(results.run.failures.iter().map(|failure| failure.reason.as_str())).collect();
    let [reason] = told[..] else { panic!("one trial is lost: {told:?}") };
    assert!(reason.contains("sidecar") && reason.contains("ended"), "{reason}");
    let whole: Vec<&Record> =
        results.records.iter().filter(|record| record.incomplete.is_none()).collect();
    assert_eq!(whole.len(), 1, "the other round found a new Envoy: {}", done.story());
    whole.into_iter().for_each(crate::lab::bench::good);
    assert_eq!(bench.resume(&["--envoy", &envoy.to_string_lossy()]).code, Some(0));
    bench.results().whole();
    assert!(both.iter().all(|pid| !is_envoy(*pid)), "nothing stays");
}
