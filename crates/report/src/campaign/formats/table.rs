//! The tables of a run for a terminal. Columns that do not fit come in a further block.

use crate::WIDTH;
use crate::campaign::format::SummaryFormat;
use crate::campaign::topics;
use crate::document::terminal;
use crate::format::Format;

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat = Format {
    name: "table",
    summary: "all tables for a terminal: a table a workload, with the ratio to the baseline",
    render: |summary| terminal(&topics::document(summary), WIDTH),
};
