//! Control sessions: who may hold one, and the bytes below it.
//!
//! - [`secret`]: the token that both ends share, and the keys made from it;
//! - [`tls`]: sessions that only who has the token can open;
//! - [`authority`]: certificates of the proxies of a run;
//! - [`reach`]: the way to an agent's port, and what to say where there is none;
//! - [`resolve`]: from what a user calls the other end to an address;
//! - [`Channel`]: framed messages over TLS, or over a socket pair inside one machine.

pub mod authority;
mod channel;
pub mod reach;
pub mod resolve;
pub mod secret;
pub mod tls;

pub use channel::{Channel, ChannelError};
