//! The kind of a TCP connection, from the first bytes that its client sends.

use crate::flow::FLOW_MAGIC;

/// The most bytes that [`classify`] looks at.
pub const MOST_FIRST_BYTES: usize = 8;

/// The meaning of the first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum First {
    /// Too few bytes yet; never the answer to [`MOST_FIRST_BYTES`] or more.
    NeedMore,
    /// A TLS handshake record: a control session.
    Tls,
    /// A flow header: a data flow.
    Flow,
    /// An HTTP request line, or what a connection of HTTP/2 begins with.
    Http,
    /// Nothing that an agent serves.
    Unknown,
}

/// A TLS record of type handshake and the major version that every TLS version has.
const TLS_HANDSHAKE: &[u8] = &[0x16, 0x03];

/// How each kind of connection starts; no start is the beginning of another.
const STARTS: &[(&[u8], First)] = &[
    (TLS_HANDSHAKE, First::Tls),
    (&FLOW_MAGIC, First::Flow),
    (b"GET ", First::Http),
    (b"HEAD ", First::Http),
    (b"POST ", First::Http),
    (b"PUT ", First::Http),
    (b"DELETE ", First::Http),
    (b"OPTIONS ", First::Http),
    (b"PATCH ", First::Http),
    (b"PRI ", First::Http),
];

/// Sorts a connection by its first bytes, on as few of them as can tell.
pub fn classify(bytes: &[u8]) -> First {
    let mut possible = false;
    for (start, first) in STARTS {
        if bytes.starts_with(start) {
            return *first;
        }
        possible |= start.starts_with(bytes);
    }
    if possible { First::NeedMore } else { First::Unknown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_kind_is_known_at_its_last_byte_and_not_before() {
        for (start, first) in STARTS {
            for length in 0..start.len() {
                assert_eq!(classify(&start[..length]), First::NeedMore, "{start:?} to {length}");
            }
            assert_eq!(classify(start), *first);
            assert_eq!(classify(&[*start, b"\0 anything"].concat()), *first);
        }
    }

    #[test]
    fn what_is_nothing_is_known_at_the_first_wrong_byte() {
        for bytes in [
            &b"\0"[..],
            b"get ",
            b"GETX",
            b"HOPC",
            b"HX",
            b"\x16\x02",
            b"\x15",
            b"SSH-2.0-OpenSSH",
            b"PRIX",
        ] {
            assert_eq!(classify(bytes), First::Unknown, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn a_decision_is_made_in_time_and_never_changes(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'H'), Just(b'O')], 0..40),
        ) {
            let verdicts: Vec<First> = (0..=bytes.len()).map(|n| classify(&bytes[..n])).collect();
            if bytes.len() >= MOST_FIRST_BYTES {
                prop_assert_ne!(verdicts[MOST_FIRST_BYTES], First::NeedMore);
            }
            for pair in verdicts.windows(2) {
                prop_assert!(pair[0] == First::NeedMore || pair[0] == pair[1], "{:?}", verdicts);
            }
        }
    }
}
