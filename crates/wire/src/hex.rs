//! 32 bytes as 64 hex digits, without repeating in an error what may be most of a secret.

use zeroize::Zeroizing;

/// Bytes of a secret, a seed or a key.
pub const BYTES: usize = 32;

/// Hex digits of their text form.
const DIGITS: usize = 2 * BYTES;

/// Why a text is not 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HexError {
    /// Another number of characters.
    #[error("has {found} characters, expected {DIGITS} hex digits")]
    Length {
        /// Characters of the text.
        found: usize,
    },
    /// Something else than hex.
    #[error("has no hex digit at character {at}, expected {DIGITS} hex digits")]
    Digit {
        /// Position of the first other character, from 1.
        at: usize,
    },
}

/// Reads 64 hex digits of either case.
///
/// # Errors
/// When there are not 64 characters, or one is no hex digit.
pub fn read(text: &str) -> Result<Zeroizing<[u8; BYTES]>, HexError> {
    // Straight into their place: a list that grows would leave a part of a secret behind.
    let mut bytes = Zeroizing::new([0; BYTES]);
    let mut found = 0;
    for character in text.chars() {
        let digit = character.to_digit(16).ok_or(HexError::Digit { at: found + 1 })?;
        if let Some(byte) = bytes.get_mut(found / 2) {
            *byte = *byte << 4 | digit as u8;
        }
        found += 1;
    }
    if found == DIGITS { Ok(bytes) } else { Err(HexError::Length { found }) }
}

/// The text form of any bytes. It leaves no other copy of them behind.
pub fn write(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_key_is_told_apart() {
        let bad = |text: &str| read(text).unwrap_err();
        assert_eq!(bad(""), HexError::Length { found: 0 });
        assert_eq!(bad(&"0".repeat(63)), HexError::Length { found: 63 });
        assert_eq!(bad(&"0".repeat(65)), HexError::Length { found: 65 });
        assert_eq!(bad(&format!("{}g", "0".repeat(63))), HexError::Digit { at: 64 });
        assert_eq!(bad(&"é".repeat(32)), HexError::Digit { at: 1 });
    }

    proptest! {
        #[test]
        fn hex_round_trips(bytes in any::<[u8; BYTES]>()) {
            let digits = write(&bytes);
            prop_assert_eq!(*read(&digits).unwrap(), bytes);
            prop_assert_eq!(*read(&digits.to_uppercase()).unwrap(), bytes);
        }
    }
}
