//! The figures of a workload as texts: its columns, their units, and every value.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{
    CONNECTING_ENDS, CellSummary, ComponentSummary, Estimate, FigureSummary, OUTLIER_MARK, Outcome,
    RatioSummary, Spread, WorkloadSummary,
};
use hopbench_model::BYPASSES_PROXY;
use hopbench_model::number::{counted, percentage, ratio as ratio_text};

use crate::document::{Cell, grouped};

/// A column of figures.
#[derive(Debug)]
pub(crate) struct Column {
    /// The figure's name.
    pub(crate) name: &'static str,
    /// What it is called.
    pub(crate) label: &'static str,
    /// The form of its values.
    pub(crate) scale: Scale,
}

impl Column {
    /// The figure of a cell in this column.
    pub(crate) fn of<'a>(&self, cell: &'a CellSummary) -> Option<&'a Estimate> {
        cell.figure(self.name)
    }

    /// The median with its interval, and with a mark where a round is far from the others.
    pub(crate) fn cell(&self, cell: &CellSummary) -> Cell {
        let Some(figure) = self.of(cell) else {
            return Cell::default();
        };
        let Spread { median, low, high, .. } = figure.spread;
        let text = |value| self.scale.text(value);
        let ends = low
            .zip(high)
            .map(|(low, high)| interval_text::of_figure(self.name, median, low, high, text));
        let shown = Cell::with_ends(text(median), ends);
        if figure.outliers.is_empty() {
            return shown;
        }
        let rounds: Vec<String> = figure.outliers.iter().map(u32::to_string).collect();
        let hint = format!("far from the others: round {}", rounds.join(", "));
        Cell { mark: OUTLIER_MARK, hint: hint.into(), ..shown }
    }
}

/// The columns of a workload.
pub(crate) fn columns(workload: &WorkloadSummary) -> Vec<Column> {
    columns_of(workload, &workload.figures)
}

/// Columns of these figures of a workload.
pub(crate) fn columns_of(workload: &WorkloadSummary, figures: &[FigureSummary]) -> Vec<Column> {
    let column = |figure: &FigureSummary| {
        let values = workload
            .cells
            .iter()
            .filter_map(|cell| cell.figure(figure.name))
            .map(|f| f.spread.median);
        let scale = Scale::asked(workload.rate_unit, figure.name, values);
        Column { name: figure.name, label: figure.label, scale }
    };
    figures.iter().map(column).collect()
}

/// A ratio with its interval: `0.620 [0.580, 0.660]`.
pub(crate) fn ratio(ratio: &RatioSummary) -> Cell {
    let Some(Spread { median, low, high, .. }) = ratio.spread else { return Cell::default() };
    Cell::with_ends(
        ratio_text(median),
        low.zip(high).map(|(low, high)| interval_text::of_ratio(median, low, high)),
    )
}

/// Whether any cell is compared with a baseline, or should have been.
pub(crate) fn compared(workload: &WorkloadSummary) -> bool {
    workload
        .cells
        .iter()
        .any(|cell| workload.comparison(cell).is_some() || !note(workload, cell).is_empty())
}

/// Whether any comparison with a baseline has a verdict that says something: with too few rounds
/// none does.
pub(crate) fn judged(workload: &WorkloadSummary) -> bool {
    let says = |ratio: &RatioSummary| {
        ratio.verdict.as_ref().is_some_and(|v| v.outcome != Outcome::TooFewRounds)
    };
    workload.cells.iter().any(|cell| workload.comparison(cell).is_some_and(says))
}

/// The text in place of a verdict in the row of the baseline's twin: `A/A: noise floor 1.2 %`;
/// `None` in all others.
pub(crate) fn floor(cell: &CellSummary, figure: Option<&Estimate>) -> Option<String> {
    if !cell.is_twin {
        return None;
    }
    Some(match figure.and_then(|figure| figure.ratio.as_ref()?.noise_floor) {
        Some(share) => format!("A/A: noise floor {} %", percentage(share)),
        None => "A/A: no noise floor".to_owned(),
    })
}

