//! The cost of proxies, played by processes whose CPU time is known.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use hopbench_model::{Path, ProxyCost, Record, RunStatus};
use hopbench_testbed::Proxy;
use serde_json::json;

use crate::bed::{Bed, Trouble};
use crate::follower::{Follower, contents, resume, run};
use crate::plans::{job, path, plan, point};

/// A process that ends with the test.
pub(crate) struct Player(Child);

impl Player {
    pub(crate) fn start(script: &str) -> Self {
        Self(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn plays(&self, name: &str, node: &str, named: bool) -> Proxy {
        let (name, node, pids) = (name.to_owned(), node.to_owned(), vec![self.0.id()]);
        Proxy { name, node, named, pids, beside: None, workers: 1, cpus: None }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const BUSY: &str = "while :; do :; done";
pub(crate) const IDLE: &str = "exec sleep 600";

fn bed(path: &str, proxies: Vec<Proxy>) -> Bed {
    Bed { proxies: BTreeMap::from([(path.to_owned(), proxies)]), ..Bed::default() }
}

fn measure(
    bed: &mut Bed,
    workload: &str,
    params: serde_json::Value,
    paths: Vec<Path>,
) -> (Vec<Record>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job(workload, params, 2, 1000))];
    run(plan(paths, points, 1), dir.path(), bed, &mut Follower::default()).unwrap();
    (contents(dir.path()).1, dir)
}

/// Measures until every proxy was read in time: a conductor that waits for a CPU, which other tests
/// have, gives no figure rather than one of another time.
fn in_time<T>(measure: impl Fn() -> (Vec<Record>, T)) -> (Vec<Record>, T) {
    let is_late =
        |said: &str| said.ends_with(" ms late") || said.ends_with("before the window began");
    let was_late = |record: &Record| {
        record.settings.iter().any(|(name, said)| name.starts_with("proxy_") && is_late(said))
    };
    for _ in 0..20 {
        let (records, rest) = measure();
        if !records.iter().any(was_late) {
            return (records, rest);
        }
    }
    panic!("proxies were read late 20 times");
}

fn cost<'a>(record: &'a Record, name: &str) -> &'a ProxyCost {
    record.cost.proxies.iter().find(|cost| cost.name == name).unwrap()
}

#[test]
fn each_proxy_is_charged_what_its_process_spent() {
    let (busy, idle, spare) = (Player::start(BUSY), Player::start(IDLE), Player::start(IDLE));
    let proxies = vec![
        busy.plays("client-sidecar", "a", true),
        idle.plays("server-sidecar", "b", true),
        spare.plays("gateway", "b", false),
    ];
    let (records, _dir) =
        measure(&mut bed("x", proxies), "rr", json!({"size": "100B"}), vec![path("x", 1, 1)]);
    let record = &records[0];
    assert_eq!((record.incomplete.as_deref(), record.error.as_deref()), (None, None));
    let seen: Vec<_> =
        record.cost.proxies.iter().map(|c| (c.name.as_str(), c.node.as_str(), c.named)).collect();
    assert_eq!(
        seen,
        [("client-sidecar", "a", true), ("server-sidecar", "b", true), ("gateway", "b", false)]
    );
    let (busy, idle, spare) =
        (cost(record, "client-sidecar"), cost(record, "server-sidecar"), cost(record, "gateway"));
    for cost in [busy, idle, spare] {
        let of = |name: &str| cost.figures.get(name).copied().unwrap_or_default();
        // It takes its share of CPUs that many tests share; clock ticks round what is user and what
        // is not.
        assert!(
            of("cores") <= 1.05
                && of("rss_bytes") > 100e3
                && of("max_rss_bytes") >= of("rss_bytes"),
            "{cost:?}"
        );
        assert!((of("cpu_s") - of("user_s") - of("system_s")).abs() < 0.05, "{cost:?}");
        assert_eq!((of("threads"), of("workers"), of("requests")), (1.0, 2.0, 3.0));
        assert_eq!(of("active_connections"), 2.0, "asked while the traffic was on");
    }
    let cores = |cost: &ProxyCost| cost.figures["cores"];
    assert!(cores(busy) > 0.05, "{busy:?}");
    assert!(cores(idle) < 0.01 && cores(spare) < 0.01, "{idle:?} {spare:?}");
    // The price of a request, and of a byte: of those that the path names.
    let per_request = busy.figures["cpu_ns_per_request"];
    let requests_per_s = record.metrics["requests_per_s"];
    assert!(
        (per_request * requests_per_s / 1e9 / cores(busy) - 1.0).abs() < 0.1,
        "{per_request} {requests_per_s}"
    );
    let per_byte = busy.figures["cpu_ns_per_byte"];
    assert!(
        (per_request / per_byte / 200.0 - 1.0).abs() < 0.02,
        "a request is 100 bytes, and so is its answer"
    );
    assert!(spare.figures.keys().all(|name| !name.starts_with("cpu_ns_per")), "{spare:?}");
    let sum = cores(busy) + cores(idle);
    assert!(
        (record.metrics["proxy_cores"] - sum).abs() < 1e-9,
        "the third is idle: {:?}",
        record.metrics
    );
    let us = record.metrics["proxy_cpu_us_per_request"];
    assert!((us / (sum / requests_per_s * 1e6) - 1.0).abs() < 0.1, "{us}");
    let rss = busy.figures["rss_bytes"] + idle.figures["rss_bytes"];
    assert_eq!(record.metrics["proxy_rss_bytes"], rss);
    for node in &record.cost.nodes {
        assert!(
            node.busy_cores >= sum - 0.05,
            "{} cores on {}, of which {sum} the proxies'",
            node.busy_cores,
            node.name
        );
    }
    assert!(record.settings["tcp_counters"].contains("nearest proxy"));
}

