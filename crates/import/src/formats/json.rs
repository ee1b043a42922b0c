//! The formats that are JSON: one file each, and one line in `FORMATS`.

mod fortio;
mod iperf3;
mod k6;
mod nighthawk;
mod oha;

use hopbench_model::Problem;

use crate::reading::Json;
use crate::stated::Stated;

/// Every format, in the order in which they are tried.
pub(super) const FORMATS: &[Format] = &[
    format("iperf3", iperf3::is_it, iperf3::read),
    format("fortio", fortio::is_it, fortio::read),
    format("oha", oha::is_it, oha::read),
    format("k6", k6::is_it, k6::read),
    format("nighthawk", nighthawk::is_it, nighthawk::read),
];

/// A format.
pub(super) struct Format {
    /// The tool's name.
    pub(super) tool: &'static str,
    /// Whether a file is of this format.
    pub(super) is_it: fn(&Json<'_>) -> bool,
    /// What a file states.
    pub(super) read: fn(&Json<'_>) -> Result<Stated, Problem>,
}

const fn format(
    tool: &'static str,
    is_it: fn(&Json<'_>) -> bool,
    read: fn(&Json<'_>) -> Result<Stated, Problem>,
) -> Format {
    Format { tool, is_it, read }
}
