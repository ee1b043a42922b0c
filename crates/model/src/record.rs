//! The result of one trial.

mod concise;
mod line;
mod member;
mod saturated;
mod warning;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{SearchStep, WorkloadKind};

pub use line::{LineError, RecordLines, SharedParts, record_of_line};
pub use member::Member;
pub use warning::{Warning, WarningKind};

/// The version of [`Record`]; a field is never repurposed, this number grows instead.
pub const RECORD_SCHEMA: &str = "hopbench.record/2";

/// The versions that are read. In `/1` all of a record stood in its line, and a counter that was
/// absent from a meter was unknown.
pub const RECORD_SCHEMAS: &[&str] = &[RECORD_SCHEMA, "hopbench.record/1"];

/// The setting in which old records have [`Record::testbed_changed`].
const OLD_TESTBED_CHANGED: &str = "testbed_changed";

/// The result of one trial: one JSON line.
///
/// A metric that does not apply is absent. Metric names carry their unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`RECORD_SCHEMA`].
    pub schema: String,
    /// The run this trial belongs to.
    pub run_id: String,
    /// The path's name; by hand, the target as it was given.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The settings that vary between cells.
    pub point: BTreeMap<String, Value>,
    /// The round, from 1.
    pub round: u32,
    /// The session of the run in which it was measured, from 1; `--resume` begins the next. Only
    /// figures of one session were taken under the same circumstances. Absent in old records: 1.
    #[serde(default = "first")]
    pub session: u32,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// Length of the measured window, s.
    pub window_s: f64,
    /// What limited the trial.
    pub limited_by: String,
    /// The numbers behind `limited_by`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub limited_because: String,
    /// What follows from the figures, in sentences: where the bytes are that were written and not
    /// received, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explanation: Vec<String>,
    /// Figures by name.
    pub metrics: BTreeMap<String, f64>,
    /// Latencies by kind (`response_ns`, `service_ns`, ...).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency: BTreeMap<String, Latency>,
    /// The window cut into intervals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// CPU and memory.
    pub cost: Cost,
    /// Evidence that the traffic took the path.
    pub proof: Vec<Proof>,
    /// What must hold for the figures to make sense.
    pub invariants: Vec<Invariant>,
    /// Caveats.
    pub warnings: Vec<Warning>,
    /// Answers by status.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<String, u64>,
    /// Failures by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// What was asked of the system and what it gave.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// The job as it was resolved: all that is needed to repeat the trial.
    pub job: Value,
    /// The place of the measurement.
    pub environment: Environment,
    /// What the trial was for, where a search asked for it: it belongs to no cell's rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchStep>,
    /// What of the testbed changed during the trial, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed_changed: Option<String>,
    /// Why the trial was cut short, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Why the figures must not be used: a proof or an invariant that does not hold. Reports leave
    /// them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The outcome of a trial: the use that its figures can be put to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialOutcome<'a> {
    /// They are used.
    Good,
    /// They are used, but in no comparison: the testbed changed meanwhile, as this says.
    Disturbed(&'a str),
    /// They are not used: the trial was cut short, for this reason.
    CutShort(&'a str),
    /// They are not used: they are wrong, for this reason.
    Error(&'a str),
}

impl Record {
    /// The setting of a trial that was a visit to a cell that had stayed prepared.
    pub const VISIT_SETTING: &str = "visit";

    /// The outcome, as the run decided it.
    pub fn outcome(&self) -> TrialOutcome<'_> {
        let old = || self.settings.get(OLD_TESTBED_CHANGED);
        if let Some(why) = &self.error {
            TrialOutcome::Error(why)
        } else if let Some(why) = &self.incomplete {
            TrialOutcome::CutShort(why)
        } else if let Some(what) = self.testbed_changed.as_ref().or_else(old) {
            TrialOutcome::Disturbed(what)
        } else {
            TrialOutcome::Good
        }
    }

    /// Whether the figures can be used, though it may be in no comparison.
    pub fn is_usable(&self) -> bool {
        matches!(self.outcome(), TrialOutcome::Good | TrialOutcome::Disturbed(_))
    }

    /// Whether the testbed changed during the trial, so that its figures are in no comparison.
    pub fn is_disturbed(&self) -> bool {
        matches!(self.outcome(), TrialOutcome::Disturbed(_))
    }

    /// The evidence that does not hold: a proof or an invariant. Whoever writes a record puts
    /// that into [`error`](Self::error).
    pub fn contradiction(&self) -> Option<String> {
        let unproven = self.proof.iter().filter(|proof| !proof.ok);
        let unproven: Vec<_> =
            unproven.map(|proof| format!("{}: {}", proof.hop, proof.evidence)).collect();
        if !unproven.is_empty() {
            return Some(format!("the traffic did not take the path: {}", unproven.join("; ")));
        }
        self.inconsistency()
    }

    /// The invariants that do not hold. By hand these alone are an error. The kernel may translate
    /// an address when a socket connects, and then the proof by addresses fails on a sound path.
    pub fn inconsistency(&self) -> Option<String> {
        let broken = self.invariants.iter().filter(|invariant| !invariant.ok);
        let broken: Vec<_> =
            broken.map(|invariant| format!("{}: {}", invariant.name, invariant.detail)).collect();
        if broken.is_empty() {
            None
        } else {
            Some(format!("the figures contradict each other: {}", broken.join("; ")))
        }
    }

    /// The traits of its workload, by its job; by its own name where another version wrote the job.
    pub fn kind(&self) -> WorkloadKind {
        let carried = self.job.get("kind").and_then(|kind| WorkloadKind::deserialize(kind).ok());
        let name = self.job.get("workload").and_then(Value::as_str).unwrap_or(&self.workload);
        carried.unwrap_or_else(|| WorkloadKind::of(name))
    }

    /// Whether the load generator was the limit, or so late that a warning says so: then the
    /// figures are not the path's alone.
    pub fn is_generator_limited(&self) -> bool {
        self.limited_by == "generator"
            || self.warnings.iter().any(|w| w.kind == WarningKind::GeneratorLimited)
    }
}

fn first() -> u32 {
    1
}

/// One latency distribution, ns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Samples.
    pub count: u64,
    /// Mean, ns.
    pub mean: f64,
    /// Population standard deviation, ns.
    pub stddev: f64,
    /// Smallest, ns.
    pub min: u64,
    /// Median, ns.
    pub p50: u64,
    /// 90 % are at or below, ns.
    pub p90: u64,
    /// 99 % are at or below, ns.
    pub p99: u64,
    /// 99.9 % are at or below, ns.
    pub p999: u64,
    /// 99.99 % are at or below, ns.
    pub p9999: u64,
    /// Largest, ns.
    pub max: u64,
    /// The whole histogram: HDR V2, compressed where that is shorter, base64.
    pub hdr: String,
}

