//! The curves of proxies: what they spend as the load on them grows.

use std::collections::BTreeMap;

use hopbench_model::point_label;
use serde::Serialize;
use serde_json::Value;

use super::spread::{self, Spread};

/// The smallest load must be at most this share of the largest: from further away, a line says
/// nothing of what is spent at rest.
const NEAR_REST: f64 = 0.25;

/// The cost of the proxies of one kind on a path, over the points of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct CurveSummary {
    /// The workload's name.
    pub workload: String,
    /// The path's name.
    pub path: String,
    /// The proxies' kind: their name on the path, without a number.
    pub proxy: String,
    /// How many of them there are; what they spend is added up.
    pub proxies: u32,
    /// The parameters that all points share, if several vary.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Value>,
    /// The resource that they spend.
    pub resource: Resource,
    /// The x axis: `requests_per_s`, `connections` ...; of the whole path.
    pub over: String,
    /// The points, by their load.
    pub points: Vec<CurvePoint>,
    /// The line through them; absent where there is none, and with fewer than three different
    /// loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<LineSummary>,
    /// Median cost of the same proxies in trials of paths that do not name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_idle: Option<f64>,
    /// In words.
    pub text: String,
}

/// A resource that a proxy spends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Cores kept busy.
    Cores,
    /// Resident memory, bytes: the largest so far, as a proxy lives through all trials.
    RssBytes,
    /// Memory that it says it has allocated, bytes.
    AllocatedBytes,
}

/// A point of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct CurvePoint {
    /// The point of the workload.
    pub point: BTreeMap<String, Value>,
    /// The load that was measured, median over the rounds.
    pub x: f64,
    /// The rate at which the path is saturated here, a second: it is the load, and less than was
    /// asked for. Absent where the rate was kept, and where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_per_s: Option<f64>,
    /// The cost over the rounds; in JSON its median is `y`.
    #[serde(flatten, serialize_with = "spread::as_y")]
    pub spread: Spread,
}

/// The line through a curve's points: medians of the lines of the rounds, with the intervals of
/// medians.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LineSummary {
    /// The cost at load 0. It is the cost at rest only if it is above 0 and the smallest load is
    /// near.
    pub intercept: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept_low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intercept_high: Option<f64>,
    /// The cost of each further unit of load.
    pub slope: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope_high: Option<f64>,
    /// Rounds that have a line.
    pub rounds: usize,
    /// The smallest load.
    pub from: f64,
    /// The largest load.
    pub to: f64,
    /// By how much the line misses the point that it misses most, as a share of that.
    pub off_ratio: f64,
}

impl Resource {
    /// The figure's name, with its unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cores => "proxy_cores",
            Self::RssBytes => "rss_bytes",
            Self::AllocatedBytes => "allocated_bytes",
        }
    }
}

impl CurveSummary {
    /// Its name among those of the workload: `both server-sidecar at size=1024`.
    pub fn name(&self) -> String {
        format!("{} {}{}", self.path, self.proxy, self.place())
    }

    /// ` at size=1024`; empty where only the load varies.
    pub(crate) fn place(&self) -> String {
        if self.at.is_empty() { String::new() } else { format!(" at {}", point_label(&self.at)) }
    }
}

impl CurvePoint {
    /// The point as reports write it.
    pub fn label(&self) -> String {
        point_label(&self.point)
    }
}

impl LineSummary {
    /// Whether it was measured near enough to load 0 to say something of it.
    pub fn is_near_rest(&self) -> bool {
        self.from <= NEAR_REST * self.to
    }
}
