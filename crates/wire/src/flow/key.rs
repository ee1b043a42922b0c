//! The key of a run's flows and the tokens it gives.

use std::fmt::{self, Write};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use zeroize::Zeroizing;

use super::FlowHeader;
use crate::tag::{TAG_BYTES, same, tag};

/// Proves that a flow belongs to a run: the first 16 bytes of an HMAC-SHA256.
///
/// It can only be compared by [`FlowKey::verify`], which takes the same time for every token.
#[derive(Debug, Clone, Copy)]
pub struct Token(pub [u8; TAG_BYTES]);

/// The key of one run, made once and then used for every flow; `Prepare` carries it as hex. Its
/// bytes are overwritten when it is dropped.
#[derive(Clone)]
pub struct FlowKey {
    bytes: Zeroizing<[u8; 32]>,
    pub(super) key: ring::hmac::Key,
}

/// Why a text is not a flow key. The text itself is not repeated: it may be most of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum KeyError {
    /// Not 32 bytes.
    #[error("flow key has {found} characters, expected 64 hex digits")]
    Length {
        /// Characters of the text.
        found: usize,
    },
    /// Something else than hex.
    #[error("flow key has no hex digit at character {at}, expected 64 hex digits")]
    Digit {
        /// Position of the first other character, from 1.
        at: usize,
    },
}

impl FlowKey {
    /// The key with these bytes; they must be secret and hard to guess.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self { key: ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &bytes), bytes: Zeroizing::new(bytes) }
    }

    /// Reads 64 hex digits of either case.
    fn from_hex(text: &str) -> Result<Self, KeyError> {
        if let Some(at) = text.chars().position(|c| !c.is_ascii_hexdigit()) {
            return Err(KeyError::Digit { at: at + 1 });
        }
        if text.len() != 64 {
            return Err(KeyError::Length { found: text.len() });
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().as_chunks::<2>().0) {
            *byte = pair.iter().fold(0, |high, &digit| high << 4 | value(digit));
        }
        Ok(Self::new(bytes))
    }

    /// The key as 64 hex digits, overwritten when they are dropped.
    fn to_hex(&self) -> Zeroizing<String> {
        // Room for all of it: a string that grows leaves a part of the key behind.
        let mut text = Zeroizing::new(String::with_capacity(2 * self.bytes.len()));
        for byte in &*self.bytes {
            // Writing into a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
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

/// As 64 hex digits.
impl Serialize for FlowKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_hex())
    }
}

impl<'de> Deserialize<'de> for FlowKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(deserializer)?);
        Self::from_hex(&text).map_err(de::Error::custom)
    }
}

/// Takes the same time for every key.
impl PartialEq for FlowKey {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.bytes.as_chunks::<TAG_BYTES>().0, other.bytes.as_chunks::<TAG_BYTES>().0);
        ours.iter().zip(theirs).fold(true, |equal, (a, b)| equal & same(a, b))
    }
}

/// Hides the key.
impl fmt::Debug for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlowKey(..)")
    }
}

/// The value of an ASCII hex digit.
fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_key_is_told_apart() {
        let bad = |text: &str| FlowKey::from_hex(text).unwrap_err();
        assert_eq!(bad(""), KeyError::Length { found: 0 });
        assert_eq!(bad(&"0".repeat(63)), KeyError::Length { found: 63 });
        assert_eq!(bad(&"0".repeat(65)), KeyError::Length { found: 65 });
        assert_eq!(bad(&format!("{}g", "0".repeat(63))), KeyError::Digit { at: 64 });
        assert_eq!(bad(&"é".repeat(32)), KeyError::Digit { at: 1 });
    }

    #[test]
    fn a_key_is_not_printed() {
        assert_eq!(format!("{:?}", FlowKey::new([0x41; 32])), "FlowKey(..)");
        let error = serde_json::from_str::<FlowKey>("\"most of a key\"").unwrap_err().to_string();
        assert!(error.starts_with("flow key has no hex digit at character 1") && !error.contains("most"), "{error}");
    }

    proptest! {
        #[test]
        fn hex_round_trips(bytes in any::<[u8; 32]>()) {
            let hex = FlowKey::new(bytes).to_hex();
            prop_assert_eq!(*FlowKey::from_hex(&hex).unwrap().bytes, bytes);
            prop_assert_eq!(*FlowKey::from_hex(&hex.to_uppercase()).unwrap().bytes, bytes);
        }

        #[test]
        fn in_json_it_is_its_hex_digits(bytes in any::<[u8; 32]>(), at in 0usize..32, bit in 0u32..8) {
            let key = FlowKey::new(bytes);
            let json = serde_json::to_string(&key).unwrap();
            prop_assert_eq!(&json, &format!("\"{}\"", *key.to_hex()));
            prop_assert_eq!(&serde_json::from_str::<FlowKey>(&json).unwrap(), &key);
            let mut other = bytes;
            other[at] ^= 1 << bit;
            prop_assert_ne!(FlowKey::new(other), key);
        }
    }
}