/// Figures of one interval of the window, by metric name, with `t_s` its end.
pub type Interval = BTreeMap<String, f64>;

/// CPU and memory of what took part, over the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// The generator's process: `user_s`, `system_s`, `max_rss_bytes`, ... Under a CPU quota also
    /// `throttled_ratio`, the share of the window for which that stopped it, and
    /// `throttled_times`, how often. Of several processes it is the most of one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub client: BTreeMap<String, f64>,
    /// The server's process.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub server: BTreeMap<String, f64>,
    /// The proxies on the path and those beside it, which stand idle.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyCost>,
    /// What each of several carried, of each role with more than one; at most 64 of a role, those
    /// that carried most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Member>,
    /// The machines.
    pub nodes: Vec<NodeCost>,
    /// Whether all nodes are one machine, as in a lab: each has read the same CPUs then, a moment
    /// apart.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub one_machine: bool,
    /// What others metered, with their own windows: the kubelets, cAdvisor, Prometheus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metered: Vec<MeteredCost>,
}

/// What somebody else metered of a container or a node, over a window of his own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeteredCost {
    /// What it is about: the name of a proxy, of an agent, or of a node of the scenario.
    pub who: String,
    /// `proxy`, `agent`, `program` or `node`.
    pub what: String,
    /// Who metered it: `kubelet`, `cadvisor`, `prometheus`; of a node also an `agent` at no end.
    pub source: String,
    /// Length of the window, s; it covers the trial's where the meter has readings on both sides of
    /// it.
    pub window_s: f64,
    /// From the start of the trial's window to the start of this one, s: negative where this one
    /// began before.
    pub starts_at_s: f64,
    /// Figures of it: `cpu_s`, `cores`, `memory_bytes`, `throttled_s`. Of a node without an end
    /// also `load_cores`: cores under the trial's load, by the meter whose window fits best. An
    /// onlooker's has `cpus`, too: how many that node has.
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
}

/// What a proxy, or a service that proxies ask, spent over the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProxyCost {
    /// Its name on the path: `client-sidecar`, `server-sidecar`, `server-sidecar#2`, `gateway`,
    /// `policy`, `telemetry`.
    pub name: String,
    /// The node that it is on.
    pub node: String,
    /// Whether the path names it; the others should have seen no traffic: what they spend is the
    /// cost of idling.
    pub named: bool,
    /// Figures of the window: `cpu_s`, `user_s`, `system_s`, `cores`, `rss_bytes`, `threads`. Where
    /// only a meter of the cluster saw it: `cores` and `memory_bytes`. And what the proxy itself
    /// says of the trial, warm-up included: `downstream_connections`, `requests`,
    /// `upstream_connections`, `retries`, `tls_handshakes`, `allocated_bytes`, `workers` ...
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
}

