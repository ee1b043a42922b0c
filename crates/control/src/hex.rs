//! 32 bytes as 64 hex digits, without repeating in an error what may be most of a secret.

use zeroize::Zeroizing;

/// Bytes of a secret, a seed or a public key.
pub(crate) const BYTES: usize = 32;

/// Hex digits of their text form.
pub(crate) const DIGITS: usize = 2 * BYTES;

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
pub(crate) fn read(text: &str) -> Result<Zeroizing<[u8; BYTES]>, HexError> {
    let digits = text.chars().enumerate();
    let digits = digits.map(|(i, c)| c.to_digit(16).map(|d| d as u8).ok_or(HexError::Digit { at: i + 1 }));
    let digits: Zeroizing<Vec<u8>> = Zeroizing::new(digits.collect::<Result<_, _>>()?);
    if digits.len() != DIGITS {
        return Err(HexError::Length { found: digits.len() });
    }
    let mut bytes = Zeroizing::new([0; BYTES]);
    for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks().0) {
        *byte = high << 4 | low;
    }
    Ok(bytes)
}

/// The text form.
pub(crate) fn write(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    text
}
