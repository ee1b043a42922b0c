//! Figures against a swept parameter.

use super::axis::{self, Positions};
use super::{Chart, Series, cpu_label, ends};
use crate::campaign::summary::{CellSummary, FigureSummary, WorkloadSummary};
use hopbench_model::point_label;

/// More lines than this cannot be told apart.
const MOST_LINES: usize = 12;

/// The figures against one parameter, a line a path and setting of the other parameters.
pub(super) fn of(workload: &WorkloadSummary, parameter: &str) -> Vec<Chart> {
    let Some(x) = Positions::of(workload, parameter) else {
        return Vec::new();
    };
    let plotted = workload.figures.iter().filter(|figure| figure.plotted);
    let mut out: Vec<Chart> = plotted
        .map(|figure| {
            let value = |cell: &CellSummary| cell.figure(figure.name).map(ends);
            sweep(workload, parameter, &x, (figure.label, figure.name), &value)
        })
        .collect();
    if let Some(first) = workload.figures.iter().find(|figure| figure.cpu) {
        let proxies = workload.figures.iter().any(|figure| figure.cpu && is_of_proxies(figure));
        let who = if proxies { "both ends and proxies" } else { "both ends" };
        let label = format!("{}, {who}", cpu_label(first.label));
        out.push(sweep(workload, parameter, &x, (&label, first.name), &|cell| {
            cpu(workload, cell).map(|ns| (ns, None, None))
        }));
    }
    out.retain(|chart| !chart.series.is_empty());
    out
}

/// CPU time of both ends and of the path's proxies for a unit of work, ns.
fn cpu(workload: &WorkloadSummary, cell: &CellSummary) -> Option<f64> {
    let parts = workload.figures.iter().filter(|figure| figure.cpu);
    let spent = |figure: &FigureSummary| match cell.figure(figure.name) {
        // A path without proxies spends nothing in them.
        None if is_of_proxies(figure) => Some(0.0),
        estimate => Some(estimate?.median),
    };
    parts.map(spent).sum()
}

fn is_of_proxies(figure: &FigureSummary) -> bool {
    figure.name.starts_with("proxy_")
}

type Value<'a> = dyn Fn(&CellSummary) -> Option<(f64, Option<f64>, Option<f64>)> + 'a;

fn sweep(
    workload: &WorkloadSummary,
    parameter: &str,
    x: &Positions,
    (label, name): (&str, &str),
    value: &Value<'_>,
) -> Chart {
    let mut lines: Vec<Series> = Vec::new();
    let mut left_out = 0;
    for cell in &workload.cells {
        let (Some(at), Some((y, low, high))) = (x.of_cell(cell, parameter), value(cell)) else {
            continue;
        };
        let mut others = cell.point.clone();
        others.remove(parameter);
        let line =
            if others.is_empty() { cell.path.clone() } else { format!("{} {}", cell.path, point_label(&others)) };
        match lines.iter().position(|series| series.name == line) {
            Some(known) => lines[known].points.push((at, y, low, high)),
            None if lines.len() < MOST_LINES => {
                // With several settings a path, its colour cannot tell them apart.
                let colour = if others.is_empty() { cell.path_index } else { lines.len() };
                lines.push(Series { name: line, colour, points: vec![(at, y, low, high)], ..Series::default() });
            }
            None => left_out += 1,
        }
    }
    lines.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    Chart {
        id: String::new(),
        kind: "line",
        title: format!("{label} against {parameter}"),
        x: x.axis(parameter),
        y: axis::of_figure(label, name, &lines),
        categories: Vec::new(),
        stacked: false,
        series: lines,
        left_out: if left_out > 0 { format!("The first {MOST_LINES} lines.") } else { String::new() },
    }
}
