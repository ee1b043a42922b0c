//! What the formats make of whole records.

mod campaign;
mod comparison;
mod golden;
mod properties;
mod records;
mod wakeup;
