//! Failed exchanges: whether so many failed that a trial is no measurement.

use hopbench_model::{Record, number};

/// Exchanges of which more failed than this share say nothing of the path.
const MOST_FAILED: f64 = 0.5;

/// Why a trial whose exchanges failed is no measurement; `None`: enough of them succeeded. That
/// datagrams and echoes are lost is what their workloads measure, unless nothing came at all.
pub fn failed_exchanges(record: &Record) -> Option<String> {
    let share = |name: &str| record.metrics.get(name).copied().unwrap_or(0.0);
    let failed = share("error_ratio");
    let what = if failed >= 1.0 || share("lost_ratio") >= 1.0 {
        "not one exchange succeeded".to_owned()
    } else if failed > MOST_FAILED {
        format!("{} of the exchanges failed", number::percent(failed))
    } else {
        return None;
    };
    let reasons: Vec<_> = record.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    Some(format!("{what}: {}", reasons.join(", ")))
}

#[cfg(test)]
mod tests {
    use hopbench_model::fixture;

    use super::*;

    #[test]
    fn more_than_half_of_the_exchanges_are_too_many() {
        let why = |name: &str, share: f64| {
            let mut record = fixture::record(&[(name, share)]);
            record.errors.insert("timeout".to_owned(), 7);
            failed_exchanges(&record)
        };
        assert_eq!(why("error_ratio", 0.5), None);
        assert_eq!(
            why("error_ratio", 0.514).as_deref(),
            Some("51.4 % of the exchanges failed: 7 timeout")
        );
        assert_eq!(
            why("error_ratio", 1.0).as_deref(),
            Some("not one exchange succeeded: 7 timeout")
        );
        assert_eq!(why("lost_ratio", 0.99), None, "losses are what is measured");
        assert_eq!(
            why("lost_ratio", 1.0).as_deref(),
            Some("not one exchange succeeded: 7 timeout")
        );
    }
}
