//! One end of a path: the process that takes orders from a conductor and carries flows.
//!
//! - [`secret`]: the token that both ends share, and the keys made from it;
//! - [`tls`]: control sessions that only who has the token can open.

pub mod secret;
pub mod tls;
