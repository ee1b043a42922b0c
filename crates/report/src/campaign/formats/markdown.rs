//! Markdown for a wiki page or an issue: the answer, then a table a workload.

use crate::campaign::format::SummaryFormat;
use crate::campaign::topics;
use crate::document::markdown;
use crate::format::Format;

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat = Format {
    name: "markdown",
    summary: "for a wiki or an issue: the answer, then a table a workload",
    render: |summary| markdown(&topics::document(summary), 1),
};
