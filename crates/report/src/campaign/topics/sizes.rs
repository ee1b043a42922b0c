//! Sweeps over the size: a row a size, columns of each path, latency beside bandwidth.

use std::collections::HashMap;

use hopbench_analysis::{CellSummary, Summary, WorkloadSummary};

use crate::campaign::table_model;
use crate::document::{Block, Cell, Column, Kind, Part, Row, Table};
use crate::number::UNKNOWN;

/// More paths than this are left to the tables of the workloads.
const MOST_PATHS: usize = 24;
/// The parameter.
const SIZE: &str = "size";

const NOTE: &str = "Medians over rounds. The table of each workload has the verdicts.";

/// The part; nothing of a run without such a sweep.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let tables = tables(summary);
    if tables.is_empty() {
        return Vec::new();
    }
    let blocks = [Block::note(NOTE)].into_iter().chain(tables.into_iter().map(Block::from));
    vec![Part::open("sizes", "Each size on each path", blocks.collect()).into()]
}

/// A table for each workload that is swept, or for two that are swept over the same sizes: one of
/// latency, one of bandwidth.
fn tables(summary: &Summary) -> Vec<Table> {
    let is_swept = |workload: &&WorkloadSummary| {
        matches!(workload.parameters.as_slice(), [one] if one == SIZE)
            && workload.points().len() > 1
            && workload.main_figure().is_some()
    };
    let mut left: Vec<&WorkloadSummary> = summary.workloads.iter().filter(is_swept).collect();
    let mut out = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let second = left.iter().position(|other| belong_together(first, other));
        let mut together: Vec<_> =
            [first].into_iter().chain(second.map(|at| left.remove(at))).collect();
        // As people read them: what a message takes, then what goes through.
        together.sort_by_key(|workload| !is_latency(workload));
        out.push(table(summary, &together));
    }
    out
}

fn is_latency(workload: &WorkloadSummary) -> bool {
    workload.main_figure().is_some_and(|figure| figure.is_latency)
}

/// Whether one is of latency and one of bandwidth, over the same sizes on a common path.
fn belong_together(one: &WorkloadSummary, other: &WorkloadSummary) -> bool {
    let is_bandwidth = |workload: &WorkloadSummary| {
        workload.main_figure().is_some_and(|figure| figure.name.ends_with("bits_per_s"))
    };
    let has = |path: usize| other.cells.iter().any(|cell| cell.path_index == path);
    ((is_latency(one) && is_bandwidth(other)) || (is_bandwidth(one) && is_latency(other)))
        && one.points() == other.points()
        && one.cells.iter().any(|cell| has(cell.path_index))
}

/// A workload with what its columns need, found once.
struct View<'a> {
    workload: &'a WorkloadSummary,
    /// The main figure.
    figure: table_model::Column,
    /// By path and point.
    cells: HashMap<(usize, &'a str), &'a CellSummary>,
}

impl<'a> View<'a> {
    fn of(workload: &'a WorkloadSummary) -> Option<Self> {
        let cells =
            workload.cells.iter().map(|cell| ((cell.path_index, cell.point_label.as_str()), cell));
        let figure = table_model::columns(workload).into_iter().next()?;
        Some(Self { workload, figure, cells: cells.collect() })
    }

    fn has(&self, path: usize) -> bool {
        self.workload.cells.iter().any(|cell| cell.path_index == path)
    }

    fn value(&self, path: usize, point: &str) -> Cell {
        let Some(cell) = self.cells.get(&(path, point)) else { return UNKNOWN.into() };
        let saturated = cell.saturated().filter(|_| is_latency(self.workload));
        match (saturated, self.figure.of(cell)) {
            (Some(text), _) => text.into(),
            (None, Some(_)) => self.figure.cell(cell),
            (None, None) => UNKNOWN.into(),
        }
    }
}

/// A row a size. Of each path it has the main figure of each of these workloads.
fn table(summary: &Summary, workloads: &[&WorkloadSummary]) -> Table {
    let views: Vec<View<'_>> = workloads.iter().filter_map(|workload| View::of(workload)).collect();
    let is_shown =
        |path: &usize| !summary.paths[*path].is_twin && views.iter().any(|view| view.has(*path));
    let mut paths: Vec<usize> = (0..summary.paths.len()).filter(is_shown).collect();
    let of = match paths.len() {
        all if all > MOST_PATHS => format!(", the first {MOST_PATHS} of {all} paths"),
        _ => String::new(),
    };
    paths.truncate(MOST_PATHS);
    let shown = || paths.iter().flat_map(|path| views.iter().map(move |view| (*path, view)));
    let heads = shown().map(|(path, view)| Column {
        group: summary.paths[path].name.clone(),
        ..Column::number(view.figure.label, view.figure.scale.head()).short()
    });
    let row = |point: &str| {
        let name = Cell::from(table_model::point(workloads[0], point));
        Row::of([name].into_iter().chain(shown().map(|(path, view)| view.value(path, point))))
    };
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    Table {
        caption: format!("{} by {SIZE}{of}", names.join(" and ")),
        is_titled: true,
        kind: Kind::Figures,
        rows: workloads[0].points().into_iter().map(row).collect(),
        columns: [Column::name(SIZE)].into_iter().chain(heads).collect(),
    }
}
