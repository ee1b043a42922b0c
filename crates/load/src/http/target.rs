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

mod answer;
mod error;
mod page;
mod parser;
mod request;
#[cfg(test)]
mod tests;

pub use answer::{Body, Responder, TargetAnswer, refuse};
pub(crate) use answer::{Content, Decision};
pub use error::RequestError;
pub(super) use parser::MOST_HEAD_BYTES;
pub use parser::{CONTINUE, MOST_BODY_BYTES, RequestParser, RequestState, RequestStep};
pub use request::{Method, Request};
