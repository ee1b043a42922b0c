//! The tables of a run for a terminal. Columns that do not fit come in a further block.

mod block;
mod details;
mod mesh;
mod out;
mod page;
mod searches;

pub use self::details::Details;

use hopbench_analysis::Summary;

use self::page::text;
use crate::WIDTH;
use crate::campaign::format::SummaryFormat;

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
        text(summary, WIDTH)
    }
}
