//! Values and texts: sizes, rates and times as people write them, sweeps, and texts for a screen.

pub mod printable;
mod sweep;
mod time;
pub mod units;

pub use sweep::{Scale, Sweep};
pub use time::{Nanos, SECOND};
