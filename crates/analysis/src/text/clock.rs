//! The time between two moments of a run's file.

use hopbench_model::moment;

/// The time between two moments as RFC 3339 in UTC, whole s; `None` where one of them is no such
/// moment, or the second is earlier.
pub fn seconds_between(start: &str, end: &str) -> Option<u64> {
    let seconds = |text: &str| moment::parse(text).filter(|_| text.ends_with('Z'));
    seconds(end)?.checked_sub(seconds(start)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_moments_is_in_whole_seconds() {
        let from = "2026-03-01T12:00:00.123456789Z";
        assert_eq!(seconds_between(from, "2026-03-01T12:06:41.5Z"), Some(401));
        assert_eq!(seconds_between(from, "2026-03-01T12:00:00.5Z"), Some(0));
        assert_eq!(
            seconds_between("2024-02-28T23:00:00Z", "2024-03-01T01:30:00Z"),
            Some(86_400 + 2 * 3600 + 1800),
            "over a leap day"
        );
        assert_eq!(seconds_between("2025-12-31T23:59:50Z", "2026-01-01T00:00:05Z"), Some(15));
    }

    #[test]
    fn what_is_no_moment_has_no_time() {
        for wrong in [
            "",
            "now",
            "2026-13-01T12:00:00Z",
            "2026-03-01T12:00:00+01:00",
            "2026-03-01T1\u{fc}:00:00Z",
        ] {
            assert_eq!(seconds_between("2026-03-01T12:00:00Z", wrong), None, "{wrong}");
        }
        assert_eq!(
            seconds_between("2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"),
            None,
            "it would be negative"
        );
    }
}
