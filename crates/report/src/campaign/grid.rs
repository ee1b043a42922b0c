//! A workload's table, whatever prints it: which columns there are, in which unit, and the text of every value.

use super::scale::{self, Scale};
use super::summary::{CellSummary, Estimate, RatioSummary, WorkloadSummary};

/// A column of figures.
#[derive(Debug)]
pub(crate) struct Column {
    /// The figure's name.
    pub(crate) name: &'static str,
    /// What it is called.
    pub(crate) label: &'static str,
    /// How its values are printed.
    pub(crate) scale: Scale,
}

impl Column {
    /// The figure of a cell in this column.
    pub(crate) fn of<'a>(&self, cell: &'a CellSummary) -> Option<&'a Estimate> {
        cell.figure(self.name)
    }

    /// The median as text; empty where the cell has no such figure.
    pub(crate) fn median(&self, cell: &CellSummary) -> String {
        self.of(cell).map(|figure| self.scale.text(figure.median)).unwrap_or_default()
    }

    /// The ends of the interval as texts.
    pub(crate) fn interval(&self, cell: &CellSummary) -> Option<(String, String)> {
        let figure = self.of(cell)?;
        Some((self.scale.text(figure.low?), self.scale.text(figure.high?)))
    }
}

/// The columns of a workload.
pub(crate) fn columns(workload: &WorkloadSummary) -> Vec<Column> {
    let column = |figure: &super::FigureSummary| {
        let values = workload.cells.iter().filter_map(|cell| cell.figure(figure.name)).map(|f| f.median);
        Column { name: figure.name, label: figure.label, scale: Scale::of(figure.name, values) }
    };
    workload.figures.iter().map(column).collect()
}

/// The comparison of a cell's main figure with the baseline.
pub(crate) fn comparison<'a>(workload: &WorkloadSummary, cell: &'a CellSummary) -> Option<&'a RatioSummary> {
    cell.figure(workload.main_figure()?.name)?.ratio.as_ref()
}

/// A ratio as text: `0.620 [0.580, 0.660]`.
pub(crate) fn ratio(ratio: &RatioSummary) -> String {
    let median = scale::ratio(ratio.median);
    match ratio.low.zip(ratio.high) {
        Some((low, high)) => format!("{median} [{}, {}]", scale::ratio(low), scale::ratio(high)),
        None => median,
    }
}

/// Whether any cell is compared with a baseline.
pub(crate) fn compared(workload: &WorkloadSummary) -> bool {
    workload.cells.iter().any(|cell| comparison(workload, cell).is_some())
}
