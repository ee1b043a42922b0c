//! The errors of a request.

use crate::http::chunked::ChunkError;
use crate::http::credential::CREDENTIAL_FIELD;
use crate::http::framing::FramingError;
use crate::http::head::HeadFault;

/// Why a request is refused; the connection has to be closed after the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The head is not one of HTTP/1.x.
    #[error("request head: found {0}, expected an HTTP/1.1 request line and fields")]
    Malformed(&'static str),
    /// Another version of HTTP.
    #[error("request line: found another version, expected HTTP/1.1 or HTTP/1.0")]
    Version,
    /// The head has no end within the limit, or too many fields.
    #[error("request head: found more than {0}, expected less")]
    HeadTooLong(&'static str),
    /// HTTP/1.1 without `Host`, or with more than one.
    #[error("request head: found {0} host fields, expected one")]
    Host(usize),
    /// An expectation that the target cannot meet.
    #[error("expect: found `{0}`, expected `100-continue`")]
    Expectation(String),
    /// The body is longer than the target takes.
    #[error("request body: found more than {0} bytes, expected at most that")]
    BodyTooLong(u64),
    /// It cannot be told where the request ends.
    #[error("request {0}")]
    Framing(FramingError),
    /// The chunked body is broken.
    #[error("request {0}")]
    Chunk(ChunkError),
    /// It does not show the credential of the trial that is served here.
    #[error("{CREDENTIAL_FIELD}: found none of this trial, expected it in every request")]
    Unauthorized,
    /// The memory for all that strangers send is used up.
    #[error(
        "request: found no memory left for it, expected fewer large ones at once; try again later"
    )]
    NoRoom,
}

impl RequestError {
    /// The status that says so to the client.
    pub fn status(&self) -> u16 {
        match self {
            Self::Framing(FramingError::Coding(_)) => 501,
            Self::Malformed(_) | Self::Host(_) | Self::Framing(_) | Self::Chunk(_) => 400,
            Self::Unauthorized => 401,
            Self::BodyTooLong(_) => 413,
            Self::Expectation(_) => 417,
            Self::HeadTooLong(_) => 431,
            Self::NoRoom => 503,
            Self::Version => 505,
        }
    }
}

impl From<FramingError> for RequestError {
    fn from(error: FramingError) -> Self {
        Self::Framing(error)
    }
}

impl From<ChunkError> for RequestError {
    fn from(error: ChunkError) -> Self {
        match error {
            ChunkError::BodyTooLong(most) => Self::BodyTooLong(most),
            other => Self::Chunk(other),
        }
    }
}

impl From<HeadFault> for RequestError {
    fn from(fault: HeadFault) -> Self {
        match fault {
            HeadFault::TooLong(_) => Self::HeadTooLong("16 KiB"),
            HeadFault::Malformed => Self::Malformed("an empty line"),
        }
    }
}

impl From<httparse::Error> for RequestError {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::HeaderName => Self::Malformed("an invalid field name"),
            httparse::Error::HeaderValue => Self::Malformed("an invalid field value"),
            httparse::Error::NewLine => Self::Malformed("a misplaced line break"),
            httparse::Error::Status | httparse::Error::Token => {
                Self::Malformed("an invalid character")
            }
            httparse::Error::TooManyHeaders => Self::HeadTooLong("128 fields"),
            httparse::Error::Version => Self::Version,
        }
    }
}
