//! The formats of comparisons, one file each.

mod json;
mod junit;
mod markdown;
mod table;

use super::ComparisonFormat;

/// Every format of comparisons.
pub const COMPARISON_FORMATS: &[&dyn ComparisonFormat] =
    &[&table::Table, &markdown::Markdown, &json::Json, &junit::Junit];

/// The format of this name.
pub fn comparison_format(name: &str) -> Option<&'static dyn ComparisonFormat> {
    COMPARISON_FORMATS.iter().copied().find(|format| format.name() == name)
}
