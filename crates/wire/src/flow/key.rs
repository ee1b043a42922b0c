//! The key of a run's flows and the tokens it gives.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::Zeroizing;

use super::header::{FLOW_HEADER_BYTES, FlowHeader, PLAIN_BYTES};
use super::token::Token;
use crate::hex;
use crate::tag::{TAG_BYTES, same, tag};

/// The key of one run, made once and then used for every flow; `Prepare` carries it as hex. Its
/// bytes are overwritten when it is dropped.
#[derive(Clone)]
pub struct FlowKey {
    bytes: Zeroizing<[u8; 32]>,
    pub(super) key: ring::hmac::Key,
}

impl FlowKey {
    /// The key with these bytes; they must be secret and hard to guess.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self {
            key: ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &bytes),
            bytes: Zeroizing::new(bytes),
        }
    }

    /// The token of a flow.
    pub fn token(&self, header: &FlowHeader) -> Token {
        Token(tag(&self.key, &[&header.plain()]))
    }

    /// Whether the token is the one that this key gives the header, in constant time.
    pub fn verify(&self, header: &FlowHeader, token: &Token) -> bool {
        same(&self.token(header).0, &token.0)
    }
}

impl FlowHeader {
    /// The header with the token that `key` gives it.
    pub fn encode(&self, key: &FlowKey) -> [u8; FLOW_HEADER_BYTES] {
        let mut out = [0; FLOW_HEADER_BYTES];
        out[..PLAIN_BYTES].copy_from_slice(&self.plain());
        out[PLAIN_BYTES..].copy_from_slice(&key.token(self).0);
        out
    }
}

/// As 64 hex digits.
impl Serialize for FlowKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&Zeroizing::new(hex::write(&*self.bytes)))
    }
}

impl<'de> Deserialize<'de> for FlowKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(deserializer)?);
        let bytes = hex::read(&text)
            .map_err(|error| de::Error::custom(format_args!("flow key {error}")))?;
        Ok(Self::new(*bytes))
    }
}

/// Takes the same time for every key.
impl PartialEq for FlowKey {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) =
            (self.bytes.as_chunks::<TAG_BYTES>().0, other.bytes.as_chunks::<TAG_BYTES>().0);
        ours.iter().zip(theirs).fold(true, |equal, (a, b)| equal & same(a, b))
    }
}

/// Hides the key.
impl fmt::Debug for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlowKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", FlowKey::new([0x41; 32])), "FlowKey(..)");
        let error = serde_json::from_str::<FlowKey>("\"most of a key\"").unwrap_err().to_string();
        assert!(
            error.starts_with("flow key has no hex digit at character 1")
                && !error.contains("most"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn in_json_it_is_its_hex_digits(
            bytes in any::<[u8; 32]>(),
            at in 0usize..32,
            bit in 0u32..8,
        ) {
            let key = FlowKey::new(bytes);
            let json = serde_json::to_string(&key).unwrap();
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(&json, &format!("\"{digits}\""));
            prop_assert_eq!(&serde_json::from_str::<FlowKey>(&json).unwrap(), &key);
            let mut other = bytes;
            other[at] ^= 1 << bit;
            prop_assert_ne!(FlowKey::new(other), key);
        }
    }
}
