//! The formats that are text: one file each, and one line in `FORMATS`.

mod h2load;
mod hey;
mod netperf;
mod ping;
mod qperf;
mod sockperf;
mod wrk;
mod wrk2;

use hopbench_model::Problem;

use crate::reading::Text;
use crate::stated::Stated;

/// Every format, in the order in which they are tried.
pub(super) const FORMATS: &[Format] = &[
    // Where wrk2 says that it is one, wrk would be wrong.
    format("wrk2", wrk2::is_it, wrk2::read),
    format("wrk", wrk::is_it, wrk::read),
    format("hey", hey::is_it, hey::read),
    format("h2load", h2load::is_it, h2load::read),
    format("sockperf", sockperf::is_it, sockperf::read),
    format("qperf", qperf::is_it, qperf::read),
    format("netperf", netperf::is_it, netperf::read),
    format("ping", ping::is_it, ping::read),
];

/// A format.
pub(super) struct Format {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// Whether a file is of this format.
    pub(super) is_it: fn(&Text<'_>) -> bool,
    /// What a file states.
    pub(super) read: fn(&Text<'_>) -> Result<Stated, Problem>,
}

const fn format(
    tool: &'static str,
    is_it: fn(&Text<'_>) -> bool,
    read: fn(&Text<'_>) -> Result<Stated, Problem>,
) -> Format {
    Format { tool, is_it, read }
}
