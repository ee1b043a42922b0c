//! The format of a comparison.

use super::Comparison;
use crate::format::Format;

/// Prints a comparison as text, which ends with a line feed. The flag: also the figures of which no
/// difference is called, where a format leaves them out otherwise.
pub type ComparisonFormat = Format<fn(&Comparison, bool) -> String>;
