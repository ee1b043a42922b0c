//! gRPC over HTTP/2, without I/O: the frame around a message, and the status at the end of a call.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use prost::Message;

/// The largest message that is taken, bytes; Envoy's own limit for one is the same.
pub(crate) const MOST_MESSAGE_BYTES: usize = 4 << 20;
/// In front of each message: whether it is compressed (1 byte), and how long it is (4 bytes, the
/// highest first).
const PREFIX_BYTES: usize = 5;

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// One of gRPC's numbers.
    pub(crate) code: u8,
    /// Why, for a log.
    pub(crate) message: String,
}

impl Status {
    /// The message is none of that kind.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }

    /// Took too long.
    pub(crate) fn late(message: impl Into<String>) -> Self {
        Self { code: 4, message: message.into() }
    }

    /// More than there is room for.
    pub(crate) fn exhausted(message: impl Into<String>) -> Self {
        Self { code: 8, message: message.into() }
    }

    /// No such method, or something in it that is not done here.
    pub(crate) fn unimplemented(message: impl Into<String>) -> Self {
        Self { code: 12, message: message.into() }
    }

    /// The frames break the rules.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self { code: 13, message: message.into() }
    }

    /// As trailers, or as headers of an answer that has nothing else.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        headers.insert("grpc-status", HeaderValue::from(u16::from(self.code)));
        // The text travels percent-encoded; what would need that is not worth it.
        let text: String = self
            .message
            .chars()
            .map(|c| if matches!(c, ' '..='~') && c != '%' { c } else { '?' })
            .collect();
        if let Ok(text) = HeaderValue::from_str(&text) {
            headers.insert("grpc-message", text);
        }
    }
}

/// The trailers of a call that went well.
pub(crate) fn well_done() -> HeaderMap {
    let mut trailers = HeaderMap::with_capacity(1);
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers
}

/// The headers of every answer.
pub(crate) fn mark(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
}

/// Whether a request says that it is gRPC with protobuf inside.
pub(crate) fn is_marked(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| matches!(kind, b"application/grpc" | b"application/grpc+proto"))
}

/// A message in its frame.
pub(crate) fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut out = BytesMut::with_capacity(PREFIX_BYTES + length);
    out.put_u8(0);
    // Answers of these services are small.
    out.put_u32(length as u32);
    message.encode_raw(&mut out);
    out.freeze()
}

/// Takes bytes as they come, gives messages.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: BytesMut,
}

impl Frames {
    /// More bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes that are part of no whole message yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The next whole message.
    pub(crate) fn pop(&mut self) -> Result<Option<Bytes>, Status> {
        let &[compressed, a, b, c, d, ..] = &*self.bytes else { return Ok(None) };
        match compressed {
            0 => {}
            1 => return Err(Status::unimplemented("compressed messages are not taken")),
            flag => {
                return Err(Status::internal(format!(
                    "a message is compressed (1) or not (0), and not {flag}"
                )));
            }
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > MOST_MESSAGE_BYTES {
            let most = MOST_MESSAGE_BYTES;
            return Err(Status::exhausted(format!(
                "a message of {length} bytes; at most {most} are taken"
            )));
        }
        if self.bytes.len() < PREFIX_BYTES + length {
            return Ok(None);
        }
        self.bytes.advance(PREFIX_BYTES);
        Ok(Some(self.bytes.split_to(length).freeze()))
    }
}

#[cfg(test)]
mod tests;
