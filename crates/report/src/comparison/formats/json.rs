//! The whole comparison as JSON: schema `hopbench.comparison/1`, one object.

use crate::comparison::{Comparison, ComparisonFormat};
use crate::text::json;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Json;

impl ComparisonFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "one object with every comparison (hopbench.comparison/1)"
    }

    fn render(&self, comparison: &Comparison, _all: bool) -> String {
        json::pretty(comparison)
    }
}