#[test]
fn bytes_and_statuses_have_prices_of_their_own() {
    let player = Player::start(IDLE);
    let bed = || bed("x", vec![player.plays("server-sidecar", "b", true)]);
    let stream = json!({"size": "64KiB", "direction": "to-server", "receive": "copy"});
    let (records, _dir) =
        in_time(|| measure(&mut bed(), "stream", stream.clone(), vec![path("x", 1, 1)]));
    let figures = &records[0].cost.proxies[0].figures;
    assert!(
        figures.contains_key("cpu_ns_per_byte") && !figures.contains_key("cpu_ns_per_request"),
        "{figures:?}"
    );
    assert!(records[0].metrics.contains_key("in_proxies_bytes"), "{:?}", records[0].metrics);
    // The record of a run explains its figures, as the page of a single trial does.
    let told = &records[0].explanation;
    assert!(told.len() == 1 && told[0].contains("sockets of the proxies between them"), "{told:?}");
    let (records, _dir) = in_time(|| measure(&mut bed(), "http", json!({}), vec![path("x", 1, 1)]));
    let figures = &records[0].cost.proxies[0].figures;
    assert!(
        figures.contains_key("cpu_ns_per_request") && !figures.contains_key("cpu_ns_per_byte"),
        "{figures:?}"
    );
    // Paths without proxies say nothing of them.
    let (records, _dir) =
        measure(&mut Bed::default(), "rr", json!({"size": "1B"}), vec![path("x", 1, 1)]);
    let record = &records[0];
    assert!(record.cost.proxies.is_empty() && !record.settings.contains_key("tcp_counters"));
    assert!(record.metrics.keys().all(|name| !name.contains("prox")), "{:?}", record.metrics);
}

