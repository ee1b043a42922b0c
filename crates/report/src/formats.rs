//! The formats of records, one file each.

mod json;
mod text;

use crate::format::{RecordFormat, named};

/// Every format, in the order in which `hopbench list formats` prints them.
pub const FORMATS: &[RecordFormat] = &[text::FORMAT, json::FORMAT];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static RecordFormat> {
    named(FORMATS, name)
}
