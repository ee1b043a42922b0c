//! Moments: RFC 3339 and seconds since 1970.

/// Seconds of a day.
const DAY: u64 = 86_400;
/// The year in which the count of seconds begins, and the last that is written in four digits.
const YEARS: (u64, u64) = (1970, 9999);

/// Seconds since 1970 as RFC 3339 in UTC; `None` beyond the year 9999.
pub fn utc(seconds: u64) -> Option<String> {
    let (mut days, second) = (seconds / DAY, seconds % DAY);
    let mut year = YEARS.0;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
        if year > YEARS.1 {
            return None;
        }
    }
    let mut month = 1;
    while days >= days_of_month(year, month) {
        days -= days_of_month(year, month);
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1))
}

/// RFC 3339 as whole seconds since 1970; `None` for what is no such moment.
pub fn parse(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_date = (YEARS.0..=YEARS.1).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days: u64 = (YEARS.0..year).map(days_of_year).sum::<u64>()
        + (1..month).map(|month| days_of_month(year, month)).sum::<u64>()
        + (day - 1);
    let local = days * DAY + hour * 3600 + minute * 60 + second;
    let zone = text.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    if zone == "Z" {
        return Some(local);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let ahead = hours.parse::<u8>().ok()?;
    let ahead = u64::from(ahead) * 3600 + u64::from(minutes.parse::<u8>().ok()?) * 60;
    match zone.get(..1)? {
        "+" => local.checked_sub(ahead),
        "-" => local.checked_add(ahead),
        _ => None,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of_year(year: u64) -> u64 {
    365 + u64::from(is_leap(year))
}

/// `month`: from 1 to 12.
fn days_of_month(year: u64, month: u64) -> u64 {
    match month {
        2 => 28 + u64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_is_written() {
        for text in ["1970-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "2026-11-21T02:59:42Z"] {
            assert_eq!(parse(text).and_then(utc).as_deref(), Some(text));
        }
        assert_eq!(utc(1_795_229_982).as_deref(), Some("2026-11-21T02:59:42Z"));
        let local = parse("2026-11-21T03:59:42.536889624+01:00");
        assert_eq!(local, Some(1_795_229_982));
        assert_eq!(parse("2026-11-20T21:29:42-05:30"), Some(1_795_229_982));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in ["", "now", "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-11-21T02:59"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!((utc(u64::MAX), parse("1970-01-01T00:00:00+01:00")), (None, None));
    }
}
