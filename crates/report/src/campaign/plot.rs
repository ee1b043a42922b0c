//! What is plotted: data for charts, in the figures' own units. A page's script draws them.

use serde::Serialize;

use super::summary::{CellSummary, Estimate, FigureSummary, Summary, WorkloadSummary};
use super::{grid, point};

/// More lines than this cannot be told apart.
const MOST_LINES: usize = 12;
/// More bars than this make a list, not a picture.
const MOST_BARS: usize = 24;
/// More ticks than this do not fit under a plot on a phone.
const MOST_TICKS: usize = 9;
/// A figure whose values differ by more than this is plotted on a logarithmic axis.
const WIDE: f64 = 8.0;

/// One chart.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// The canvas's id.
    pub(crate) id: String,
    /// `line` or `bar`.
    pub(crate) kind: &'static str,
    /// What it shows.
    pub(crate) title: String,
    /// The axis that the reader chose: a parameter, nines.
    pub(crate) x: Axis,
    /// The axis of the figure.
    pub(crate) y: Axis,
    /// Names of the bars.
    pub(crate) categories: Vec<String>,
    /// Whether bars of one category stand on each other.
    pub(crate) stacked: bool,
    /// The lines, or the parts of the bars.
    pub(crate) series: Vec<Series>,
    /// What is left out; empty when nothing is.
    #[serde(skip)]
    pub(crate) left_out: String,
}

/// An axis.
#[derive(Debug, Serialize, Default)]
pub(crate) struct Axis {
    /// What stands beside it.
    pub(crate) label: String,
    /// The unit of its values: `ns`, `bit/s`, `/s`, `ratio` or nothing.
    pub(crate) unit: &'static str,
    /// Whether it is logarithmic.
    pub(crate) log: bool,
    /// Where its ticks are, if that is not the script's choice.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// One line, or one part of every bar.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    /// What the legend says.
    pub(crate) name: String,
    /// Its colour's number: that of the path in all charts.
    pub(crate) colour: usize,
    /// x (or the bar's index), y, and the ends of its interval.
    pub(crate) points: Vec<(f64, f64, Option<f64>, Option<f64>)>,
}

/// The unit of a figure by its name.
fn unit(name: &str) -> &'static str {
    if name.ends_with("bits_per_s") {
        "bit/s"
    } else if name.ends_with("_per_s") {
        "/s"
    } else if name.ends_with("_ns") {
        "ns"
    } else if name.ends_with("_ratio") {
        "ratio"
    } else {
        ""
    }
}

/// The charts of a workload: its swept parameters, or bars where nothing is swept; and its distributions.
pub(crate) fn charts(summary: &Summary, number: usize, workload: &WorkloadSummary) -> Vec<Chart> {
    let mut out = Vec::new();
    for parameter in &workload.parameters {
        out.extend(sweeps(workload, parameter));
    }
    if workload.parameters.is_empty() {
        out.extend(bars(workload));
    }
    out.extend(distributions(summary, workload));
    for (index, chart) in out.iter_mut().enumerate() {
        chart.id = format!("chart-{number}-{index}");
    }
    out
}

/// The figures against one parameter, a line a path and setting of the other parameters.
fn sweeps(workload: &WorkloadSummary, parameter: &str) -> Vec<Chart> {
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
        let label = first.label.trim_start_matches("client ").trim_start_matches("server ");
        out.push(sweep(workload, parameter, &x, (&format!("{label}, both ends"), first.name), &|cell| {
            cpu(workload, cell).map(|ns| (ns, None, None))
        }));
    }
    out.retain(|chart| !chart.series.is_empty());
    out
}

/// CPU time of both ends for a unit of work, ns.
fn cpu(workload: &WorkloadSummary, cell: &CellSummary) -> Option<f64> {
    let parts = workload.figures.iter().filter(|figure| figure.cpu);
    parts.map(|figure| Some(cell.figure(figure.name)?.median)).sum()
}

type Value<'a> = dyn Fn(&CellSummary) -> Option<(f64, Option<f64>, Option<f64>)> + 'a;

