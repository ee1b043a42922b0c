//! CPUs, limits and usage of this process.

pub mod cpu;
pub mod limits;
pub mod usage;
