//! Formats of records.

mod campaign;
mod comparison;
mod golden;
mod properties;
mod records;
mod wakeup;
