//! The events that a client hears of its server over HTTP/2.

use super::hpack::HpackError;
use crate::http::response::ResponseEnd;

/// What was heard of a stream.
#[derive(Debug)]
pub enum Heard<T> {
    /// Its answer is complete.
    Answer(T, ResponseEnd),
    /// The server ended it with this code.
    Reset(T, &'static str),
    /// The server did not take it: it goes away.
    Refused(T),
}

/// Why a connection cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionError {
    /// A frame that does not belong there, or whose content is wrong.
    #[error("the server broke the protocol of HTTP/2: {0}")]
    Protocol(&'static str),
    /// Fields that cannot be read.
    #[error("the server's fields: {0}")]
    Fields(#[from] HpackError),
}