/// What is missing from the comparison of a cell's main figure, and what it leaves unsaid; empty
/// where there is nothing.
pub(crate) fn note<'a>(workload: &WorkloadSummary, cell: &'a CellSummary) -> &'a str {
    let figure = workload.main_figure().and_then(|main| cell.figure(main.name));
    figure.map_or("", |figure| figure.note.as_str())
}

/// The verdict on a cell's main figure, the noise floor, or that the baseline itself is saturated;
/// empty where there is none.
pub(crate) fn verdict(workload: &WorkloadSummary, cell: &CellSummary) -> String {
    let figure = workload.main_figure().and_then(|main| cell.figure(main.name));
    let verdict = workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
    let said = verdict.map(|verdict| verdict.text.clone()).or_else(|| cell.saturated());
    floor(cell, figure).or(said).unwrap_or_default()
}

/// The names of components: the client first, the server last, the proxies in the order in which
/// the paths have them.
pub(crate) fn component_names<'a>(
    components: impl Iterator<Item = &'a ComponentSummary>,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for component in components {
        if !names.contains(&&*component.name) {
            names.push(&component.name);
        }
    }
    let place = |name: &&str| match *name {
        "client" => 0,
        "server" => 2,
        _ => 1,
    };
    names.sort_by_key(place);
    names
}

/// The name of a point in the heads of columns and rows: its value alone where one parameter
/// varies.
pub(crate) fn point<'a>(workload: &WorkloadSummary, label: &'a str) -> &'a str {
    match workload.parameters.as_slice() {
        [one] => label
            .strip_prefix(one.as_str())
            .and_then(|rest| rest.strip_prefix('='))
            .unwrap_or(label),
        _ => label,
    }
}

/// The varied parameter, as the head over points: `size`, or `point` where several parameters do.
pub(crate) fn point_head(workload: &WorkloadSummary) -> &str {
    match workload.parameters.as_slice() {
        [one] => one,
        _ => "point",
    }
}

/// What a reader must know of a cell beside its figures. It is that no proxy saw its traffic, what
/// is left out or not compared, and what failed, how often.
fn remark(cell: &CellSummary) -> String {
    let mut remarks = Vec::new();
    if cell.bypasses_proxy {
        remarks.push(BYPASSES_PROXY.to_owned());
    }
    if cell.figures.iter().any(|figure| figure.note == CONNECTING_ENDS) {
        remarks.push(CONNECTING_ENDS.to_owned());
    }
    if cell.disturbed_rounds > 0 {
        let rounds = counted(cell.disturbed_rounds as u64, "round", "rounds");
        remarks.push(format!("{rounds} left out: the testbed changed meanwhile"));
    }
    remarks.extend(cell.errors.iter().map(|(reason, count)| format!("{reason} {count}x")));
    remarks.join(", ")
}

/// The remark with how sure the cell is, where it is not as sure as it was to be.
pub(crate) fn full_remark(cell: &CellSummary) -> String {
    let width = cell.stop.as_ref().map(|stop| stop.remark()).unwrap_or_default();
    [remark(cell), width].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// What is missing from the comparisons of a workload, and what they leave unsaid, a line each:
/// `comparison of bulk: 2 rounds not compared: the testbed changed meanwhile (eni, overlay)`.
pub(crate) fn gaps(workload: &WorkloadSummary) -> Vec<String> {
    let name = |cell: &CellSummary| {
        [cell.path.as_str(), &cell.point_label].join(" ").trim_end().to_owned()
    };
    let lines =
        grouped(workload.cells.iter().map(|cell| (note(workload, cell).to_owned(), name(cell))));
    lines.into_iter().map(|line| format!("comparison of {}: {line}", workload.name)).collect()
}
