//! Control sessions: who may hold one, and the bytes below it.
//!
//! - [`secret`]: the token that both ends share, and the keys made from it;
//! - [`tls`]: sessions that only who has the token can open;
//! - [`reach`]: the way to an agent's port, and what to say where there is none;
//! - [`Channel`]: framed messages over TLS, or over a socket pair inside one machine.

mod channel;
pub mod reach;
pub mod secret;
pub mod tls;

pub use channel::{Channel, ChannelError};
