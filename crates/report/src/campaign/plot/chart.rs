//! The parts of every chart.

use hopbench_analysis::{Estimate, Spread};

pub(super) use crate::document::{Axis, Chart, Point, Series};

/// A value with the ends of its interval.
pub(super) fn ends(figure: &Estimate) -> (f64, Option<f64>, Option<f64>) {
    let Spread { median, low, high, .. } = figure.spread;
    (median, low, high)
}

/// What CPU time for a unit of work is called, whichever end spent it: `CPU/KiB`.
pub(super) fn cpu_label(label: &str) -> &str {
    label.trim_start_matches("client ").trim_start_matches("server ")
}
