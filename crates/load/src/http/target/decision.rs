//! The answer to a request as the target decides it, in any version of HTTP.

use hopbench_model::Nanos;

use super::request::Request;
use crate::http::grpc::Messages;

/// What to answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decision<'a> {
    pub(crate) status: u16,
    /// How long to wait before the first byte is written, ns.
    pub(crate) delay_ns: Nanos,
    pub(crate) content_type: &'a [u8],
    pub(crate) content: Content<'a>,
    /// How a call of gRPC ends.
    pub(crate) call: Option<CallAnswer>,
}

/// The status that answers a call of gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallAnswer {
    /// Its status, 0 where it succeeded.
    pub(crate) status: u32,
    /// What went wrong; empty where nothing did.
    pub(crate) text: &'static str,
}

impl<'a> Decision<'a> {
    /// A text, at once.
    pub(crate) fn text(status: u16, text: &'a str) -> Self {
        Self { status, content_type: b"text/plain", ..Self::plain(Content::Text(text)) }
    }

    /// This content, at once.
    pub(super) fn plain(content: Content<'a>) -> Self {
        Self { status: 200, delay_ns: 0, content_type: b"", content, call: None }
    }
}

/// The content of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// There is none, and no length of it.
    Absent,
    Text(&'a str),
    /// This many bytes of anything.
    Filler(u64),
    /// The request's.
    Echo,
    /// Messages of gRPC.
    Messages(Messages),
}

impl Content<'_> {
    /// Its length, bytes; `None`: it is not told ahead.
    pub(crate) fn length(&self, request: &Request) -> Option<u64> {
        match self {
            Self::Absent | Self::Messages(_) => None,
            Self::Text(text) => Some(text.len() as u64),
            Self::Filler(length) => Some(*length),
            Self::Echo => Some(request.body().len() as u64),
        }
    }
}
