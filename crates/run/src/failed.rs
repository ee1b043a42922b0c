//! Whether so many exchanges failed that a trial is no measurement.

use hopbench_model::Record;
use hopbench_model::units::Span;
use serde_json::Value;

/// Exchanges of which more failed than this share say nothing of the path.
const MOST_FAILED: f64 = 0.5;

/// Why a trial whose exchanges failed is no measurement; `None`: enough of them succeeded. That datagrams and echoes are
/// lost is what their workloads measure, unless nothing came at all.
pub fn failed_exchanges(record: &Record) -> Option<String> {
    let share = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
    let failed = share("error_ratio");
    let what = if failed >= 1.0 || share("lost_ratio") >= 1.0 {
        "not one exchange succeeded".to_owned()
    } else if failed > MOST_FAILED {
        format!("{:.1} % of the exchanges failed", failed * 100.0)
    } else {
        return none_ended(record);
    };
    let reasons: Vec<_> = record.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    Some(format!("{what}: {}", reasons.join(", ")))
}

/// Why a trial says nothing in which every exchange was still under way at the window's end: a
/// closed loop counts those neither as successes nor as failures.
fn none_ended(record: &Record) -> Option<String> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let none = metric("requests") == Some(0.0) && metric("errors") == Some(0.0);
    // In an open loop there may have been nothing to send.
    if !none || metric("intended_per_s").is_some() || record.incomplete.is_some() {
        return None;
    }
    let timeout = record.job.pointer("/timing/timeout_ns").and_then(Value::as_u64).map(Span);
    let timeout = timeout.map_or_else(|| "long".to_owned(), |timeout| timeout.to_string());
    Some(format!(
        "no exchange ended within the window, and none was given up: the timeout is {timeout}; measure for longer, or \
         set a shorter timeout"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn more_than_half_of_the_exchanges_are_too_many() {
        let why = |name: &str, share: f64| {
            let mut record = sample::record(&[(name, share)]);
            record.errors.insert("timeout".to_owned(), 7);
            failed_exchanges(&record)
        };
        assert_eq!(why("error_ratio", 0.5), None);
        assert_eq!(why("error_ratio", 0.514).as_deref(), Some("51.4 % of the exchanges failed: 7 timeout"));
        assert_eq!(why("error_ratio", 1.0).as_deref(), Some("not one exchange succeeded: 7 timeout"));
        assert_eq!(why("lost_ratio", 0.99), None, "losses are what is measured");
        assert_eq!(why("lost_ratio", 1.0).as_deref(), Some("not one exchange succeeded: 7 timeout"));
    }

    #[test]
    fn a_window_without_an_exchange_is_no_measurement() {
        let nothing = [("requests", 0.0), ("errors", 0.0)];
        let mut record = sample::record(&nothing);
        record.job = serde_json::json!({"timing": {"timeout_ns": 5_000_000_000_u64}});
        let why = failed_exchanges(&record).unwrap();
        assert!(why.contains("no exchange ended within the window") && why.contains("timeout is 5s"), "{why}");
        let open = sample::record(&[nothing[0], nothing[1], ("intended_per_s", 0.0)]);
        assert_eq!(failed_exchanges(&open), None, "nothing was due");
        assert_eq!(failed_exchanges(&sample::record(&[("requests", 1.0), ("errors", 0.0)])), None);
        assert_eq!(failed_exchanges(&sample::record(&[("bits_per_s", 0.0)])), None, "no exchanges at all");
        record.incomplete = Some("interrupted".to_owned());
        assert_eq!(failed_exchanges(&record), None, "that is said already");
    }
}
