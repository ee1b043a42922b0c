//! The round trip as the limit of a closed loop, and the connections as that of an open one, by
//! Little's law.

use hopbench_model::number;
use hopbench_model::{Job, Record};

use super::evidence::{Limit, limit};

/// What the connections may have rested between their exchanges, or the figures be rounded, as a
/// share of the window. An exchange counts from its send, and the one after it is sent a little
/// later than its answer comes.
const RESTED: f64 = 0.05;
/// With a larger tolerance than this the law says nothing.
const VAGUE: f64 = 0.25;

/// An open loop in which more of the arrivals than this waited for a connection.
const MOSTLY: f64 = 0.5;

/// What Little's law says of connections with one exchange at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    /// Exchanges that can be under way at a time: one a connection.
    pub(super) connections: f64,
    /// Time that an exchange took on average, s.
    pub(super) mean_s: f64,
    /// Exchanges that ended in the window, a second.
    pub(super) per_s: f64,
    /// The share of the window by which the product of rate and time may differ from the number of
    /// connections. Of each connection one exchange began before the window and one ended after it:
    /// the time of the first is not counted at all, that of the other whole. So the sum of all
    /// times is off by no more than the longest exchange for each connection.
    pub(super) tolerance: f64,
}

impl Law {
    /// `None`: no exchange was measured.
    fn of(job: &Job, record: &Record) -> Option<Self> {
        let service = record.latency.get("service_ns").filter(|service| service.count > 0)?;
        // In an open loop the requests can be the due ones, within 1 %.
        let metric = |name: &str| record.metrics.get(name).copied();
        Some(Self {
            connections: f64::from(job.connections),
            mean_s: service.mean / 1e9,
            per_s: metric("completed_per_s").or_else(|| metric("requests_per_s"))?,
            tolerance: RESTED + service.max as f64 / 1e9 / record.window_s,
        })
    }

    /// The rate at which every connection always waits for an answer, a second.
    fn expected_per_s(&self) -> f64 {
        self.connections / self.mean_s
    }

    /// Whether the connections waited for answers all the time.
    pub(super) fn holds(&self) -> bool {
        self.tolerance <= VAGUE && self.is_within(self.tolerance)
    }

    /// The same, where long exchanges excuse nothing: a stable load of arrivals by chance can keep
    /// its connections busy for four fifths of the time.
    pub(super) fn holds_closely(&self) -> bool {
        self.holds() && self.is_within(RESTED)
    }

    fn is_within(&self, tolerance: f64) -> bool {
        let share = self.per_s / self.expected_per_s();
        share.is_finite() && (share - 1.0).abs() <= tolerance
    }
}

/// The share of the arrivals of an open loop that found every connection busy.
pub(super) fn waited(record: &Record) -> Option<f64> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let due = metric("intended_per_s")? * record.window_s;
    Some(metric("queued")? / due).filter(|share| share.is_finite())
}

/// The law and the share of arrivals that waited, of an open loop whose connections were busy all
/// the time.
pub(super) fn all_busy(job: &Job, record: &Record) -> Option<(Law, f64)> {
    let waited = waited(record).filter(|share| *share > MOSTLY && job.kind().is_of_exchanges())?;
    Some((Law::of(job, record).filter(Law::holds)?, waited))
}

/// The limit of connections that waited for answers all the time: the round trip of a closed loop,
/// the connections of an open one, whose arrivals waited for them. `else_free` says what else was
/// looked at and was not full.
pub(super) fn of(job: &Job, record: &Record, else_free: &str) -> Option<Limit> {
    let (name, law, waited) = if job.is_closed_loop() {
        ("round_trip", Law::of(job, record).filter(Law::holds)?, String::new())
    } else {
        let (law, share) = all_busy(job, record)?;
        let text =
            format!("{} of the arrivals found every connection busy; ", number::share(share));
        ("connections", law, text)
    };
    let mean = number::brief_time_ns((law.mean_s * 1e9) as u64);
    let connections = number::counted(u64::from(job.connections), "connection", "connections");
    Some(limit(
        name,
        format!(
            "{connections} / {mean} a round trip = {} a second, {} were done (Little's law, within \
             {}); {waited}{else_free}",
            number::brief_per_s(law.expected_per_s()),
            number::brief_per_s(law.per_s),
            number::share(law.tolerance),
        ),
    ))
}

#[cfg(test)]
mod tests;
