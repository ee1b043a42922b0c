//! Values and texts: figures as people write and read them, sweeps, and texts for a screen.

pub mod number;
pub mod printable;
mod rate;
pub(crate) mod redacted;
mod sweep;
mod time;
pub mod units;

pub use rate::Rate;
pub use sweep::{Scale, Sweep};
pub use time::{Nanos, SECOND};

/// Whether a value is its type's default (`false`, 0, empty), for serde's `skip_serializing_if`.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
