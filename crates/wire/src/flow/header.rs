//! The header that every data flow starts with.

use super::code::{Direction, FlowKind, WorkloadCode};
use super::token::Token;

/// Bytes of a flow header.
pub const FLOW_HEADER_BYTES: usize = 32;

/// The first bytes of a flow header.
pub const FLOW_MAGIC: [u8; 4] = *b"HOPB";

/// The version of the header; another one is refused.
pub const FLOW_VERSION: u8 = 1;

/// What a server sends first on flows that are kept open, once it has accepted the header.
pub const FLOW_ACCEPTED: [u8; 8] = [b'H', b'O', b'P', b'O', b'K', FLOW_VERSION, 0, 0];

/// Bytes of the header that the token covers.
pub(super) const PLAIN_BYTES: usize = 16;

/// The header of a data flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowHeader {
    /// The workload it belongs to.
    pub workload: WorkloadCode,
    /// Which way its payload goes.
    pub direction: Direction,
    /// What carries it.
    pub kind: FlowKind,
    /// The run, as `Prepare` names it.
    pub run: u32,
    /// The flow's number, used once in a run.
    pub flow: u32,
}

/// Why 32 bytes are not a flow header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    /// It does not start with [`FLOW_MAGIC`].
    #[error("flow header does not start with `HOPB`")]
    Magic,
    /// A version that this build does not speak.
    #[error("flow header has version {found}, this build speaks version {FLOW_VERSION}")]
    Version {
        /// The version in the header.
        found: u8,
    },
    /// It names no workload.
    #[error("flow header has the unknown workload code {found}")]
    Workload {
        /// The code in the header.
        found: u8,
    },
    /// Neither to nor from the server.
    #[error("flow header has the unknown direction {found}")]
    Direction {
        /// The code in the header.
        found: u8,
    },
    /// Neither TCP nor UDP.
    #[error("flow header has the unknown kind {found}")]
    Kind {
        /// The code in the header.
        found: u8,
    },
}

impl FlowHeader {
    /// Reads a header. The token is not checked: find the key of the run and
    /// [`verify`](crate::FlowKey::verify).
    ///
    /// # Errors
    /// When a field has a value that this build does not know.
    pub fn parse(bytes: &[u8; FLOW_HEADER_BYTES]) -> Result<(Self, Token), FlowError> {
        let (&[h, o, p, b, version, workload, direction, kind, ref rest @ ..], token) =
            halves(bytes);
        if [h, o, p, b] != FLOW_MAGIC {
            return Err(FlowError::Magic);
        }
        if version != FLOW_VERSION {
            return Err(FlowError::Version { found: version });
        }
        let &[r0, r1, r2, r3, f0, f1, f2, f3] = rest;
        let header = Self {
            workload: WorkloadCode::from_code(workload)
                .ok_or(FlowError::Workload { found: workload })?,
            direction: Direction::from_code(direction)
                .ok_or(FlowError::Direction { found: direction })?,
            kind: FlowKind::from_code(kind).ok_or(FlowError::Kind { found: kind })?,
            run: u32::from_be_bytes([r0, r1, r2, r3]),
            flow: u32::from_be_bytes([f0, f1, f2, f3]),
        };
        Ok((header, Token(*token)))
    }

    /// The part that the token covers. One header has one such form, so it stands for the header
    /// wherever that is authenticated.
    pub(crate) fn plain(&self) -> [u8; PLAIN_BYTES] {
        let mut out = [0; PLAIN_BYTES];
        out[..4].copy_from_slice(&FLOW_MAGIC);
        out[4] = FLOW_VERSION;
        out[5] = self.workload.code();
        out[6] = self.direction.code();
        out[7] = self.kind.code();
        out[8..12].copy_from_slice(&self.run.to_be_bytes());
        out[12..].copy_from_slice(&self.flow.to_be_bytes());
        out
    }
}

/// The covered part and the token.
fn halves(bytes: &[u8; FLOW_HEADER_BYTES]) -> (&[u8; PLAIN_BYTES], &[u8; PLAIN_BYTES]) {
    match bytes.as_chunks() {
        ([plain, token], []) => (plain, token),
        _ => unreachable!("32 bytes are two chunks of 16"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::flow::FlowKey;

    pub(crate) fn code(code: u8) -> WorkloadCode {
        WorkloadCode::from_code(code).expect("not 0")
    }

    /// Any header at all.
    pub(crate) fn headers() -> impl Strategy<Value = FlowHeader> {
        (
            any::<std::num::NonZeroU8>(),
            prop::sample::select(Direction::ALL),
            prop::sample::select(FlowKind::ALL),
            any::<u32>(),
            any::<u32>(),
        )
            .prop_map(|(workload, direction, kind, run, flow)| FlowHeader {
                workload: code(workload.get()),
                direction,
                kind,
                run,
                flow,
            })
    }

    #[test]
    fn the_bytes_are_where_the_protocol_says() {
        let header = FlowHeader {
            workload: code(4),
            direction: Direction::FromServer,
            kind: FlowKind::Udp,
            run: 0x0102_0304,
            flow: 0x0a0b_0c0d,
        };
        let bytes = header.encode(&FlowKey::new([7; 32]));
        assert_eq!(bytes[..16], *b"HOPB\x01\x04\x01\x01\x01\x02\x03\x04\x0a\x0b\x0c\x0d");
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[7; 32]);
        assert_eq!(bytes[16..], ring::hmac::sign(&key, &bytes[..16]).as_ref()[..16]);
    }

    #[test]
    fn each_wrong_field_is_named() {
        let key = FlowKey::new([7; 32]);
        let good = FlowHeader {
            workload: code(1),
            direction: Direction::ToServer,
            kind: FlowKind::Tcp,
            run: 1,
            flow: 2,
        }
        .encode(&key);
        for (at, value, error) in [
            (0, b'h', FlowError::Magic),
            (3, b'C', FlowError::Magic),
            (4, 2, FlowError::Version { found: 2 }),
            (5, 0, FlowError::Workload { found: 0 }),
            (6, 2, FlowError::Direction { found: 2 }),
            (7, 2, FlowError::Kind { found: 2 }),
        ] {
            let mut bytes = good;
            bytes[at] = value;
            assert_eq!(FlowHeader::parse(&bytes).unwrap_err(), error);
        }
    }

    proptest! {
        #[test]
        fn headers_round_trip_and_verify(header in headers(), bytes in any::<[u8; 32]>()) {
            let key = FlowKey::new(bytes);
            let (back, token) = FlowHeader::parse(&header.encode(&key)).unwrap();
            prop_assert_eq!(back, header);
            prop_assert!(key.verify(&back, &token));
        }

        #[test]
        fn another_key_does_not_verify(
            header in headers(),
            a in any::<[u8; 32]>(),
            bit in 0usize..256,
        ) {
            let mut b = a;
            b[bit / 8] ^= 1 << (bit % 8);
            let (back, token) = FlowHeader::parse(&header.encode(&FlowKey::new(a))).unwrap();
            prop_assert!(!FlowKey::new(b).verify(&back, &token));
        }

        #[test]
        fn any_flipped_bit_is_caught(header in headers(), bit in 0usize..256) {
            let key = FlowKey::new([9; 32]);
            let mut bytes = header.encode(&key);
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok((back, token)) = FlowHeader::parse(&bytes) {
                prop_assert!(!key.verify(&back, &token));
            }
        }
    }
}
