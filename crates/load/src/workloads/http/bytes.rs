//! Bytes that a flag names: of a file, and as JSON carries them.

use std::path::Path;

use clap::error::ErrorKind;
use hopbench_model::units::Bytes;

/// A file that a flag names.
///
/// # Errors
/// It cannot be read, or is too long.
pub(in crate::workloads) fn read(
    flag: &str,
    path: &Path,
    most: u64,
) -> Result<Vec<u8>, clap::Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        refused(flag, path, ErrorKind::Io, &format!("a file that can be read: {error}"))
    })?;
    if bytes.len() as u64 > most {
        let expected = format!("a file of at most {}", Bytes(most));
        return Err(refused(flag, path, ErrorKind::ValueValidation, &expected));
    }
    Ok(bytes)
}

/// The problem of a file that a flag names.
pub(super) fn refused(flag: &str, path: &Path, kind: ErrorKind, expected: &str) -> clap::Error {
    let found = path.display();
    clap::Error::raw(kind, format!("{flag}: found `{found}`, expected {expected}\n"))
}

/// Two digits a byte.
pub(in crate::workloads) fn to_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of [`to_hex`].
pub(in crate::workloads) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Vec<u8> =
        digits.chars().map(|c| c.to_digit(16).map(|n| n as u8)).collect::<Option<_>>()?;
    nibbles
        .len()
        .is_multiple_of(2)
        .then(|| nibbles.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
