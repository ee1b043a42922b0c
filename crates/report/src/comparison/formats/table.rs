//! The comparison for a terminal: 80 columns, a line for each figure that changed.

use crate::WIDTH;
use crate::comparison::page::document;
use crate::comparison::{Comparison, ComparisonFormat};
use crate::document::terminal;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Table;

impl ComparisonFormat for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "for a terminal: what changed, worst first"
    }

    fn render(&self, comparison: &Comparison, all: bool) -> String {
        terminal(&document(comparison, all, usize::MAX), WIDTH)
    }
}
