//! The errors of a response.

use crate::http::chunked::ChunkError;
use crate::http::framing::FramingError;
use crate::http::head::HeadFault;

/// Why a response cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// The head is not one of HTTP/1.x.
    #[error("response head: found `{found}` ({why}), expected an HTTP/1.1 status line and fields")]
    Malformed {
        /// What the parser stumbled over.
        why: &'static str,
        /// How the head starts.
        found: String,
    },
    /// The head has no end within the limit.
    #[error("response head: found more than {0} bytes, expected its end before that")]
    HeadTooLong(usize),
    /// A status that is no answer to the request.
    #[error("response status: found {0}, expected 200 to 999, or an interim one other than 101")]
    Status(u16),
    /// Interim responses without a final one.
    #[error("response: found more than 32 interim (1xx) responses, expected a final one")]
    TooManyInterim,
    /// It cannot be told where the response ends.
    #[error("response {0}")]
    Framing(#[from] FramingError),
    /// The chunked body is broken.
    #[error("response {0}")]
    Chunk(#[from] ChunkError),
    /// The connection was closed in the middle.
    #[error(
        "response: found the end of the connection after {header_bytes} head and {body_bytes} body \
         bytes, expected the rest"
    )]
    Truncated {
        /// Bytes of the head and of the coding that had arrived.
        header_bytes: u64,
        /// Bytes of the body that had arrived.
        body_bytes: u64,
    },
}

impl ResponseError {
    /// A word for counting failures by reason; it says nothing of the particular response.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Truncated { .. } => "response_truncated",
            Self::HeadTooLong(_) => "response_head_too_long",
            Self::Malformed { .. } | Self::Status(_) | Self::TooManyInterim => "response_malformed",
            Self::Framing(_) | Self::Chunk(_) => "response_framing",
        }
    }
}

impl From<HeadFault> for ResponseError {
    fn from(fault: HeadFault) -> Self {
        match fault {
            HeadFault::TooLong(most) => Self::HeadTooLong(most),
            HeadFault::Malformed => Self::Malformed { why: "an empty line", found: String::new() },
        }
    }
}

/// The parser's complaint in our words.
pub(super) fn describe(error: httparse::Error) -> &'static str {
    match error {
        httparse::Error::HeaderName => "invalid field name",
        httparse::Error::HeaderValue => "invalid field value",
        httparse::Error::NewLine => "misplaced line break",
        httparse::Error::Status => "invalid status",
        httparse::Error::Token => "invalid character",
        httparse::Error::TooManyHeaders => "more than 128 fields",
        httparse::Error::Version => "not HTTP/1.x",
    }
}
