//! Sizes, bit rates and durations as people write them.
//!
//! Suffixes mean what they say: `1kB` is 1000 bytes, `1KiB` is 1024 bytes, `1Gbit` is 10⁹ bits a
//! second.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Nanos, SECOND};

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not {expected}")]
pub struct UnitError {
    /// The text that was given.
    pub found: String,
    /// What would have been accepted, with an example.
    pub expected: &'static str,
}

/// Splits `12.5MiB` into the number and the suffix, multiplies, and refuses what is not a finite,
/// non-negative whole result.
fn scaled(text: &str, table: &[(&str, f64)], expected: &'static str) -> Result<u64, UnitError> {
    let fail = || UnitError { found: text.to_owned(), expected };
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(trimmed.len());
    let (number, suffix) = trimmed.split_at(split);
    let number: f64 = number.replace('_', "").parse().map_err(|_| fail())?;
    let suffix = suffix.trim();
    let (_, factor) = table.iter().find(|(name, _)| *name == suffix).ok_or_else(fail)?;
    let value = number * factor;
    // 2^53: beyond it an f64 no longer holds every whole number.
    if !value.is_finite() || value > 9_007_199_254_740_992.0 || (value > 0.0 && value < 0.5) {
        return Err(fail());
    }
    Ok(value.round() as u64)
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

const BYTE_SUFFIXES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(
            text,
            BYTE_SUFFIXES,
            "a size like 64, 100kB (100 000 bytes) or 128KiB (131 072 bytes)",
        )
        .map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        for (suffix, factor) in [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
            if bytes >= factor && bytes.is_multiple_of(factor) {
                return write!(f, "{}{suffix}", bytes / factor);
            }
        }
        for (suffix, factor) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000u64)] {
            if bytes >= factor && bytes.is_multiple_of(factor) {
                return write!(f, "{}{suffix}", bytes / factor);
            }
        }
        write!(f, "{bytes}B")
    }
}

/// A bit rate in bits a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(pub u64);

const BIT_SUFFIXES: &[(&str, f64)] = &[
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
];

impl FromStr for BitRate {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, BIT_SUFFIXES, "a bit rate like 500kbit, 100Mbit or 1Gbit (bits a second)")
            .map(Self)
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.0;
        for (suffix, factor) in [("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1000u64)] {
            if bits >= factor && bits.is_multiple_of(factor) {
                return write!(f, "{}{suffix}", bits / factor);
            }
        }
        write!(f, "{bits}bit")
    }
}

/// Something a second: a number, which may end in `k` (1000) or `M` (a million).
///
/// # Errors
/// What is no number.
pub fn per_s(text: &str) -> Result<f64, UnitError> {
    let plain = text.trim();
    let (digits, factor) = match plain.strip_suffix(['k', 'M']) {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            (digits.trim_end(), if plain.ends_with('k') { 1e3 } else { 1e6 })
        }
        _ => (plain, 1.0),
    };
    let number: Option<f64> = digits.replace('_', "").parse().ok();
    let fail = || UnitError {
        found: text.to_owned(),
        expected: "a number like 500, 10k (10 000) or 1.5M (1 500 000)",
    };
    number.map(|number| number * factor).ok_or_else(fail)
}

/// A length of time, kept in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub Nanos);

const TIME_SUFFIXES: &[(&str, f64)] = &[
    ("", SECOND as f64),
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", SECOND as f64),
    ("m", 60.0 * SECOND as f64),
    ("min", 60.0 * SECOND as f64),
    ("h", 3600.0 * SECOND as f64),
];

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let expected = "a time like 10 (seconds), 500ms, 2m30s or 1h";
        let begins_part = |at: &usize| text[..*at].trim_end().ends_with(char::is_alphabetic);
        let digits = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
        let begins: Vec<usize> = digits.filter(begins_part).collect();
        if begins.is_empty() {
            return scaled(text, TIME_SUFFIXES, expected).map(Self);
        }
        // `1h30m`, and neither `30m1h` nor `1h30`: each part is less than one of the unit before.
        let fail = || UnitError { found: text.to_owned(), expected };
        let (mut sum, mut unit, mut from) = (0u64, u64::MAX, 0);
        for to in begins.into_iter().chain([text.len()]) {
            let part = &text[from..to];
            let suffix = part.trim_start_matches(|c: char| !c.is_alphabetic());
            let one = scaled(&format!("1{suffix}"), TIME_SUFFIXES, expected);
            let ns = scaled(part, TIME_SUFFIXES, expected).map_err(|_| fail())?;
            if ns >= unit || suffix.is_empty() {
                return Err(fail());
            }
            (sum, unit, from) = (sum.saturating_add(ns), one.map_err(|_| fail())?, to);
        }
        Ok(Self(sum))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        for (suffix, factor) in [("s", SECOND), ("ms", 1_000_000), ("us", 1000)] {
            if ns >= factor && ns.is_multiple_of(factor) {
                return write!(f, "{}{suffix}", ns / factor);
            }
        }
        write!(f, "{ns}ns")
    }
}

