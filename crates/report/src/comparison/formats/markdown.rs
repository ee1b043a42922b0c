//! Markdown for a comment on a change: the changes as a table, the rest in lists.

use crate::comparison::format::ComparisonFormat;
use crate::comparison::page::document;
use crate::document::markdown;
use crate::format::Format;

/// More rows than this are counted, not listed: comments have a greatest length.
const MOST_ROWS: usize = 200;
/// The level of a comment's heading.
const LEVEL: usize = 3;

/// The format; see the [module](self).
pub(super) const FORMAT: ComparisonFormat = Format {
    name: "markdown",
    summary: "for a comment on a change",
    render: |comparison, all| markdown(&document(comparison, all, MOST_ROWS), LEVEL),
};
