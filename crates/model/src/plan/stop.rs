//! The rule that ends the rounds of a cell, and the reasons for an end.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// When the rounds of a cell end before [`Plan::rounds`](crate::Plan::rounds), which are the most
/// then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// Half the width of the interval of the metric that is narrow enough, as a share of the
    /// median: 0.02 is `ci: 2%`.
    pub half_width_share: f64,
    /// What the interval is of. `throughput` is what the workload counts. `p50`, `p90`, `p99` and
    /// `p999` are of the job's main latency. Others are metrics of the records. What a record
    /// lacks, or the job itself fixes, another figure stands for, and the run says which.
    pub metric: String,
    /// Rounds that are made in any case, as far as the budget allows; at least 3.
    pub min_rounds: u32,
    /// Time for the rounds of a session and the searches after them, ns. A round, or a pass over
    /// the searches, that has begun is finished. Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<Nanos>,
}

/// Metrics that records can have whatever their workload: what the proxies of the path cost, and
/// what measuring did.
pub const COMMON_METRICS: [&str; 4] =
    ["proxy_cores", "proxy_cpu_us_per_request", "proxy_rss_bytes", "overhead_cores"];

/// A cell whose rounds have ended under a stop rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as the reports write it: `size=64`.
    pub point: String,
    /// The rounds that it has, by number: all up to this one.
    pub rounds: u32,
    /// Why it ended.
    pub why: StopWhy,
    /// Half the width of its interval as a share of the median; absent where there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width_share: Option<f64>,
    /// The figure that this is the interval of, as in `metrics` or `latency`: `requests_per_s`,
    /// `response_ns p99`. Empty in old files, and where no record has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub figure: String,
    /// Whether that figure stands for the metric that the rule asks for.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub instead: bool,
}

/// Why the rounds of a cell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWhy {
    /// Its interval is narrow enough.
    Narrow,
    /// The time for the run was used up; the interval is as wide as it says.
    Budget,
    /// It had all rounds that the plan allows, and the interval is as wide as it says.
    Rounds,
}