impl Span {
    /// As people say it: like the text that is written to files, but whole minutes as such, `10m`
    /// for `600s` and `2m30s` for `150s`. Up to two minutes as seconds.
    pub fn brief(self) -> String {
        const MINUTE: Nanos = 60 * SECOND;
        if self.0 > 0 && self.0.is_multiple_of(MINUTE) {
            format!("{}m", self.0 / MINUTE)
        } else if self.0 > 2 * MINUTE && self.0.is_multiple_of(SECOND) {
            format!("{}m{}s", self.0 / MINUTE, self.0 % MINUTE / SECOND)
        } else {
            self.to_string()
        }
    }
}

/// Serialises as the exact text that parses back to the same value.
macro_rules! serde_as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

serde_as_text!(Bytes, BitRate, Span);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn suffixes_mean_what_they_say() {
        assert_eq!("1kB".parse(), Ok(Bytes(1000)));
        assert_eq!("1KiB".parse(), Ok(Bytes(1024)));
        assert_eq!("1.5MiB".parse(), Ok(Bytes(1_572_864)));
        assert_eq!("100kB".parse(), Ok(Bytes(100_000)));
        assert_eq!("1Gbit".parse(), Ok(BitRate(1_000_000_000)));
        assert_eq!("10".parse(), Ok(Span(10 * SECOND)));
        assert_eq!("250us".parse(), Ok(Span(250_000)));
    }

    #[test]
    fn rates_may_be_thousands_and_millions() {
        for (text, rate) in [
            ("500", 500.0),
            ("0.5", 0.5),
            ("10k", 1e4),
            ("2.5k", 2500.0),
            (" 1 M ", 1e6),
            ("20_000", 2e4),
            ("1e3", 1e3),
        ] {
            assert_eq!(per_s(text), Ok(rate), "{text}");
        }
        for text in ["", "k", "fast", "5G", "1kk", "-"] {
            assert!(per_s(text).unwrap_err().to_string().contains("10k"), "{text}");
        }
    }

    #[test]
    fn whole_minutes_are_said_as_such() {
        for (s, said) in
            [(0, "0ns"), (90, "90s"), (60, "1m"), (150, "2m30s"), (600, "10m"), (3600, "60m")]
        {
            assert_eq!(Span(s * SECOND).brief(), said);
        }
    }

    #[test]
    fn a_time_may_have_several_units_the_larger_first() {
        for (text, s) in
            [("2m30s", 150.0), ("1h 5m", 3900.0), (" 1m1.5s ", 61.5), ("1m500ms", 60.5)]
        {
            assert_eq!(text.parse(), Ok(Span((s * SECOND as f64) as Nanos)), "{text}");
        }
        for text in ["30s2m", "2m30", "2m90s", "2mm30s", "2m30x", "m30s", "2m30s1", "1µs2é3s"] {
            let error = text.parse::<Span>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("2m30s"), "{error}");
        }
    }

    #[test]
    fn errors_quote_the_text_and_give_an_example() {
        for bad in ["", "x", "1XB", "-1", "1e9", "1.2.3", "99999999999GB", "0.1B"] {
            let error = bad.parse::<Bytes>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
            assert!(error.to_string().contains("128KiB"), "{error}");
        }
        assert!("100".parse::<BitRate>().is_err(), "a bit rate without a unit is ambiguous");
        assert!("5 parsecs".parse::<Span>().is_err());
    }

    proptest! {
        #[test]
        fn display_parses_back(n in 0u64..1 << 52) {
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
            prop_assert_eq!(BitRate(n).to_string().parse(), Ok(BitRate(n)));
            prop_assert_eq!(Span(n).to_string().parse(), Ok(Span(n)));
            prop_assert_eq!(Span(n).brief().parse(), Ok(Span(n)));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<BitRate>();
            let _ = text.parse::<Span>();
        }
    }
}
