//! The formats of whole runs, one file each.

mod csv;
mod html;
mod json;
mod markdown;
mod screen;
mod searches;
mod table;

use super::format::SummaryFormat;
use crate::format::named;

/// Every format of whole runs, in the order in which `hopbench list` prints them.
pub const SUMMARY_FORMATS: &[SummaryFormat] = &[
    screen::FORMAT,
    table::FORMAT,
    markdown::FORMAT,
    csv::FORMAT,
    json::FORMAT,
    html::FORMAT,
    searches::FORMAT,
];

/// The format of this name.
pub fn summary_format(name: &str) -> Option<&'static SummaryFormat> {
    named(SUMMARY_FORMATS, name)
}
