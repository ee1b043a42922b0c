//! The report of one end of a trial: counts, latencies and readings.

mod counter;
mod tcp;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Nanos, SECOND};

pub use counter::{Counter, Counts};
pub use tcp::TcpTotals;

/// The setting of an end whose agent moves at most so many bits/s over all its trials, both
/// directions together; a whole number. Absent: no limit.
pub const MAX_RATE_SETTING: &str = "max_rate_bits_per_s";

/// The setting of an end whose process may use only these CPUs, as a [`CpuSet`](crate::CpuSet);
/// read back from the kernel. Absent: it may use all of its machine's.
pub const CPUS_SETTING: &str = "cpus_allowed";

/// The setting of an end under a CPU quota: the smallest one in cores, and the control group that
/// has it, like `1.3 (cgroup /a)`. Absent: none can be seen.
pub const CPU_QUOTA_SETTING: &str = "cpu_quota";

/// The setting that says the rate of the slowest link of the path, bits/s.
pub const LINK_RATE_SETTING: &str = "link_bits_per_s";

/// The kind of latency in a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// From the intended start to the end: what a user waits. Open loop only.
    Response,
    /// From the actual send to the end.
    Service,
    /// From `connect` to an established connection; with TLS to the end of its handshake.
    Connect,
    /// The handshake of TLS on an established connection.
    Tls,
    /// From the request on a new connection to the end of its answer: the exchange less the
    /// connecting.
    Reply,
    /// From the intended start to the actual send.
    Lateness,
    /// One way: from the intended send at one end to the complete receipt at the other.
    Delay,
    /// Between the ends of two messages of one connection.
    Gap,
}

impl LatencyKind {
    /// The field in a record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Response => "response_ns",
            Self::Service => "service_ns",
            Self::Connect => "connect_ns",
            Self::Tls => "tls_ns",
            Self::Reply => "reply_ns",
            Self::Lateness => "lateness_ns",
            Self::Delay => "delay_ns",
            Self::Gap => "gap_ns",
        }
    }
}

/// What one end saw at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tick {
    /// Time since the start of the window, ns; negative during warm-up.
    pub t_ns: i64,
    /// Totals since the trial began.
    pub counts: Counts,
    /// TCP totals, read at the window's edges only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpTotals>,
    /// What the meters read, by meter, at the window's edges only.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub readings: BTreeMap<String, Reading>,
}

/// One reading of one meter: named values whose names carry their unit.
///
/// Keys that end in `_total` are running totals (to be subtracted over a window), all others are
/// values at that moment.
pub type Reading = BTreeMap<String, f64>;

/// One flow as one end knows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowReport {
    /// The flow's number in the run.
    pub flow: u32,
    /// This end's address.
    pub local: String,
    /// The other end's address as this end sees it: the path's last hop.
    pub peer: String,
}

/// Totals of each worker of an end, in the order in which they started. Empty where there are no
/// two, or where each flow has one of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerCounts {
    /// At the start of the window.
    pub start: Vec<Counts>,
    /// At its end.
    pub end: Vec<Counts>,
}

impl WorkerCounts {
    /// Takes the totals at an edge of the window: at its start, and then at its end.
    pub fn at_edge(&mut self, each: Vec<Counts>) {
        self.start = std::mem::replace(&mut self.end, each);
    }
}

/// Everything one end saw of a trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EndReport {
    /// The state at the start of the window.
    pub start: Tick,
    /// The state at the end of the window.
    pub end: Tick,
    /// Totals of each worker at the edges of the window.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub workers: WorkerCounts,
    /// Counts when the last flow was closed.
    pub drained: Counts,
    /// TCP totals when the last flow was closed.
    pub drained_tcp: Option<TcpTotals>,
    /// States inside the window, one an interval.
    pub ticks: Vec<Tick>,
    /// Histograms of the window, HDR V2 base64.
    pub latency: BTreeMap<LatencyKind, String>,
    /// Answers by status ("200") inside the window.
    pub statuses: BTreeMap<String, u64>,
    /// Failures by reason inside the window.
    pub errors: BTreeMap<String, u64>,
    /// Figures of the workload itself, names with units ("jitter_ns").
    pub extra: BTreeMap<String, f64>,
    /// What was asked of the system and what it gave, by setting ("send_buffer_bytes": "asked 1,
    /// got 2").
    pub settings: BTreeMap<String, String>,
    /// The first flows (at most 16), for the proof of path.
    pub flows: Vec<FlowReport>,
    /// The monotonic time of the window's start on this end's clock, ns.
    pub window_start_ns: Nanos,
    /// Length of the window as it was, ns.
    pub window_ns: Nanos,
    /// Whether the window was cut short, and why.
    pub incomplete: Option<String>,
    /// Whether another test ran on this agent inside the window.
    pub shared: bool,
    /// How much later than ordered the last worker began its load here, or how late the order came,
    /// ns.
    pub start_late_ns: Nanos,
    /// How much later than load was to begin the order to start came, ns.
    pub order_late_ns: Nanos,
    /// CPU time that the thread behind the meters and the control session spent in the window, ns.
    pub control_cpu_ns: Nanos,
}

impl EndReport {
    /// Time between the two readings, s; more than 0.
    pub fn seconds(&self) -> f64 {
        self.end.t_ns.saturating_sub(self.start.t_ns).max(1) as f64 / SECOND as f64
    }

    /// The part of it before the window's end, s, more than 0. Behind it most load has ended: what
    /// was spent until a late reading was spent in this time. `None`: both came behind it.
    pub fn loaded_seconds(&self) -> Option<f64> {
        let end_ns = match self.window_ns {
            0 => self.end.t_ns,
            window_ns => self.end.t_ns.min(window_ns.cast_signed()),
        };
        let loaded_ns = end_ns.saturating_sub(self.start.t_ns);
        (loaded_ns > 0).then_some(loaded_ns as f64 / SECOND as f64)
    }
}

/// Whether a failure of this reason is a call of gRPC that was answered, and refused.
pub fn is_refused_call(reason: &str) -> bool {
    reason.starts_with("grpc_")
}
