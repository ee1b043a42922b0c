//! Values and texts: figures as people write and read them, sweeps, and texts for a screen.

pub mod number;
pub mod printable;
mod sweep;
mod time;
pub mod units;

pub use sweep::{Scale, Sweep};
pub use time::{Nanos, SECOND};