impl ProxyCost {
    /// Its memory, bytes: resident memory, where its processes can be seen. Elsewhere it is what a
    /// meter of the cluster counts.
    pub fn memory_bytes(&self) -> Option<f64> {
        ["rss_bytes", "memory_bytes"].iter().find_map(|name| self.figures.get(*name).copied())
    }
}

/// The shortest window whose CPU figures of a machine say something by themselves, s: the kernel
/// counts them in ticks of 10 ms. Processes have theirs in nanoseconds.
pub const SHORTEST_OF_MACHINE_S: f64 = 0.5;

/// What a machine spent over the window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeCost {
    /// Its name.
    pub name: String,
    /// Cores busy on average.
    pub busy_cores: f64,
    /// Cores busy in softirq on average; part of `busy_cores`.
    pub softirq_cores: f64,
    /// Cores the hypervisor gave to others; part of `busy_cores`.
    pub steal_cores: f64,
    /// Share busy of each CPU, 0 to 1.
    pub per_cpu_busy: Vec<f64>,
    /// Share in softirq of each CPU, 0 to 1.
    pub per_cpu_softirq: Vec<f64>,
    /// Share of each CPU that the hypervisor gave to others, 0 to 1; part of `per_cpu_busy`. Empty
    /// in old records.
    pub per_cpu_steal: Vec<f64>,
    /// Context switches a second.
    pub context_switches_per_s: f64,
    /// Figures of all other meters, as totals of the window or values at its end. One that is
    /// absent from a meter that is here is 0: see [`counter`](Self::counter).
    pub meters: BTreeMap<String, BTreeMap<String, f64>>,
    /// Counters of meters without a known difference: an interface that was made anew meanwhile.
    /// Each is `meter counter`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// Evidence that the traffic took the path that the cell names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The hop it is about.
    pub hop: String,
    /// What was seen there.
    pub evidence: String,
    /// Whether that is what the path says.
    pub ok: bool,
}

/// Something that must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invariant {
    /// Its name.
    pub name: String,
    /// Whether it held.
    pub ok: bool,
    /// The numbers, where it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// The place of a trial's measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// `hopbench` and its version.
    pub version: String,
    /// The commit this binary was built from.
    pub commit: String,
    /// Facts of the client's machine by name.
    pub client: BTreeMap<String, String>,
    /// Facts of the server's machine by name.
    pub server: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::record;

    #[test]
    fn the_worst_that_a_trial_came_to_is_its_outcome() {
        let mut trial = record(&[]);
        assert_eq!(
            (trial.outcome(), trial.is_usable(), trial.is_disturbed()),
            (TrialOutcome::Good, true, false)
        );
        trial.testbed_changed = Some("a pod moved".to_owned());
        assert_eq!(trial.outcome(), TrialOutcome::Disturbed("a pod moved"));
        assert!(trial.is_usable() && trial.is_disturbed());
        trial.incomplete = Some("it died".to_owned());
        assert_eq!(trial.outcome(), TrialOutcome::CutShort("it died"));
        trial.error = Some("no proof".to_owned());
        assert_eq!((trial.outcome(), trial.is_usable()), (TrialOutcome::Error("no proof"), false));
        assert!(!trial.is_disturbed());
    }

    #[test]
    fn old_records_have_changes_of_the_testbed_among_their_settings() {
        let mut old = serde_json::to_value(record(&[])).unwrap();
        assert!(old.get("testbed_changed").is_none());
        old["settings"] = serde_json::json!({"testbed_changed": "a pod moved"});
        let old: Record = serde_json::from_value(old).unwrap();
        assert_eq!(old.outcome(), TrialOutcome::Disturbed("a pod moved"));
    }

    #[test]
    fn evidence_that_does_not_hold_is_a_contradiction() {
        let mut trial = record(&[]);
        let proof =
            |ok| Proof { hop: "server".to_owned(), evidence: "it saw nothing".to_owned(), ok };
        let invariant =
            |ok| Invariant { name: "served_le_sent".to_owned(), ok, detail: "2 of 1".to_owned() };
        (trial.proof, trial.invariants) = (vec![proof(true)], vec![invariant(true)]);
        assert_eq!(trial.contradiction(), None);
        trial.invariants.push(invariant(false));
        let broken = "the figures contradict each other: served_le_sent: 2 of 1";
        assert_eq!(trial.contradiction().as_deref(), Some(broken));
        trial.proof.extend([proof(false), proof(false)]);
        let astray =
            "the traffic did not take the path: server: it saw nothing; server: it saw nothing";
        assert_eq!(trial.contradiction().as_deref(), Some(astray));
        assert_eq!(trial.inconsistency().as_deref(), Some(broken));
    }
}
