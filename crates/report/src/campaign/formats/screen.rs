//! The answer alone, as a terminal of 80 columns and 40 lines shows it.

use hopbench_analysis::Summary;

use crate::campaign::answer::Screen;
use crate::campaign::format::SummaryFormat;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct OneScreen;

impl SummaryFormat for OneScreen {
    fn name(&self) -> &'static str {
        "screen"
    }

    fn summary(&self) -> &'static str {
        "the answer on one screen: each path beside the baseline, costs, limits, notes"
    }

    fn render(&self, summary: &Summary) -> String {
        Screen::default().text(summary)
    }
}
