//! The time between two moments of a run's file, in words.

use crate::number::long_time;

/// Days before each month of a year without a leap day.
const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// The time between two moments as RFC 3339 in UTC: `2 min 31 s`; `None` where one of them is no
/// such moment.
pub(super) fn between(start: &str, end: &str) -> Option<String> {
    Some(long_time(moment(end)?.checked_sub(moment(start)?)?))
}

/// Whole seconds since the year 0.
fn moment(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let before = BEFORE.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    if !text.ends_with('Z') {
        return None;
    }
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let past = year.saturating_sub(1);
    let leap_days = past / 4 - past / 100 + past / 400 + u64::from(is_leap && month > 2);
    let days = 365 * year + leap_days + before + day;
    Some(days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_two_moments_has_two_units() {
        let from = "2026-03-01T12:00:00.123456789Z";
        assert_eq!(between(from, "2026-03-01T12:06:41.5Z").as_deref(), Some("6 min 41 s"));
        assert_eq!(between(from, "2026-03-01T12:00:00.5Z").as_deref(), Some("0 s"));
        assert_eq!(between(from, "2026-03-01T13:00:00Z").as_deref(), Some("1 h"));
        assert_eq!(
            between("2024-02-28T23:00:00Z", "2024-03-01T01:30:00Z").as_deref(),
            Some("1 d 2 h")
        );
        assert_eq!(
            between("2025-12-31T23:59:50Z", "2026-01-01T00:00:05Z").as_deref(),
            Some("15 s")
        );
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
            assert_eq!(between("2026-03-01T12:00:00Z", wrong), None, "{wrong}");
        }
        assert_eq!(
            between("2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z"),
            None,
            "it would be negative"
        );
    }
}
