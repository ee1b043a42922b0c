//! The workloads: of each the headline, plots and the table of its figures.

pub(super) mod bytes;
mod matrix;
mod nodes;
mod peers;

use hopbench_analysis::{CellSummary, Outcome, Summary, WorkloadSummary};

use super::{components, percentiles, proxies};
use crate::campaign::layout::{Layout, Matrix};
use crate::campaign::{page_text, plot, table_model};
use crate::document::{Block, Cell, Column, Form, Kind, Line, Part, Row, Table, Tone};

/// A part a workload.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let Layout { matrices, .. } = Layout::of(summary);
    let all = summary.workloads.iter().enumerate();
    all.map(|(number, workload)| one(summary, number, workload, &matrices)).collect()
}

fn one(summary: &Summary, number: usize, workload: &WorkloadSummary, matrices: &[Matrix]) -> Block {
    let own = format!("workload-{number}");
    let kind = match &workload.peer {
        Some(peer) => format!(" measured by {}", peer.tool),
        None => format!(" ({})", workload.kind),
    };
    let title = Line::from(&workload.name).with(Tone::Quiet, kind);
    let mut blocks = vec![Block::note(&workload.setting), Block::paragraph(&workload.headline)];
    blocks.extend(peers::blocks(workload));
    for chart in plot::charts(summary, number, workload) {
        let spoken = plot::spoken(&chart, workload);
        blocks.push(Block::Chart(chart.into(), spoken));
    }
    if !workload.cells.is_empty() && !workload.figures.is_empty() {
        blocks.extend(matrix::blocks(workload, matrices));
        let count = crate::number::counted(workload.cells.len() as u64, "cell", "cells");
        let mut tables = vec![figures(summary, workload).into()];
        tables.extend(page_text::marks(workload).map(Block::note));
        let title = format!("Figures of {count}");
        blocks.push(Part::new(Form::Tables, format!("{own}-cells"), title, tables).into());
    }
    blocks.extend(bytes::part(&own, workload));
    blocks.extend(percentiles::part(&own, workload));
    blocks.extend(proxies::blocks(&own, summary, workload));
    blocks.extend(components::part(&own, workload));
    blocks.extend(nodes::part(&own, workload));
    Part::open(own, title, blocks).into()
}

/// A row a cell.
fn figures(summary: &Summary, workload: &WorkloadSummary) -> Table {
    let is_swept = !workload.parameters.is_empty();
    let is_compared = table_model::compared(workload);
    let is_warned = workload.cells.iter().any(|cell| cell.warnings > 0);
    let figures = table_model::columns(workload);
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    for (index, figure) in figures.iter().enumerate() {
        let column = Column::number(figure.label, figure.scale.head());
        // Of the other figures a terminal has no room for the intervals.
        columns.push(if index == 0 { column } else { column.short() });
        if index == 0 && is_compared {
            columns.push(Column::number(format!("ratio to {}", page_text::reference(summary)), ""));
            columns.push(Column::words("verdict"));
        }
    }
    // Other tools do not say it.
    let is_limited = !summary.run.imported && workload.peer.is_none();
    if is_limited {
        columns.push(Column::words("limited by").short());
    }
    if is_warned {
        columns.push(Column::number("warnings", ""));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (index, cell) in workload.cells.iter().enumerate() {
        let mut cells: Vec<Cell> = vec![(&cell.path).into()];
        if is_swept {
            cells.push((&cell.point_label).into());
        }
        for (index, figure) in figures.iter().enumerate() {
            cells.push(figure.cell(cell));
            if index == 0 && is_compared {
                cells.push(workload.comparison(cell).map(table_model::ratio).unwrap_or_default());
                cells.push(Cell::toned(tone(workload, cell), table_model::verdict(workload, cell)));
            }
        }
        if is_limited {
            cells.push(page_text::marked_limits(cell).into());
        }
        if is_warned {
            cells.push(
                if cell.warnings > 0 { cell.warnings.to_string() } else { String::new() }.into(),
            );
        }
        rows.push(Row {
            remark: remark(workload, cell),
            is_base: cell.is_reference,
            begins: is_swept
                && index > 0
                && workload.cells[index - 1].point_label != cell.point_label,
            ..Row::of(cells)
        });
    }
    let caption =
        format!("{}: figures of every cell, median over rounds with its interval", workload.name);
    Table { caption, is_titled: false, kind: Kind::Figures, columns, rows }
}

/// The remark on a cell, with the gap in its comparison.
fn remark(workload: &WorkloadSummary, cell: &CellSummary) -> String {
    // Where nothing is compared no verdict says it.
    let saturated = cell.saturated().filter(|_| !table_model::compared(workload));
    let parts = [
        table_model::full_remark(cell),
        saturated.unwrap_or_default(),
        table_model::note(workload, cell).to_owned(),
    ];
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ")
}

/// How the verdict on a cell's main figure is to be taken.
fn tone(workload: &WorkloadSummary, cell: &CellSummary) -> Tone {
    let verdict = workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
    match verdict.map(|verdict| verdict.outcome) {
        Some(Outcome::Better) => Tone::Better,
        Some(Outcome::Worse) => Tone::Worse,
        Some(Outcome::Generator | Outcome::Saturated) => Tone::Doubt,
        _ => Tone::Same,
    }
}
