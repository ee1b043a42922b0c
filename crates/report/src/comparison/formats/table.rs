//! The comparison for a terminal: 80 columns, a line for each figure that changed.

use crate::WIDTH;
use crate::comparison::format::ComparisonFormat;
use crate::comparison::page::document;
use crate::document::terminal;
use crate::format::Format;

/// The format; see the [module](self).
pub(super) const FORMAT: ComparisonFormat = Format {
    name: "table",
    summary: "for a terminal: what changed, worst first",
    render: |comparison, all| terminal(&document(comparison, all, usize::MAX), WIDTH),
};
