//! Campaigns whose proxies and sandboxes only others meter, who read when they like.

use std::time::Duration;

use hopbench_model::{Record, WarningKind};
use hopbench_sys::clock;
use hopbench_testbed::{Metered, MeteredKind, Proxy};
use serde_json::json;

use crate::far::Far;
use crate::follower::{Follower, contents, run};
use crate::plans::{job, path, plan, point};

/// A meter that reads what it knows every so often. What is under load uses half a core.
#[derive(Debug, Clone)]
pub(crate) struct Housekeeping {
    /// The sources and what they read.
    pub(crate) whom: Vec<(&'static str, MeteredKind, &'static str)>,
    /// It has read nothing before; since 1970 UTC.
    pub(crate) from: Duration,
    /// How often it reads.
    pub(crate) every: Duration,
    /// When load began and ended, in turns; since 1970 UTC.
    pub(crate) turns: Vec<Duration>,
}

impl Housekeeping {
    /// The counters are read right before the load and right after it.
    pub(crate) fn load_turns(&mut self) {
        self.turns.push(clock::wall());
    }

    /// Time with load until a moment.
    fn loaded(&self, until: Duration) -> Duration {
        let each = self.turns.chunks(2).map(|turn| {
            let end = turn.get(1).copied().unwrap_or(until).min(until);
            end.saturating_sub(turn[0])
        });
        each.sum()
    }

    /// Its last readings.
    pub(crate) fn said(&self) -> Vec<Metered> {
        let Some(since) = clock::wall().checked_sub(self.from) else { return Vec::new() };
        let at = self.from
            + self.every * u32::try_from(since.as_nanos() / self.every.as_nanos()).unwrap();
        let cpu_ns = u64::try_from(self.loaded(at).as_nanos() / 2).unwrap();
        let one = |&(source, what, who): &(&'static str, MeteredKind, &str)| Metered {
            who: who.to_owned(),
            what,
            source,
            at,
            // Of what is in a sandbox the kubelet knows nothing.
            cpu_ns: if (source, what) == ("kubelet", MeteredKind::Agent) { 0 } else { cpu_ns },
            memory_bytes: None,
            throttled_ns: None,
        };
        self.whom.iter().map(one).collect()
    }
}

fn sidecar() -> Proxy {
    let (name, node) = ("server-sidecar".to_owned(), "s".to_owned());
    Proxy { name, node, named: true, pids: Vec::new(), beside: None, workers: 1, cpus: None }
}

fn measured(bed: &mut Far, runtime: Option<&str>, window_ms: u64, rounds: u32) -> Vec<Record> {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, window_ms))];
    let mut follower = Follower::default();
    let mut path = path("x", 1, 1);
    path.from.runtime = runtime.map(str::to_owned);
    let ended = run(plan(vec![path], points, rounds), dir.path(), bed, &mut follower).unwrap();
    assert_eq!(ended.failures, 0, "{:?}", follower.failed);
    contents(dir.path()).1
}

/// The meter reads every 2 s and the first time 1 s after the agents are there; trials take 1.5 s,
/// one after the other.
#[test]
fn what_a_slow_meter_read_is_of_one_trials_load() {
    let whom = vec![
        ("kubelet", MeteredKind::Node, "s"),
        ("kubelet", MeteredKind::Proxy, "server-sidecar"),
        ("kubelet", MeteredKind::Agent, "client 1 of x"),
        ("cadvisor", MeteredKind::Agent, "client 1 of x"),
    ];
    let (from, every) = (clock::wall() + Duration::from_secs(1), Duration::from_secs(2));
    let housekeeping = Some(Housekeeping { whom, from, every, turns: Vec::new() });
    let mut bed = Far { housekeeping, proxies: vec![sidecar()], ..Far::new(false) };
    let records = measured(&mut bed, Some("runsc"), 1500, 3);
    let turns = bed.housekeeping.unwrap().turns;
    assert_eq!((records.len(), turns.len()), (3, 6));
    for (record, turn) in records.iter().zip(turns.chunks(2)) {
        let spent_s = (turn[1] - turn[0]).as_secs_f64() / 2.0;
        let of = |what: &str, source: &str| {
            let found = record
                .cost
                .metered
                .iter()
                .find(|cost| (&*cost.what, &*cost.source) == (what, source));
            found.unwrap_or_else(|| panic!("{what} by {source}: {:?}", record.settings)).clone()
        };
        for metered in [of("proxy", "kubelet"), of("agent", "cadvisor")] {
            assert!(
                (metered.figures["cpu_s"] - spent_s).abs() < 1e-6,
                "all of this trial's, and nothing else: {metered:?}"
            );
            assert!(
                metered.starts_at_s <= 0.0
                    && metered.starts_at_s + metered.window_s >= record.window_s
            );
        }
        let cores = spent_s / record.window_s;
        let near = |found: f64| (found - cores).abs() < 1e-6;
        assert!(
            near(record.cost.proxies[0].figures["cores"]) && near(record.metrics["proxy_cores"])
        );
        assert!(
            near(record.cost.client["cores"]),
            "as seen around the sandbox: {:?}",
            record.cost.client
        );
        assert!(
            record.settings["client_sandbox"].starts_with("by cadvisor"),
            "{:?}",
            record.settings
        );
        assert!(
            record.warnings.iter().all(|warning| warning.kind != WarningKind::Unavailable),
            "{:?}",
            record.warnings
        );
    }
}

#[test]
fn where_nobody_meters_that_is_found_out_once_and_told() {
    let mut bed = Far { proxies: vec![sidecar()], ..Far::new(false) };
    let records = measured(&mut bed, None, 20, 4);
    // 2 s with a question every 250 ms, and then one before each trial and one after it.
    assert!(bed.asked > 8 && bed.asked <= 9 + 7, "{}", bed.asked);
    for record in records {
        assert!(!record.metrics.contains_key("proxy_cores"));
        let why = &record.settings["proxy_server-sidecar"];
        assert!(
            why.starts_with("unavailable") && why.contains("no meter read it both before"),
            "{why}"
        );
        let told = record
            .warnings
            .iter()
            .find(|warning| warning.kind == WarningKind::Unavailable)
            .unwrap();
        assert!(
            told.detail.contains("the proxy server-sidecar (settings.proxy_server-sidecar)"),
            "{}",
            told.detail
        );
    }
}

#[test]
fn why_meters_say_nothing_stands_in_the_record_and_in_its_warning() {
    let why = "the kubelet of node n1 gave no readings: forbidden".to_owned();
    let mut bed = Far { proxies: vec![sidecar()], silent: vec![why.clone()], ..Far::new(false) };
    for record in measured(&mut bed, None, 20, 1) {
        assert_eq!(record.settings["meters"], format!("unavailable: {why}"));
        let told = record
            .warnings
            .iter()
            .find(|warning| warning.kind == WarningKind::Unavailable)
            .unwrap();
        assert!(
            told.detail.ends_with(&format!("its figures are left out; {why}")),
            "{}",
            told.detail
        );
        assert!(told.next.contains("let these meters answer"), "{}", told.next);
    }
}
