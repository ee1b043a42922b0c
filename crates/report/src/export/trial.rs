//! A trial as other tools see it.

use std::collections::BTreeMap;

use hopbench_model::{Path, Point, Record, RunFile};
use hopbench_stats::Histogram;

/// An HTTP trial whose figures can be used, with its cell.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The run.
    pub run: &'a RunFile,
    /// Its record.
    pub record: &'a Record,
    /// Its path.
    pub path: &'a Path,
    /// Its point.
    pub point: &'a Point,
    /// Its label: `{run_id}_qps_{qps}_c_{connections}_{size}_{telemetry}[_{extra}]_{mode}`.
    pub label: String,
}

/// What a call is counted under that ended without a status.
pub(super) const NO_STATUS: &str = "-1";

impl Trial<'_> {
    /// Calls by status; those that failed without one under `-1`. `200` is always there.
    pub(super) fn codes(&self) -> BTreeMap<String, u64> {
        let mut out = self.record.statuses.clone();
        for (reason, count) in &self.record.errors {
            let code = reason.get(..3).filter(|code| code.bytes().all(|b| b.is_ascii_digit()));
            match code {
                // An answer that is an error: it is among the answers already.
                Some(code) if self.record.statuses.contains_key(code) => {}
                code => *out.entry(code.unwrap_or(NO_STATUS).to_owned()).or_default() += count,
            }
        }
        out.entry("200".to_owned()).or_default();
        out
    }

    /// All calls, errors included.
    pub(super) fn calls(&self) -> u64 {
        self.codes().values().sum()
    }

    /// Calls that did not end with status 200.
    pub(super) fn failed(&self) -> u64 {
        let codes = self.codes();
        codes.iter().filter(|(code, _)| *code != "200").map(|(_, count)| count).sum()
    }

    /// All calls a second, errors included.
    pub(super) fn calls_per_s(&self) -> f64 {
        self.calls() as f64 / self.record.window_s
    }

    /// The service time, ns: from when a request was really sent, as the other tools measure. `None` where the record has
    /// none.
    pub(super) fn histogram(&self) -> Option<Histogram> {
        let text = &self.record.latency.get("service_ns")?.hdr;
        Histogram::from_base64(text).ok().filter(|histogram| !histogram.is_empty())
    }

    /// A figure of the proxies of this name, added up; `None` where there is none. `server-sidecar` is also `server-sidecar#2`.
    pub(super) fn proxies(&self, name: &str, figure: &str) -> Option<f64> {
        let of_it = |other: &str| other == name || other.strip_prefix(name).is_some_and(|rest| rest.starts_with('#'));
        let proxies = self.record.cost.proxies.iter().filter(|proxy| of_it(&proxy.name));
        proxies.map(|proxy| proxy.figures.get(figure).copied()).reduce(|sum, next| Some(sum? + next?)).flatten()
    }
}
