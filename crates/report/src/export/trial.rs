//! A trial as other tools see it.

use std::collections::BTreeMap;

use hopbench_model::{
    Path, Point, ProxyCost, Record, RunFile, SCHEDULE_KEPT, is_refused_call, proxy_role,
};
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

/// Calls a second that all clients of the path together are asked for; `None` for a closed loop.
pub(super) fn asked_per_s(path: &Path, point: &Point) -> Option<f64> {
    point.job.schedule.per_s().map(|rate| rate * f64::from(path.clients))
}

/// Connections of all clients of the path together: each client makes the whole load of a workload.
pub(super) fn connections(path: &Path, point: &Point) -> u32 {
    point.job.connections.saturating_mul(path.clients)
}

impl Trial<'_> {
    /// Calls by status; those that failed without one under `-1`. `200` is always there.
    pub(super) fn codes(&self) -> BTreeMap<String, u64> {
        let mut out = self.record.statuses.clone();
        // The answer to a call that was refused has the status of one that was not.
        let refused = self.record.errors.iter().filter(|(reason, _)| is_refused_call(reason));
        let refused: u64 = refused.map(|(_, count)| count).sum();
        if let Some(ok) = out.get_mut("200") {
            *ok = ok.saturating_sub(refused);
        }
        // An answer that is an error is among the failures, too, whatever its reason is called:
        // what is left had no status.
        let failures: u64 = self.record.errors.values().sum();
        let is_error = |status: &str| status.parse::<u32>().is_ok_and(|status| status >= 400);
        let answered: u64 =
            out.iter().filter(|(status, _)| is_error(status)).map(|(_, count)| count).sum();
        if failures > answered {
            out.insert(NO_STATUS.to_owned(), failures - answered);
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

    /// Connections of all clients together.
    pub(super) fn connections(&self) -> u32 {
        connections(self.path, self.point)
    }

    /// Calls a second that all clients together were asked for; `None` for a closed loop.
    pub(super) fn asked_per_s(&self) -> Option<f64> {
        asked_per_s(self.path, self.point)
    }

    /// All calls a second, errors included. Where the schedule was kept, they are those that were
    /// due in the window: the kit's plotter looks for the rate that was asked for. Else they are
    /// those that came to their end in it.
    pub(super) fn calls_per_s(&self) -> f64 {
        let metric = |name: &str| self.record.metrics.get(name).copied();
        let due = self.calls() as f64 / self.record.window_s;
        let failed = metric("error_ratio").unwrap_or(0.0);
        let done = metric("requests_per_s")
            .filter(|_| failed < 1.0)
            .map(|answered| answered / (1.0 - failed));
        match (self.asked_per_s(), done) {
            (Some(asked), Some(done)) if done < SCHEDULE_KEPT * asked => done,
            _ => due,
        }
    }

    /// The service time, ns: from when a request was really sent, as the other tools measure.
    /// `None` where the record has none.
    pub(super) fn histogram(&self) -> Option<Histogram> {
        let text = &self.record.latency.get("service_ns")?.hdr;
        Histogram::from_base64(text).ok().filter(|histogram| !histogram.is_empty())
    }

    /// A figure of the proxies of this role, added up; `None` where there is none.
    pub(super) fn proxies(&self, role: &str, figure: fn(&ProxyCost) -> Option<f64>) -> Option<f64> {
        let proxies =
            self.record.cost.proxies.iter().filter(|proxy| proxy_role(&proxy.name) == role);
        proxies.map(figure).reduce(|sum, next| Some(sum? + next?)).flatten()
    }
}
