//! Memory.

pub(super) mod connections;
pub(super) mod idle;
