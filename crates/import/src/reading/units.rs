//! Numbers with units, as tools print them.

/// Times, ns.
pub(crate) const TIMES: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("usec", 1e3),
    ("ms", 1e6),
    ("msec", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("secs", 1e9),
];

/// A number of 0 or more, and nothing else.
pub(crate) fn number(text: &str) -> Option<f64> {
    split(text).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}

/// A whole number of 0 or more, and nothing else.
pub(crate) fn count(text: &str) -> Option<u64> {
    number(text).filter(|number| number.fract() == 0.0).map(|number| number as u64)
}

/// A number of 0 or more at the start of a text, and what follows. Commas in it say nothing.
pub(crate) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let end = text.find(|c: char| !is_digit(c)).unwrap_or(text.len());
    let number: f64 = text[..end].replace(',', "").parse().ok()?;
    number.is_finite().then(|| (number, text[end..].trim_start()))
}

/// A number with one of these units, in the unit of the table.
pub(crate) fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, unit) = split(text)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some(number * factor).filter(|value| value.is_finite())
}

/// The number behind the first `marker` in a text.
pub(crate) fn behind(text: &str, marker: &str) -> Option<f64> {
    Some(split(text.split_once(marker)?.1)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_unit() {
        assert_eq!(scaled(" 1.50ms ", TIMES), Some(1.5e6));
        assert_eq!(scaled("29.351 us", TIMES), Some(29_351.0));
        assert_eq!(scaled("1,234 ns", TIMES), Some(1234.0));
        assert_eq!(behind("RunTime=0.550 sec; Sent=7", "RunTime="), Some(0.55));
        assert_eq!((count("12"), count("1.5"), count("12 x")), (Some(12), None, None));
    }

    #[test]
    fn what_is_no_number_is_none() {
        let long = "9".repeat(400);
        for text in ["", "ms", "-1ms", "+1ms", "inf", "nan", "1.2.3", ",", &long] {
            assert_eq!(split(text), None, "{text}");
        }
        assert_eq!(scaled("1.5m", TIMES), None, "only wrk has minutes");
    }
}
