//! Bars: every path of a workload that sweeps nothing.

use hopbench_analysis::{CellSummary, FigureSummary, WorkloadSummary};

use super::axis;
use super::chart::{Axis, Chart, Series, cpu_label, ends, saturated};

/// More bars than this make a list, not a picture.
const MOST_BARS: usize = 24;

/// The main figure of every path, and beside it what it cost.
pub(super) fn of(workload: &WorkloadSummary) -> Vec<Chart> {
    let Some(main) = workload.main_figure() else {
        return Vec::new();
    };
    let shown = |cell: &&CellSummary| !cell.is_twin && cell.figure(main.name).is_some();
    let mut cells: Vec<&CellSummary> = workload.cells.iter().filter(shown).collect();
    let left_out = match cells.len() {
        n if n > MOST_BARS => format!("The first {MOST_BARS} of {n} paths."),
        _ => String::new(),
    };
    cells.truncate(MOST_BARS);
    let chart =
        |title: String, label: &str, name: &str, stacked: bool, series: Vec<Series>| Chart {
            id: String::new(),
            kind: "bar",
            title,
            x: Axis::default(),
            y: Axis { label: label.to_owned(), unit: axis::unit(name), ..Axis::default() },
            categories: cells.iter().map(|cell| cell.path.clone()).collect(),
            stacked,
            series,
            left_out: left_out.clone(),
        };
    let series = |figure: &FigureSummary, name: &str, colour: usize| {
        let bar = |(index, cell): (usize, &&CellSummary)| {
            if figure.is_latency && cell.saturated().is_some() {
                return None;
            }
            let (y, low, high) = cell.figure(figure.name).map(ends)?;
            Some((index as f64, y, low, high))
        };
        Series {
            name: name.to_owned(),
            colour,
            points: cells.iter().enumerate().filter_map(bar).collect(),
            ..Series::default()
        }
    };
    let mut speed = chart(
        main.label.to_owned(),
        main.label,
        main.name,
        false,
        vec![series(main, main.label, 0)],
    );
    if main.is_latency {
        speed.leave_out(&saturated(workload));
    }
    let mut out = vec![speed];
    let costs: Vec<&FigureSummary> = workload.figures.iter().filter(|figure| figure.cpu).collect();
    if let Some(first) = costs.first() {
        let label = cpu_label(first.label);
        let parts = costs.iter().enumerate().map(|(index, figure)| {
            let end = figure.label.split(' ').next().unwrap_or_default();
            // Colours that are no path's.
            series(figure, end, 6 + index)
        });
        out.push(chart(label.to_owned(), label, first.name, true, parts.collect()));
    }
    out
}
