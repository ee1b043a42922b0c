//! Control sessions: who may hold one, and the bytes below it.
//!
//! - [`secret`]: the token that both ends of a session by hand share, and the keys made from it;
//! - [`keys`]: key pairs;
//! - [`conductor`]: the conductor of a run, and the permits that it signs;
//! - [`credentials`]: what an agent proves itself with, and whose sessions it takes;
//! - [`tls`]: sessions that only the agent's conductor can open;
//! - [`authority`]: certificates of the proxies of a run;
//! - [`reach`]: the way to an agent's port, and what to say where there is none;
//! - [`resolve`]: from what a user calls the other end to an address;
//! - [`Channel`]: framed messages over TLS, or over a socket pair inside one machine.

pub mod authority;
mod channel;
pub mod conductor;
pub mod credentials;
mod error;
pub mod keys;
pub mod reach;
pub mod resolve;
pub mod secret;
pub mod tls;

pub use channel::{Channel, ChannelError};
use hopbench_wire::hex;
pub use hopbench_wire::hex::HexError;
