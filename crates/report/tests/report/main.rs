//! What the formats make of whole records.

mod campaign;
mod golden;
mod properties;
mod records;
mod wakeup;