fn ends(figure: &Estimate) -> (f64, Option<f64>, Option<f64>) {
    (figure.median, figure.low, figure.high)
}

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
            if others.is_empty() { cell.path.clone() } else { format!("{} {}", cell.path, point::label(&others)) };
        match lines.iter().position(|series| series.name == line) {
            Some(known) => lines[known].points.push((at, y, low, high)),
            None if lines.len() < MOST_LINES => {
                // With several settings a path, its colour cannot tell them apart.
                let colour = if others.is_empty() { cell.path_index } else { lines.len() };
                lines.push(Series { name: line, colour, points: vec![(at, y, low, high)] });
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
        y: y_axis(label, name, &lines),
        categories: Vec::new(),
        stacked: false,
        series: lines,
        left_out: if left_out > 0 { format!("The first {MOST_LINES} lines.") } else { String::new() },
    }
}

fn y_axis(label: &str, name: &str, lines: &[Series]) -> Axis {
    let values = || lines.iter().flat_map(|series| &series.points).map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    Axis { label: label.to_owned(), unit: unit(name), log: low > 0.0 && high / low > WIDE, ticks: Vec::new() }
}

/// Where the values of a parameter stand on the axis.
struct Positions {
    /// Positions with the values as they were written, ascending.
    at: Vec<(f64, String)>,
    log: bool,
    /// Whether the values are words, which stand side by side.
    words: bool,
}

impl Positions {
    /// `None` when the parameter has one value only.
    fn of(workload: &WorkloadSummary, parameter: &str) -> Option<Self> {
        let mut values: Vec<_> = Vec::new();
        for value in workload.cells.iter().filter_map(|cell| cell.point.get(parameter)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.len() < 2 {
            return None;
        }
        let numbers: Option<Vec<f64>> = values.iter().map(|value| point::number(value)).collect();
        let texts = values.iter().map(|value| point::text(value));
        let Some(numbers) = numbers else {
            let at = texts.enumerate().map(|(index, text)| (index as f64, text)).collect();
            return Some(Self { at, log: false, words: true });
        };
        let mut at: Vec<_> = numbers.into_iter().zip(texts).collect();
        at.sort_by(|a, b| a.0.total_cmp(&b.0));
        let log = geometric(&at.iter().map(|(value, _)| *value).collect::<Vec<_>>());
        Some(Self { at, log, words: false })
    }

    fn of_cell(&self, cell: &CellSummary, parameter: &str) -> Option<f64> {
        let value = cell.point.get(parameter)?;
        if !self.words {
            return point::number(value);
        }
        let text = point::text(value);
        self.at.iter().find(|(_, known)| *known == text).map(|(at, _)| *at)
    }

    fn axis(&self, parameter: &str) -> Axis {
        let step = self.at.len().div_ceil(MOST_TICKS);
        let ticks = self.at.iter().step_by(step).cloned().collect();
        Axis { label: parameter.to_owned(), unit: "", log: self.log, ticks }
    }
}

/// Whether ascending values are spread by factors rather than by steps.
fn geometric(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return false;
    };
    if *first <= 0.0 || last / first < 8.0 {
        return false;
    }
    let middle = values[values.len() / 2];
    values.len() == 2
        || (middle.ln() - (first * last).sqrt().ln()).abs() < (middle.ln() - f64::midpoint(*first, *last).ln()).abs()
}

