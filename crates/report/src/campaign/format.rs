//! The trait of formats of whole runs.

use hopbench_analysis::Summary;

/// One way to print a run.
pub trait SummaryFormat: Sync {
    /// Its name in flags; also the file's name.
    fn name(&self) -> &'static str;

    /// One line for `hopbench list`.
    fn summary(&self) -> &'static str;

    /// The run as text; ends with a line feed.
    fn render(&self, summary: &Summary) -> String;
}
