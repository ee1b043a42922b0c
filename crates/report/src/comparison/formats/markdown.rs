//! Markdown for a comment on a change: the changes as a table, the rest in lists.

use crate::comparison::page::document;
use crate::comparison::{Comparison, ComparisonFormat};
use crate::document::markdown;

/// More rows than this are counted, not listed: comments have a greatest length.
const MOST_ROWS: usize = 200;
/// The level of a comment's heading.
const LEVEL: usize = 3;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Markdown;

impl ComparisonFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "for a comment on a change"
    }

    fn render(&self, comparison: &Comparison, all: bool) -> String {
        markdown(&document(comparison, all, MOST_ROWS), LEVEL)
    }
}
