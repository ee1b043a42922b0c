//! HTTP/2 (RFC 9113) without I/O: frames, fields, and both ends of a connection.

mod answer;
mod bounds;
mod connection;
mod frame;
mod heard;
mod hpack;
mod outbox;
mod plan;
mod serving;
mod shown;
mod streams;
#[cfg(test)]
mod tests;

pub use self::bounds::{Farewell, ServingBounds};
pub use self::connection::Connection;
pub use self::frame::PREFACE;
pub use self::heard::{ConnectionError, Heard};
pub use self::hpack::HpackError;
pub use self::plan::ConnectionPlan;
pub use self::serving::Serving;
pub(crate) use self::serving::is_of_http_1;
pub(crate) use self::shown::{Shown, shown};
pub use self::streams::OpenBody;
