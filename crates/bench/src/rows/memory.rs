//! Memory of our processes.

pub(super) mod connections;
pub(super) mod idle;
