//! The tables of a run for a terminal. Columns that do not fit come in a further block.

use hopbench_analysis::Summary;

use crate::WIDTH;
use crate::campaign::format::SummaryFormat;
use crate::campaign::topics;
use crate::document::terminal;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Table;

impl SummaryFormat for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "all tables for a terminal: a table a workload, with the ratio to the baseline"
    }

    fn render(&self, summary: &Summary) -> String {
        terminal(&topics::document(summary), WIDTH)
    }
}