#[test]
fn a_proxy_that_dies_is_why_the_trial_is_incomplete() {
    let one_dies = || {
        let (dies, stays) = (Player::start(IDLE), Player::start(IDLE));
        let proxies =
            vec![dies.plays("client-sidecar", "a", true), stays.plays("server-sidecar", "b", true)];
        let mut bed = Bed {
            trouble: [("x".to_owned(), Trouble::ProxyDies(300))].into(),
            ..bed("x", proxies)
        };
        let paths = vec![path("x", 1, 1), path("y", 1, 1)];
        let (records, dir) = measure(&mut bed, "rr", json!({"size": "1B"}), paths);
        (records, (dir, dies.0.id()))
    };
    let (records, (dir, dead)) = in_time(one_dies);
    assert_eq!(contents(dir.path()).0.status, RunStatus::Incomplete);
    let cut = records.iter().find(|record| record.path == "x").unwrap();
    let why = cut.incomplete.clone().unwrap();
    assert!(why.contains("the proxy client-sidecar on a ended while the trial ran"), "{why}");
    // Its parent, this test, has not looked yet: the process is a zombie, not gone.
    assert!(why.contains(&format!("process {dead} has ended")), "{why}");
    // And the testbed knows how it ended.
    assert!(
        why.ends_with(
            "has ended; a sidecar has ended (signal: 9 (SIGKILL)); its last words:\nout of memory"
        ),
        "{why}"
    );
    assert!(
        cut.settings["proxy_client-sidecar"].starts_with("unavailable: "),
        "{:?}",
        cut.settings
    );
    assert!(!cost(cut, "client-sidecar").figures.contains_key("cores"));
    assert!(
        cost(cut, "server-sidecar").figures.contains_key("cores"),
        "the other one is known all the same"
    );
    assert!(!cut.metrics.contains_key("proxy_cores"), "half of a sum is none");
    // The other path was measured, and the next session finds new proxies.
    assert!(records.iter().any(|record| record.path == "y" && record.incomplete.is_none()));
    let ended = resume(dir.path(), &mut Bed::default(), &mut Follower::default()).unwrap();
    assert_eq!(ended.good, 1);
}

#[test]
fn a_proxy_that_is_gone_before_is_told_before() {
    let mut player = Player::start("true");
    player.0.wait().unwrap();
    let mut bed = bed("x", vec![player.plays("gateway", "c", true)]);
    let (records, dir) =
        measure(&mut bed, "rr", json!({"size": "1B"}), vec![path("x", 1, 1), path("y", 1, 1)]);
    assert_eq!(records.len(), 1);
    let failures = contents(dir.path()).0.failures;
    assert!(
        failures[0].reason.contains("the proxy gateway on c cannot be watched, has it ended?"),
        "{failures:?}"
    );
}

#[test]
fn a_proxy_that_does_not_answer_leaves_what_was_measured() {
    let player = Player::start(IDLE);
    let bed = || {
        let proxies = vec![player.plays("gateway", "c", true)];
        Bed { trouble: [("x".to_owned(), Trouble::NoGauges)].into(), ..bed("x", proxies) }
    };
    let (records, _dir) =
        in_time(|| measure(&mut bed(), "rr", json!({"size": "1B"}), vec![path("x", 1, 1)]));
    assert_eq!((records[0].incomplete.as_deref(), records[0].error.as_deref()), (None, None));
    assert_eq!(
        records[0].settings["proxy_gauges"],
        "unavailable: the admin endpoint does not answer"
    );
    let figures = &records[0].cost.proxies[0].figures;
    assert!(figures.contains_key("cores") && !figures.contains_key("workers"), "{figures:?}");
}

#[test]
fn proxies_that_cannot_be_seen_cost_nobody_knows_what() {
    let unseen = Proxy {
        name: "gateway".to_owned(),
        node: "c".to_owned(),
        named: true,
        pids: Vec::new(),
        beside: None,
        workers: 2,
        cpus: None,
    };
    let (records, _dir) =
        measure(&mut bed("x", vec![unseen]), "rr", json!({"size": "1B"}), vec![path("x", 1, 1)]);
    let record = &records[0];
    assert_eq!((record.incomplete.as_deref(), record.error.as_deref()), (None, None));
    let why = "its processes cannot be seen from here, and no meter read it both before the trial \
               and after it";
    assert_eq!(record.settings["proxy_gateway"], format!("unavailable: {why}"));
    // What it says of itself is there.
    assert_eq!(
        record.cost.proxies[0].figures,
        BTreeMap::from(
            [("active_connections", 2.0), ("requests", 3.0), ("workers", 2.0)]
                .map(|(n, v)| (n.to_owned(), v))
        )
    );
    assert!(record.metrics.keys().all(|name| !name.starts_with("proxy_")));
}
