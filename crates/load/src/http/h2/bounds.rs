//! Bounds of a server over HTTP/2: what its peers may do, and how it says that they did more.

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

/// The bounds of a peer.
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
    /// The bounds of strangers, whose bodies are at most so long, bytes.
    pub fn of_strangers(most_body_bytes: u64) -> Self {
        let window_bytes = USUAL_WINDOW_BYTES;
        Self { credential: None, most_body_bytes, most_streams: STRANGERS_STREAMS, window_bytes }
    }
}

/// Requests that a peer may take back before they are answered, or make the server refuse, beyond
/// those that it let be answered. Each costs the server its work all the same (CVE-2023-44487,
/// CVE-2025-8671).
const MOST_TAKEN_BACK: u32 = 200;
/// Frames that bring no request on, one after another (CVE-2019-9512 and its kin).
const MOST_IDLE_FRAMES: u32 = 2000;

/// Work that a peer makes and that brings no request on.
#[derive(Debug, Default)]
pub(super) struct Waste {
    taken_back: u32,
    idle_frames: u32,
    /// Bytes that may still be under way to a stream that is over.
    late_bytes: u32,
}

impl Waste {
    /// A frame came.
    pub(super) fn frame(&mut self) {
        self.idle_frames += 1;
    }

    /// It, or an answer, brought a request on.
    pub(super) fn moved(&mut self) {
        self.idle_frames = 0;
    }

    /// A stream was closed by the peer; whether something was to be answered on it.
    pub(super) fn taken_back(&mut self, was_owed: bool) {
        self.taken_back += u32::from(was_owed);
    }

    /// A stream is closed for what the peer did. As much as its window may still be under way.
    pub(super) fn refused(&mut self, window_bytes: u32) {
        self.taken_back += 1;
        self.late_bytes = window_bytes;
    }

    /// An answer is written. As much as the window of its stream may still be under way.
    pub(super) fn answered(&mut self, window_bytes: u32) {
        self.taken_back = self.taken_back.saturating_sub(1);
        self.late_bytes = window_bytes;
    }

    /// The frame has so many bytes of a body for a stream that is over: no waste if they were under
    /// way.
    pub(super) fn late(&mut self, bytes: u32) {
        if let Some(left) = self.late_bytes.checked_sub(bytes).filter(|_| bytes > 0) {
            self.late_bytes = left;
            self.idle_frames = self.idle_frames.saturating_sub(1);
        }
    }

    /// Whether no stranger may make so much.
    pub(super) fn is_too_much(&self) -> bool {
        self.idle_frames > MOST_IDLE_FRAMES || self.taken_back > MOST_TAKEN_BACK
    }
}
