//! The formats of comparisons, one file each.

mod json;
mod junit;
mod markdown;
mod table;

use super::format::ComparisonFormat;
use crate::format::named;

/// Every format of comparisons.
pub const COMPARISON_FORMATS: &[ComparisonFormat] =
    &[table::FORMAT, markdown::FORMAT, json::FORMAT, junit::FORMAT];

/// The format of this name.
pub fn comparison_format(name: &str) -> Option<&'static ComparisonFormat> {
    named(COMPARISON_FORMATS, name)
}
