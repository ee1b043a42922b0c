//! What a server lets its peers do, and how it says that they did more.

use super::frame::USUAL_WINDOW_BYTES;
use super::hpack::HpackError;
use crate::http::credential::Credential;

/// Streams of a stranger's connection at once, at most.
const STRANGERS_STREAMS: usize = 128;

/// Why a connection ends, as a code of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    Protocol = 1,
    FlowControl = 3,
    StreamClosed = 5,
    FrameSize = 6,
    Compression = 9,
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
pub(crate) struct ServingBounds {
    /// What every request must show; `None`: anybody is answered.
    pub(crate) credential: Option<Credential>,
    /// The longest body of a request that is taken, bytes.
    pub(crate) most_body_bytes: u64,
    /// Streams at once.
    pub(crate) most_streams: usize,
    /// The window of each stream and of the connection, bytes: at least 65 535.
    pub(crate) window_bytes: u32,
}

impl ServingBounds {
    /// What strangers may do.
    pub(crate) fn of_strangers(most_body_bytes: u64) -> Self {
        let window_bytes = USUAL_WINDOW_BYTES;
        Self { credential: None, most_body_bytes, most_streams: STRANGERS_STREAMS, window_bytes }
    }
}
