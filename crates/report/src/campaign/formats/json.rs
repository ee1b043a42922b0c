//! The whole summary for programs: schema `hopbench.summary/1`, one object.

use hopbench_analysis::Summary;

use crate::campaign::format::SummaryFormat;

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
        // Every key is a string and every figure finite: there is nothing that cannot be written.
        let mut out = serde_json::to_string_pretty(summary).unwrap_or_default();
        out.push('\n');
        out
    }
}
