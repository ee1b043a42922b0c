//! The whole comparison as JSON: schema `hopbench.comparison/1`, one object.

use crate::comparison::format::ComparisonFormat;
use crate::format::Format;
use crate::text::json;

/// The format; see the [module](self).
pub(super) const FORMAT: ComparisonFormat = Format {
    name: "json",
    summary: "one object with every comparison (hopbench.comparison/1)",
    render: |comparison, _| json::pretty(comparison),
};
