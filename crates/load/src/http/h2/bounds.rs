//! What a server lets its peers do, and how it says that they did more.

use super::frame::USUAL_WINDOW_BYTES;
use super::hpack::HpackError;
use crate::http::credential::Credential;

/// Most bytes of the fields of a request.
pub(super) const MOST_FIELDS_BYTES: usize = 16 * 1024;
/// Streams of a stranger's connection at once, at most.
const STRANGERS_STREAMS: usize = 128;

/// Why a connection ends, as a code of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Farewell {
    /// A frame that does not belong there.
    Protocol = 1,
    /// More than the windows allow.
    FlowControl = 3,
    /// A frame of a stream that is over.
    StreamClosed = 5,
    /// A frame of a length that it cannot have.
    FrameSize = 6,
    /// Fields that cannot be read.
    Compression = 9,
    /// Much work for nothing.
    EnhanceYourCalm = 11,
}

impl From<HpackError> for Farewell {
    fn from(error: HpackError) -> Self {
        match error {
            HpackError::TooLong(_) => Self::EnhanceYourCalm,
            _ => Self::Compression,
        }
    }
}

/// What a peer may do.
#[derive(Debug, Clone)]
pub struct ServingBounds {
    /// What every request must show; `None`: anybody is answered.
    pub credential: Option<Credential>,
    /// The longest body of a request that is taken, bytes.
    pub most_body_bytes: u64,
    /// Streams at once.
    pub most_streams: usize,
    /// The window of each stream and of the connection, bytes: at least 65 535.
    pub window_bytes: u32,
}

impl ServingBounds {
    /// What strangers may do, whose bodies are at most so long, bytes.
    pub fn of_strangers(most_body_bytes: u64) -> Self {
        let window_bytes = USUAL_WINDOW_BYTES;
        Self { credential: None, most_body_bytes, most_streams: STRANGERS_STREAMS, window_bytes }
    }
}
