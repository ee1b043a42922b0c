//! The traffic that the clients report, as a proxy must have counted it.

use std::fmt;

use hopbench_model::{Counter, EndReport, Job, is_refused_call};

use crate::seen::Seen;

/// The reason of failures that were of too many reasons to tell them apart.
const OTHER_REASONS: &str = "other";

/// A count that is known to lie between two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The least that it can be.
    pub least: u64,
    /// The most that it can be.
    pub most: u64,
}

impl Range {
    /// A count that is known.
    pub fn exactly(count: u64) -> Self {
        Self { least: count, most: count }
    }

    /// Whether it may be this count.
    pub fn holds(self, count: u64) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

impl std::iter::Sum for Range {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            least: sum.least + one.least,
            most: sum.most + one.most,
        })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{} to {}", self.least, self.most)
        }
    }
}

/// The traffic of a client, from the trial's start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sent {
    /// Connections as the proxy that takes them counts them.
    pub connections: Range,
    /// Those of them that carried something.
    pub used: Range,
    /// Requests; none but over HTTP without TLS.
    pub requests: Range,
    /// Those of the least that a proxy answered itself with an error: they may have gone no
    /// further.
    pub answered_by_proxies: u64,
}

impl Sent {
    /// The traffic that one end reports.
    pub fn by(job: &Job, end: &EndReport, stood: bool) -> Self {
        let kind = job.kind();
        if !kind.is_http() && !kind.connects_for_each() {
            // Opened before the load, and kept; perhaps by an earlier visit.
            let opened = if stood { 0 } else { u64::from(job.connections) };
            let connections = Range::exactly(opened);
            return Self { connections, used: connections, ..Self::default() };
        }
        let of = |counter| end.drained.of(counter);
        let failed = of(Counter::Errors);
        let (sent, completed) = (of(Counter::Sent), of(Counter::Completed));
        // Before all others one finds out whether there is a server; it carries nothing.
        let ahead = end.settings.get("preflight_connections").and_then(|n| n.parse::<u64>().ok());
        let opened = of(Counter::Connects) + ahead.filter(|_| !stood).unwrap_or(0);
        // An exchange that failed may or may not have got as far as a connection. An answer with an
        // error was an answer, on a connection that stood.
        let is_error = |status: &str| status.parse::<u16>().is_ok_and(|status| status >= 400);
        let statuses = end.statuses.iter().filter(|(status, _)| is_error(status));
        // A call that was refused was answered, too, with a status of 200.
        let calls = end.errors.iter().filter(|(reason, _)| is_refused_call(reason));
        let refused: u64 = statuses.chain(calls).map(|(_, count)| *count).sum();
        let connections = Range { least: opened, most: opened + failed.saturating_sub(refused) };
        if kind.connects_for_each() {
            let used = Range { least: completed, ..connections };
            return Self { connections, used, ..Self::default() };
        }
        // A request whose connection was closed while it rested is sent once more; the first try
        // may have been seen or not.
        let again = end.extra.get("reconnects_drained").map_or(0, |count| *count as u64);
        let requests = if job.shows_requests() {
            Range { least: (completed + refused).min(sent), most: sent + again }
        } else {
            Range::default()
        };
        let by_proxies =
            end.errors.iter().filter(|(reason, _)| is_of_proxy(reason)).map(|(_, count)| count);
        let answered_by_proxies = by_proxies.sum();
        // Over TLS each carries a handshake. Of others, those that stand may carry nothing.
        let used =
            if job.shows_requests() { Range { least: 0, ..connections } } else { connections };
        Self { connections, used, requests, answered_by_proxies }
    }

    /// The traffic of all ends together.
    pub fn all(seen: &Seen<'_>) -> Self {
        let sent = || seen.clients.iter().map(|(_, end)| Self::by(seen.job, end, seen.stood));
        Self {
            connections: sent().map(|sent| sent.connections).sum(),
            used: sent().map(|sent| sent.used).sum(),
            requests: sent().map(|sent| sent.requests).sum(),
            answered_by_proxies: sent().map(|sent| sent.answered_by_proxies).sum(),
        }
    }
}

/// Whether an error may be a proxy's own answer: a status and Envoy's word for it, `503 UF` or
/// `grpc_unavailable UF`, or what was too much to tell.
fn is_of_proxy(reason: &str) -> bool {
    let is_status = |word: &str| word.parse::<u16>().is_ok() || is_refused_call(word);
    reason == OTHER_REASONS || reason.split_once(' ').is_some_and(|(status, _)| is_status(status))
}
