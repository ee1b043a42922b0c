//! The load that a capacity is asked for: `rps=20000, connections=5000`.

use std::str::FromStr;

use serde::Serialize;

/// What is expected, for errors.
const EXPECTED: &str =
    "expected `rps=20000`, `connections=5000`, or both with a comma between; numbers may end in k or M";

/// A load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Asked {
    /// Requests a second; above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_s: Option<f64>,
    /// Connections; whole, above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<f64>,
}

impl FromStr for Asked {
    type Err = String;

    /// # Errors
    /// What was found, and what was expected.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut out = Self { requests_per_s: None, connections: None };
        for part in text.split(',') {
            let part = part.trim();
            let found = |what: &str| format!("`{part}` {what}; {EXPECTED}");
            let (name, value) = part.split_once('=').ok_or_else(|| found("is no load"))?;
            let (known, whole) = match name.trim() {
                "rps" => (&mut out.requests_per_s, false),
                "connections" => (&mut out.connections, true),
                _ => return Err(found("is no load that is known")),
            };
            let value = number(value.trim()).ok_or_else(|| found("has no number above 0"))?;
            if whole && value.fract() != 0.0 {
                return Err(found("is no whole number"));
            }
            if known.replace(value).is_some() {
                return Err(found("is said twice"));
            }
        }
        Ok(out)
    }
}

/// A number above 0, as people write it: `20000`, `20_000`, `2.5k`, `1M`.
fn number(text: &str) -> Option<f64> {
    let (digits, factor) = match text.strip_suffix(['k', 'M']) {
        Some(digits) if text.ends_with('k') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (text, 1.0),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit());
    let value = digits.trim_end().replace('_', "").parse::<f64>().ok().filter(|_| plain)? * factor;
    (value.is_finite() && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_read_as_people_write_them() {
        let asked = |requests_per_s, connections| Ok(Asked { requests_per_s, connections });
        for (text, expected) in [
            ("rps=20000, connections=5000", asked(Some(20_000.0), Some(5000.0))),
            ("connections=1.5k", asked(None, Some(1500.0))),
            (" rps = 2M ", asked(Some(2e6), None)),
            ("rps=20_000", asked(Some(20_000.0), None)),
            ("rps=0.5", asked(Some(0.5), None)),
        ] {
            assert_eq!(text.parse::<Asked>(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_load_is_told() {
        for (text, what) in [
            ("", "`` is no load;"),
            ("20000", "`20000` is no load;"),
            ("qps=5", "`qps=5` is no load that is known;"),
            ("rps=", "`rps=` has no number above 0;"),
            ("rps=0", "`rps=0` has no number above 0;"),
            ("rps=-5", "`rps=-5` has no number above 0;"),
            ("rps=inf", "`rps=inf` has no number above 0;"),
            ("rps=5G", "`rps=5G` has no number above 0;"),
            ("connections=2.5", "`connections=2.5` is no whole number;"),
            ("rps=1,rps=2", "`rps=2` is said twice;"),
            ("rps=1,", "`` is no load;"),
        ] {
            let error = text.parse::<Asked>().unwrap_err();
            assert!(error.starts_with(what) && error.contains("expected `rps=20000`"), "{text}: {error}");
        }
    }
}
