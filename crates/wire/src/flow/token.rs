//! The token that proves a flow to be of a run.

use crate::tag::TAG_BYTES;

/// Proves that a flow belongs to a run: the first 16 bytes of an HMAC-SHA256.
///
/// It can only be compared by [`FlowKey::verify`](crate::FlowKey::verify), which takes the same
/// time for every token.
#[derive(Debug, Clone, Copy)]
pub struct Token(pub [u8; TAG_BYTES]);
