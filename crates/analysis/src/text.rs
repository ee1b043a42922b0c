//! Texts for people that several modules share: intervals, columns in one unit, loads, names of
//! cells.

pub(crate) mod cell_name;
mod clock;
pub mod interval_text;
pub mod limit_text;
pub(crate) mod listing;
pub mod load_text;
mod load_unit;
mod rate_unit;
mod run_text;
pub mod scale;

pub use self::clock::seconds_between;
pub use self::load_text::broken_text;
pub use self::load_unit::{LoadUnit, rate_text};
pub use self::rate_unit::RateUnit;
pub use self::run_text::{status, time};
pub use self::scale::Scale;
