//! The format of a whole run.

use hopbench_analysis::Summary;

use crate::format::Format;

/// Prints a run as text, which ends with a line feed.
pub type SummaryFormat = Format<fn(&Summary) -> String>;
