//! The answer alone, as a terminal of 80 columns and 40 lines shows it.

use crate::campaign::answer::Screen;
use crate::campaign::format::SummaryFormat;
use crate::format::Format;

/// The format; see the [module](self).
pub(super) const FORMAT: SummaryFormat = Format {
    name: "screen",
    summary: "the answer on one screen: each path beside the baseline, costs, limits, notes",
    render: |summary| Screen::default().text(summary),
};
