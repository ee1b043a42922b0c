//! The round trip as the limit of a closed loop, by Little's law.

use hopbench_model::number;
use hopbench_model::{Job, Record};

use super::evidence::{Limit, limit};

/// What the connections may have rested between their exchanges, or the figures be rounded, as a
/// share of the window. An exchange counts from its send, and the one after it is sent a little
/// later than its answer comes.
const RESTED: f64 = 0.05;
/// With a larger tolerance than this the law says nothing.
const VAGUE: f64 = 0.25;

/// What Little's law says of a closed loop.
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
    /// the time of the first is counted whole, that of the other not at all. So the sum of all
    /// times is off by no more than the longest exchange for each connection.
    pub(super) tolerance: f64,
}

impl Law {
    /// `None`: no exchange was measured.
    fn of(job: &Job, record: &Record) -> Option<Self> {
        let service = record.latency.get("service_ns").filter(|service| service.count > 0)?;
        Some(Self {
            connections: f64::from(job.connections),
            mean_s: service.mean / 1e9,
            per_s: record.metrics.get("requests_per_s").copied()?,
            tolerance: RESTED + service.max as f64 / 1e9 / record.window_s,
        })
    }

    /// The rate at which every connection always waits for an answer, a second.
    fn expected_per_s(&self) -> f64 {
        self.connections / self.mean_s
    }

    /// Whether the connections waited for answers all the time.
    pub(super) fn holds(&self) -> bool {
        let share = self.per_s / self.expected_per_s();
        share.is_finite() && self.tolerance <= VAGUE && (share - 1.0).abs() <= self.tolerance
    }
}

/// The round trip, where every connection waited for answers all the time; `else_free` says what
/// else was looked at and was not full.
pub(super) fn of(job: &Job, record: &Record, else_free: &str) -> Option<Limit> {
    let law = Law::of(job, record).filter(|law| job.is_closed_loop() && law.holds())?;
    let mean = number::brief_time_ns((law.mean_s * 1e9) as u64);
    let connections = number::counted(u64::from(job.connections), "connection", "connections");
    Some(limit(
        "round_trip",
        format!(
            "{connections} / {mean} a round trip = {} a second, {} were done (Little's law, within {}); {else_free}",
            number::brief_per_s(law.expected_per_s()),
            number::brief_per_s(law.per_s),
            number::share(law.tolerance),
        ),
    ))
}

#[cfg(test)]
mod tests;
