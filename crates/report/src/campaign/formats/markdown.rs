//! Markdown for a wiki page or an issue: the answer, then a table a workload.

use hopbench_analysis::Summary;

use crate::campaign::format::SummaryFormat;
use crate::campaign::topics;
use crate::document::markdown;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Markdown;

impl SummaryFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "for a wiki or an issue: the answer, then a table a workload"
    }

    fn render(&self, summary: &Summary) -> String {
        markdown(&topics::document(summary), 1)
    }
}
