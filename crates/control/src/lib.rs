//! Control sessions: who may hold one, and the bytes below it.
//!
//! - [`secret`]: the token that both ends share, and the keys made from it;
//! - [`tls`]: sessions that only who has the token can open;
//! - [`Channel`]: framed messages over TLS, or over a socket pair inside one machine.

mod channel;
pub mod secret;
pub mod tls;

pub use channel::{Channel, ChannelError};
