//! Access to an agent: permits, and sources of connections whose room is bounded.

mod permit;
mod source;

pub use permit::{Bounds, Permit, SignedPermit};
pub use source::{Source, makes_room};
