//! Figures against a swept parameter.

use hopbench_analysis::{CellSummary, WorkloadSummary};
use hopbench_model::point_label;

use super::axis::{self, Positions};
use super::chart::{Chart, Series, ends, saturated};

/// More lines than this cannot be told apart.
const MOST_LINES: usize = 12;
/// How the names of figures begin that are the CPU time of all that take part.
const CPU_SUM: &str = "cpu_per_";

/// The figures against one parameter, a line a path and setting of the other parameters.
pub(super) fn of(workload: &WorkloadSummary, parameter: &str) -> Vec<Chart> {
    let Some(x) = Positions::of(workload, parameter) else {
        return Vec::new();
    };
    let plotted = workload.figures.iter().filter(|figure| figure.plotted);
    let mut out: Vec<Chart> = plotted
        .map(|figure| {
            // What the latency of a saturated path says is the length of the trial.
            let is_shown = |cell: &CellSummary| !figure.is_latency || cell.saturated().is_none();
            let value =
                |cell: &CellSummary| cell.figure(figure.name).filter(|_| is_shown(cell)).map(ends);
            let mut chart = sweep(workload, parameter, &x, (figure.label, figure.name), &value);
            if figure.is_latency {
                chart.leave_out(&saturated(workload));
            }
            chart
        })
        .collect();
    if let Some(sum) = workload.figures.iter().find(|figure| figure.name.starts_with(CPU_SUM)) {
        let proxies =
            workload.figures.iter().any(|figure| figure.cpu && figure.name.starts_with("proxy_"));
        let who = if proxies { "both ends and proxies" } else { "both ends" };
        let label = format!("{}, {who}", sum.label);
        let value = |cell: &CellSummary| cell.figure(sum.name).map(ends);
        out.push(sweep(workload, parameter, &x, (&label, sum.name), &value));
    }
    out.retain(|chart| !chart.series.is_empty());
    out
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
    for cell in workload.cells.iter().filter(|cell| !cell.is_twin) {
        let (Some(at), Some((y, low, high))) = (x.of_cell(cell, parameter), value(cell)) else {
            continue;
        };
        let mut others = cell.point.clone();
        others.remove(parameter);
        let line = if others.is_empty() {
            cell.path.clone()
        } else {
            format!("{} {}", cell.path, point_label(&others))
        };
        match lines.iter().position(|series| series.name == line) {
            Some(known) => lines[known].points.push((at, y, low, high)),
            None if lines.len() < MOST_LINES => {
                // With several settings a path, its colour cannot tell them apart.
                let colour = if others.is_empty() { cell.path_index } else { lines.len() };
                lines.push(Series {
                    name: line,
                    colour,
                    points: vec![(at, y, low, high)],
                    ..Series::default()
                });
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
        left_out: if left_out > 0 {
            format!("The first {MOST_LINES} lines.")
        } else {
            String::new()
        },
    }
}
