//! What the formats make of whole records.

mod golden;
mod properties;
mod records;
mod wakeup;