/// The main figure of every path, and beside it what it cost.
fn bars(workload: &WorkloadSummary) -> Vec<Chart> {
    let Some(main) = workload.main_figure() else {
        return Vec::new();
    };
    let cells: Vec<&CellSummary> =
        workload.cells.iter().filter(|cell| cell.figure(main.name).is_some()).take(MOST_BARS).collect();
    let left_out =
        if workload.cells.len() > MOST_BARS { format!("The first {MOST_BARS} paths.") } else { String::new() };
    let chart = |title: String, label: &str, name: &str, stacked: bool, series: Vec<Series>| Chart {
        id: String::new(),
        kind: "bar",
        title,
        x: Axis::default(),
        y: Axis { label: label.to_owned(), unit: unit(name), log: false, ticks: Vec::new() },
        categories: cells.iter().map(|cell| cell.path.clone()).collect(),
        stacked,
        series,
        left_out: left_out.clone(),
    };
    let series = |figure: &FigureSummary, name: &str, colour: usize| {
        let bar = |(index, cell): (usize, &&CellSummary)| {
            let (y, low, high) = cell.figure(figure.name).map(ends)?;
            Some((index as f64, y, low, high))
        };
        Series { name: name.to_owned(), colour, points: cells.iter().enumerate().filter_map(bar).collect() }
    };
    let speed = chart(main.label.to_owned(), main.label, main.name, false, vec![series(main, main.label, 0)]);
    let mut out = vec![speed];
    let costs: Vec<&FigureSummary> = workload.figures.iter().filter(|figure| figure.cpu).collect();
    if let Some(first) = costs.first() {
        let label = first.label.trim_start_matches("client ").trim_start_matches("server ");
        let parts = costs.iter().enumerate().map(|(index, figure)| {
            let end = figure.label.split(' ').next().unwrap_or_default();
            // Colours that are no path's.
            series(figure, end, 6 + index)
        });
        out.push(chart(label.to_owned(), label, first.name, true, parts.collect()));
    }
    out
}

/// The latency of every path over its percentiles, a chart a point.
fn distributions(summary: &Summary, workload: &WorkloadSummary) -> Vec<Chart> {
    let mut out: Vec<Chart> = Vec::new();
    for distribution in &workload.distributions {
        let latency = match (workload.kind.as_str(), distribution.latency) {
            ("ping", _) => "RTT",
            (_, name) => name.trim_end_matches("_ns"),
        };
        let at = if distribution.point.is_empty() { String::new() } else { format!(" at {}", distribution.point) };
        let title = format!("{latency}: distribution over all rounds{at}");
        let index = match out.iter().position(|chart| chart.title == title) {
            Some(index) => index,
            None => {
                out.push(nines(title, latency));
                out.len() - 1
            }
        };
        let curve = &distribution.curve;
        out[index].series.push(Series {
            name: distribution.path.clone(),
            colour: summary.paths.iter().position(|path| path.name == distribution.path).unwrap_or_default(),
            points: curve.iter().map(|(nines, ns)| (*nines, *ns as f64, None, None)).collect(),
        });
    }
    out
}

fn nines(title: String, latency: &str) -> Chart {
    let ticks = ["90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"].iter().zip(1..);
    let ticks = ticks.map(|(text, nines)| (f64::from(nines), (*text).to_owned()));
    let ticks = std::iter::once((2f64.log10(), "50 %".to_owned())).chain(ticks).collect();
    Chart {
        id: String::new(),
        kind: "line",
        title,
        x: Axis { label: "share of all samples at or below".to_owned(), unit: "nines", log: false, ticks },
        y: Axis { label: latency.to_owned(), unit: "ns", log: true, ticks: Vec::new() },
        categories: Vec::new(),
        stacked: false,
        series: Vec::new(),
        left_out: String::new(),
    }
}

/// What a chart says, for those who cannot see it.
pub(crate) fn spoken(chart: &Chart, workload: &WorkloadSummary) -> String {
    let names: Vec<_> = match chart.kind {
        "bar" => chart.categories.iter().map(String::as_str).collect(),
        _ => chart.series.iter().map(|series| series.name.as_str()).collect(),
    };
    let columns = grid::columns(workload).len();
    format!(
        "Chart of {}: {} for {}. The table below has its figures in {columns} columns.",
        workload.name,
        chart.title,
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_told_from_steps() {
        assert!(geometric(&[1.0, 64.0, 4096.0, 262_144.0]));
        assert!(geometric(&[8.0, 16.0, 32.0, 64.0, 128.0, 256.0]));
        assert!(geometric(&[100.0, 500.0, 1000.0, 2000.0, 4000.0]));
        assert!(!geometric(&[100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0, 900.0]));
        assert!(!geometric(&[0.0, 1.0, 10.0, 100.0]), "there is no place for 0");
        assert!(!geometric(&[1.0, 2.0, 4.0]), "too narrow to need it");
    }
}
