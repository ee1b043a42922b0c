//! The trait of formats of comparisons.

use super::Comparison;

/// One way to print a comparison.
pub trait ComparisonFormat: Sync {
    /// Its name in flags; also the file's name.
    fn name(&self) -> &'static str;

    /// One line for help.
    fn summary(&self) -> &'static str;

    /// The comparison as text, which ends with a line feed. With `all` also the figures of which no
    /// difference is called, where a format leaves them out otherwise.
    fn render(&self, comparison: &Comparison, all: bool) -> String;
}
