//! HTTP as bytes: a client's requests and responses, and the answers of our own target.
//!
//! Nothing here does I/O, reads a clock or allocates for every request: bytes go in, decisions come
//! out.
//!
//! - client: [`Url`] → [`RequestTemplate`] (the bytes of one request) and [`ResponseParser`];
//! - server: [`RequestParser`] → [`Responder`], the HTTP target of `serve --http`.
//!
//! Both parsers take input in pieces of any size. They refuse messages whose end is ambiguous (RFC
//! 9112, section 6.3). A measurement that guesses where an answer ends is worth nothing.

mod chunked;
mod credential;
mod framing;
mod glance;
pub(crate) mod grpc;
pub mod h2;
mod head;
#[cfg(test)]
mod mutation;
mod request;
mod response;
mod target;
mod url;

pub use chunked::ChunkError;
pub use credential::{CREDENTIAL_FIELD, Credential};
pub use framing::FramingError;
pub use glance::{Glance, glance};
pub use grpc::CallEnd;
pub use request::{RequestSpec, RequestTemplate};
pub use response::{
    ResponseEnd, ResponseError, ResponseFlags, ResponseParser, ResponseState, ResponseStep,
};
pub use target::{
    Body, CONTINUE, MOST_BODY_BYTES, Method, Request, RequestError, RequestParser, RequestState,
    RequestStep, Responder, TargetAnswer, refuse,
};
pub(crate) use target::{CallAnswer, Content, Decision, call_refusal};
pub use url::{Url, UrlError};

/// The start of a text or of bytes as it may be shown in a message: at most 60 characters, controls
/// escaped.
fn excerpt(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(240)];
    hopbench_model::printable::excerpt(&String::from_utf8_lossy(start), 60)
}
