//! HTTP/2 (RFC 9113) without I/O: frames, fields, and both ends of a connection.

mod bounds;
mod connection;
mod frame;
mod heard;
mod hpack;
mod huffman;
mod outbox;
mod plan;
mod serving;
mod shown;
mod streams;
#[cfg(test)]
mod tests;

pub(crate) use self::bounds::{Farewell, ServingBounds};
pub(crate) use self::connection::Connection;
pub(crate) use self::frame::PREFACE;
pub(crate) use self::heard::Heard;
pub(crate) use self::plan::ConnectionPlan;
pub(crate) use self::serving::Serving;
pub(crate) use self::shown::{Shown, shown};
