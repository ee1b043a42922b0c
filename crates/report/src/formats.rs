//! The formats, one file each.

mod json;
mod text;

use crate::Format;

/// Every format, in the order in which `hopbench list formats` prints them.
pub const FORMATS: &[&dyn Format] = &[&text::Text, &json::Json];

/// The format of this name.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
