//! The time that a call may take, as gRPC spells it: up to eight digits and a unit.

use hopbench_model::{Nanos, SECOND};

/// The units, the largest first.
const UNITS: [(u8, Nanos); 6] = [
    (b'H', 3600 * SECOND),
    (b'M', 60 * SECOND),
    (b'S', SECOND),
    (b'm', 1_000_000),
    (b'u', 1_000),
    (b'n', 1),
];
/// Eight digits.
const MOST: Nanos = 99_999_999;

/// The text of a time; `None`: it cannot be spelled exactly.
pub(crate) fn spelled(ns: Nanos) -> Option<String> {
    let exact = |unit_ns: Nanos| ns.is_multiple_of(unit_ns) && ns / unit_ns <= MOST;
    let (unit, unit_ns) = UNITS.iter().find(|(_, unit_ns)| exact(*unit_ns))?;
    Some(format!("{}{}", ns / unit_ns, char::from(*unit)))
}

/// The time of a text, ns; `None`: it is none.
pub(crate) fn read(text: &[u8]) -> Option<Nanos> {
    let (unit, digits) = text.split_last()?;
    if digits.len() > 8 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: Nanos = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (_, unit_ns) = UNITS.iter().find(|(name, _)| name == unit)?;
    Some(number.saturating_mul(*unit_ns))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_those_of_grpc() {
        for (text, time) in [
            ("50m", Some(50_000_000)),
            ("1S", Some(SECOND)),
            ("99999999n", Some(99_999_999)),
            ("2H", Some(7200 * SECOND)),
            ("0m", Some(0)),
            ("", None),
            ("m", None),
            ("123456789m", None),
            ("5s", None),
            ("-5m", None),
        ] {
            assert_eq!(read(text.as_bytes()), time, "{text}");
        }
        assert!(read(b"99999999H").is_some_and(|time| time > SECOND));
        assert_eq!(spelled(2_000_000).as_deref(), Some("2m"));
        assert_eq!(spelled(1_500_000).as_deref(), Some("1500u"));
        assert_eq!(spelled(3600 * SECOND).as_deref(), Some("1H"));
        assert_eq!(spelled(100 * SECOND + 1), None);
    }

    proptest! {
        #[test]
        fn what_is_spelled_is_read(number in 0..=MOST, unit in 0_usize..6) {
            // Hours beyond that are no times of ours.
            prop_assume!(number.checked_mul(UNITS[unit].1).is_some());
            let ns = number * UNITS[unit].1;
            let text = spelled(ns).expect("eight digits are enough");
            prop_assert!(text.len() <= 9);
            prop_assert_eq!(read(text.as_bytes()), Some(ns));
        }
    }
}
