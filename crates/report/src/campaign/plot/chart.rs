//! The parts of every chart.

use hopbench_analysis::{CellSummary, Estimate, Spread, WorkloadSummary};

pub(super) use crate::document::{Axis, Chart, Point, Series};

/// A value with the ends of its interval.
pub(super) fn ends(figure: &Estimate) -> (f64, Option<f64>, Option<f64>) {
    let Spread { median, low, high, .. } = figure.spread;
    (median, low, high)
}

/// The cells of a workload that are saturated, whose latency is in no chart: `Not shown: both
/// rate=8000 saturated at 3909/s.`; empty without any.
pub(super) fn saturated(workload: &WorkloadSummary) -> String {
    let one = |cell: &CellSummary| {
        let text = [cell.path.as_str(), &cell.point_label, &cell.saturated()?];
        Some(text.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
    };
    let shown = workload.cells.iter().filter(|cell| !cell.is_twin);
    let texts: Vec<String> = shown.filter_map(one).collect();
    if texts.is_empty() { String::new() } else { format!("Not shown: {}.", texts.join(", ")) }
}

/// The label of CPU time for a unit of work, whichever end spent it: `CPU/KiB`.
pub(super) fn cpu_label(label: &str) -> &str {
    label.trim_start_matches("client ").trim_start_matches("server ")
}
