//! The bytes that are sent when it does not matter which.

use std::sync::Arc;

/// The most filler that workers keep, bytes; what is longer is sent in parts.
pub(crate) const MOST_FILLER: usize = 1 << 20;

/// Bytes to send when it does not matter which; not all equal, so that no hop can compress them
/// away.
pub(crate) fn filler(bytes: usize) -> Arc<[u8]> {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    (0..bytes)
        .map(|_| {
            // xorshift64
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}
