//! The protocol.
pub mod message;
pub use message::{FromAgent, Hello, Prepare, Role, ToAgent, PROTOCOL};
