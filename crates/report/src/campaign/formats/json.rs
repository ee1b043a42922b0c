//! The whole summary as JSON: schema `hopbench.summary/1`, one object.

use crate::campaign::format::SummaryFormat;
use crate::format::Format;
use crate::text::json;

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat = Format {
    name: "json",
    summary: "one object with every figure, interval and comparison (hopbench.summary/1)",
    render: json::pretty,
};
