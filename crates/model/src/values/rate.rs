//! The rate at which bytes or datagrams are to leave.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::units::{BitRate, Bytes};

/// A rate over all connections; written `max`, `50000pps` or `100Mbit`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Rate {
    /// The next datagram when the kernel took the last.
    Max,
    /// Datagrams a second.
    Datagrams(u64),
    /// Payload, bits a second.
    Payload(BitRate),
}

const DATAGRAM_SUFFIXES: &[(&str, f64)] = &[("Mpps", 1e6), ("kpps", 1e3), ("pps", 1.0)];

impl Rate {
    /// Datagrams of this payload a second; `None` when nothing limits them.
    pub fn datagrams_per_s(self, size: Bytes) -> Option<f64> {
        match self {
            Self::Max => None,
            Self::Datagrams(per_s) => Some(per_s as f64),
            Self::Payload(rate) => Some(rate.0 as f64 / (8.0 * size.0.max(1) as f64)),
        }
    }

    /// Whether it would never send anything.
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Datagrams(0) | Self::Payload(BitRate(0)))
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || {
            format!(
                "`{text}` is not max, datagrams a second like 50000pps or 50kpps, or payload like \
                 100Mbit"
            )
        };
        let trimmed = text.trim();
        if trimmed == "max" {
            return Ok(Self::Max);
        }
        for (suffix, factor) in DATAGRAM_SUFFIXES {
            let Some(number) = trimmed.strip_suffix(suffix) else {
                continue;
            };
            let number = number.trim();
            // No signs, no exponents, no `inf`.
            if !number.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '_') {
                return Err(fail());
            }
            let number: f64 = number.replace('_', "").parse().map_err(|_| fail())?;
            return Ok(Self::Datagrams((number * factor).round() as u64));
        }
        trimmed.parse().map(Self::Payload).map_err(|_| fail())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Max => f.write_str("max"),
            Self::Datagrams(per_s) => write!(f, "{per_s}pps"),
            Self::Payload(rate) => rate.fmt(f),
        }
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_forms_people_write() {
        assert_eq!("max".parse(), Ok(Rate::Max));
        assert_eq!("50000pps".parse(), Ok(Rate::Datagrams(50_000)));
        assert_eq!("1.5Mpps".parse(), Ok(Rate::Datagrams(1_500_000)));
        assert_eq!("50 kpps".parse(), Ok(Rate::Datagrams(50_000)));
        assert_eq!("100Mbit".parse(), Ok(Rate::Payload(BitRate(100_000_000))));
    }

    #[test]
    fn errors_quote_the_text_and_give_the_forms() {
        for bad in ["", "fast", "100", "-1pps", "pps", "1e9pps", "infpps", "100MB", "1.2.3pps"] {
            let error = bad.parse::<Rate>().unwrap_err();
            assert!(error.contains(&format!("`{bad}`")) && error.contains("50000pps"), "{error}");
        }
    }

    #[test]
    fn payload_counts_without_headers() {
        let rate = Rate::Payload(BitRate(1_000_000));
        assert_eq!(rate.datagrams_per_s(Bytes(16)), Some(7812.5));
        assert_eq!(Rate::Datagrams(7).datagrams_per_s(Bytes(16)), Some(7.0));
        assert_eq!(Rate::Max.datagrams_per_s(Bytes(16)), None);
        assert!(Rate::Datagrams(0).is_zero() && "0Mbit".parse::<Rate>().unwrap().is_zero());
    }

    proptest! {
        #[test]
        fn display_parses_back(n in 0u64..1 << 52, payload: bool) {
            let rate = if payload { Rate::Payload(BitRate(n)) } else { Rate::Datagrams(n) };
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Rate>();
        }
    }
}
