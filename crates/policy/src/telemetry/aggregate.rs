//! The sums that a telemetry backend keeps of reports: a histogram for each of so many series.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::telemetry::latencies::Latencies;

/// The most series that are told apart; the rest are one.
pub(crate) const MOST_SERIES: usize = 1_000;
/// The most bytes of a path that are kept.
const MOST_PATH_BYTES: usize = 128;
/// How many series are shown.
const SHOWN: usize = 20;

/// What a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportKind {
    /// A request.
    Http,
    /// A connection.
    Tcp,
}

/// What tells a series from others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Label {
    pub(crate) kind: ReportKind,
    /// The HTTP status; 0 where there was none.
    pub(crate) code: u32,
    /// Who the client was.
    pub(crate) peer: Option<IpAddr>,
    /// The path without its query; empty for connections.
    pub(crate) path: String,
}

/// One report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LoggedExchange {
    pub(crate) received_bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) duration_ns: u64,
}

/// Everything that was reported.
#[derive(Debug, Default)]
pub(crate) struct Aggregate {
    series: HashMap<Label, Series>,
    /// Those beyond the most.
    rest: Series,
    http: u64,
    tcp: u64,
}

#[derive(Debug, Clone, Default)]
struct Series {
    reports: u64,
    received_bytes: u64,
    sent_bytes: u64,
    latencies: Latencies,
}

impl Label {
    /// Of a request; the path may have a query and be of any length.
    pub(crate) fn http(code: u32, peer: Option<IpAddr>, mut path: String) -> Self {
        let end = path.find(['?', '#']).unwrap_or(path.len());
        path.truncate(path.floor_char_boundary(end.min(MOST_PATH_BYTES)));
        Self { kind: ReportKind::Http, code, peer, path }
    }

    /// Of a connection.
    pub(crate) fn tcp(peer: Option<IpAddr>) -> Self {
        Self { kind: ReportKind::Tcp, code: 0, peer, path: String::new() }
    }
}

impl Series {
    fn add(&mut self, report: LoggedExchange) {
        self.reports += 1;
        // What a peer says it counted is any number.
        self.received_bytes = self.received_bytes.saturating_add(report.received_bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(report.sent_bytes);
        self.latencies.record(report.duration_ns);
    }
}

impl Aggregate {
    /// Adds a report to its series.
    pub(crate) fn add(&mut self, label: Label, report: LoggedExchange) {
        match label.kind {
            ReportKind::Http => self.http += 1,
            ReportKind::Tcp => self.tcp += 1,
        }
        let is_full = self.series.len() >= MOST_SERIES;
        match self.series.get_mut(&label) {
            Some(series) => series.add(report),
            None if is_full => self.rest.add(report),
            None => self.series.entry(label).or_default().add(report),
        }
    }

    /// Its totals, and its busiest series.
    pub(crate) fn totals(&self) -> Map<String, Value> {
        let all = || self.series.values().chain([&self.rest]);
        let sum = |of: fn(&Series) -> u64| all().map(of).fold(0, u64::saturating_add);
        let mut busiest: Vec<_> = self.series.iter().collect();
        busiest.sort_by_key(|(label, series)| {
            (Reverse(series.reports), label.code, label.peer, label.path.clone())
        });
        let busiest: Vec<_> =
            busiest.into_iter().take(SHOWN).map(|(label, series)| shown(label, series)).collect();
        let totals = [
            ("reports", json!(self.http + self.tcp)),
            ("http_reports", json!(self.http)),
            ("tcp_reports", json!(self.tcp)),
            ("received_bytes", json!(sum(|series| series.received_bytes))),
            ("sent_bytes", json!(sum(|series| series.sent_bytes))),
            // No number: what is one, whoever asks takes for a counter.
            ("series", json!({"told_apart": self.series.len(), "busiest": busiest})),
        ];
        totals.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn shown(label: &Label, series: &Series) -> Value {
    json!({
        "label": label,
        "reports": series.reports,
        "received_bytes": series.received_bytes,
        "sent_bytes": series.sent_bytes,
        "p50_below_ns": series.latencies.below_ns(0.5),
        "p99_below_ns": series.latencies.below_ns(0.99),
    })
}

#[cfg(test)]
mod tests;
