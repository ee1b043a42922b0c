//! The whole summary as JSON: schema `hopbench.summary/1`, one object.

use crate::campaign::format::SummaryFormat;
use crate::text::json;
use hopbench_analysis::Summary;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Json;

impl SummaryFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "one object with every figure, interval and comparison (hopbench.summary/1)"
    }

    fn render(&self, summary: &Summary) -> String {
        json::pretty(summary)
    }
}
