//! Shares: `2%`, or the same as `0.02`.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::fields::Fields;
use super::problem::Problems;

/// A share of something, 1 for all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

impl FromStr for Share {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        let (number, whole) =
            text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
        // No signs, no exponents, no `inf`.
        if !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return Err(());
        }
        number.parse::<f64>().map(|number| Self(number / whole)).map_err(drop)
    }
}

/// The share that a key says, if it is in the range; a problem otherwise.
pub(crate) fn read(
    fields: &Fields<'_>,
    name: &str,
    range: &RangeInclusive<f64>,
    expected: &str,
    problems: &mut Problems,
) -> Option<f64> {
    fields
        .checked(name, expected, |share: &Share| range.contains(&share.0), problems)
        .map(|share| share.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_sign_or_without() {
        for (text, share) in [
            ("2%", 0.02),
            ("0.02", 0.02),
            (" 0.1 % ", 0.001),
            ("100%", 1.0),
            ("1", 1.0),
            ("0", 0.0),
        ] {
            assert_eq!(text.parse(), Ok(Share(share)), "{text}");
        }
        for text in ["", "%", "-1%", "2 percent", "1e-2", "inf", "NaN", "1.2.3", "%2"] {
            assert_eq!(text.parse::<Share>(), Err(()), "{text}");
        }
    }
}
