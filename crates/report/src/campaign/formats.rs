//! The formats of whole runs, one file each.

mod csv;
mod html;
mod json;
mod markdown;
mod screen;
mod searches;
mod table;

use super::format::SummaryFormat;

/// Every format of whole runs, in the order in which `hopbench list` prints them.
pub const SUMMARY_FORMATS: &[&dyn SummaryFormat] = &[
    &screen::OneScreen,
    &table::Table,
    &markdown::Markdown,
    &csv::Csv,
    &json::Json,
    &html::Html,
    &searches::Searches,
];

/// The format of this name.
pub fn summary_format(name: &str) -> Option<&'static dyn SummaryFormat> {
    SUMMARY_FORMATS.iter().copied().find(|format| format.name() == name)
}
