//! The HTTP target as bytes: for `serve --http`, and for the server of a trial.
//!
//! | request | answer |
//! |---|---|
//! | `GET /?size=1KiB` | a body of that many bytes (at most 1 GiB) |
//! | `POST /`, `PUT /` | the body that came, with its type; with `size`, so many bytes instead |
//! | `?delay=5ms` | the same, this much later (at most 60 s) |
//! | `?stall=100ms&every=1s` | the same; who asks in a second's first 100 ms waits for their end |
//! | `?status=503` | the same with this status |
//! | `GET /healthz` | `ok` |
//!
//! Over HTTP/2 it answers calls of gRPC, too: those of docs/echo.proto, and of health.

mod answer;
mod call;
mod decision;
mod error;
mod page;
mod parser;
mod request;
#[cfg(test)]
mod tests;

pub use answer::{Body, Responder, TargetAnswer, refuse};
pub(crate) use call::refusal as call_refusal;
pub(crate) use decision::{CallAnswer, Content, Decision};
pub use error::RequestError;
pub(super) use parser::MOST_HEAD_BYTES;
pub use parser::{CONTINUE, MOST_BODY_BYTES, RequestParser, RequestState, RequestStep};
pub use request::{Method, Request};
