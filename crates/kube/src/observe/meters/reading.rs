//! Readings of meters, in their units and in those of a record.

use std::time::Duration;

use hopbench_testbed::Metered;

use super::target::MeterTarget;

/// Readings of all meters.
#[derive(Debug, Default)]
pub struct Readings {
    /// The readings; some targets may have none.
    pub metered: Vec<Metered>,
    /// Meters that gave nothing, with the reason: a sentence each.
    pub notes: Vec<String>,
}

/// A reading, in the units of the meters; what is out of range is no reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// When, ms since 1970 UTC.
    pub(super) at_ms: i64,
    pub(super) cpu_s: f64,
    pub(super) memory_bytes: Option<f64>,
    pub(super) throttled_s: Option<f64>,
}

impl Reading {
    /// The same as a record has it; absent: out of range.
    pub(super) fn of(self, target: &MeterTarget, source: &'static str) -> Option<Metered> {
        Some(Metered {
            who: target.who.clone(),
            what: target.what,
            source,
            at: Duration::from_millis(u64::try_from(self.at_ms).ok()?),
            cpu_ns: whole(self.cpu_s * 1e9)?,
            memory_bytes: self.memory_bytes.and_then(whole),
            throttled_ns: self.throttled_s.and_then(|s| whole(s * 1e9)),
        })
    }
}

/// A count that a meter gave as a floating-point number.
fn whole(value: f64) -> Option<u64> {
    const LARGEST: f64 = (1_u64 << 63) as f64;
    (0.0..LARGEST).contains(&value).then(|| value.round() as u64)
}
