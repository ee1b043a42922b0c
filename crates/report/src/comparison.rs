//! The comparison of two runs in a format. Its sentences come from `hopbench_analysis::compare`.

mod format;
mod formats;
mod page;

pub use hopbench_analysis::Outcome;
pub use hopbench_analysis::compare::{
    Asked, Bound, BoundSummary, COMPARISON_SCHEMA, Case, CaseState, Comparison, Difference,
    LeftOut, Median, NotCompared, Row, RunSummary, Unlike, Values, compare, share_of,
};

pub use self::format::ComparisonFormat;
pub use self::formats::{COMPARISON_FORMATS, comparison_format};
