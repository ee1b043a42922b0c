//! The bytes of bulk traffic as each end counted them, and where those were that had not arrived.

use hopbench_analysis::text::Scale;
use hopbench_analysis::{CellSummary, WorkloadSummary};

use crate::campaign::{page_text, table_model};
use crate::document::{Block, Cell, Column, Form, Kind, Line, Part, Row, Table};
use crate::number::UNKNOWN;

const NOTE: &str = "Sent: what the sender's kernel took. Acknowledged: what the receiver's kernel \
                    confirmed. Received: what the receiving program read. Each counts a byte once, \
                    however often it was sent again. They differ by what was on the way when the \
                    window ended: in the sender's queue, in proxies, and unread at the receiver. \
                    Below the table each cell's last trial has the whole account.";

/// How the names of rates end.
const RATE: &str = "bits_per_s";
/// How the names of figures end without which there is nothing to compare.
const COMPARED: [&str; 2] = ["_sent_bits_per_s", "_received_bits_per_s"];

/// Whether records have what both ends counted.
pub(in crate::campaign::topics) fn is_known(workload: &WorkloadSummary) -> bool {
    let is_known = |end: &&str| workload.bytes.iter().any(|figure| figure.name.ends_with(*end));
    COMPARED.iter().all(is_known)
}

/// The part; `None` where records do not have both sides. `own`: the id of the workload's part.
pub(super) fn part(own: &str, workload: &WorkloadSummary) -> Option<Block> {
    if !is_known(workload) {
        return None;
    }
    let mut blocks = vec![Block::note(NOTE), table(workload).into()];
    let explained: Vec<Line> = workload.cells.iter().flat_map(explained).collect();
    if !explained.is_empty() {
        blocks.push(Block::List(explained));
    }
    let title = "Bytes, as each end counted them";
    Some(Part::new(Form::Folded, format!("{own}-bytes"), title, blocks).into())
}

/// A column a figure. All rates have one scale: what matters is by how much they differ.
fn columns(workload: &WorkloadSummary) -> Vec<table_model::Column> {
    let is_rate = |name: &str| name.ends_with(RATE);
    let rates = workload.cells.iter().flat_map(|cell| &cell.figures);
    let known = |name: &str| workload.bytes.iter().any(|figure| figure.name == name);
    let rates = rates.filter(|one| is_rate(one.name) && known(one.name));
    let shared = Scale::asked(workload.rate_unit, RATE, rates.map(|one| one.spread.median));
    let mut columns = table_model::columns_of(workload, &workload.bytes);
    for column in columns.iter_mut().filter(|column| is_rate(column.name)) {
        column.scale = shared.clone();
    }
    columns
}

/// What the last trial of a cell says of its bytes.
fn explained(cell: &CellSummary) -> impl Iterator<Item = Line> {
    let name = [&*cell.path, &cell.point_label].join(" ");
    let told = move |text: &String| Line::named(name.trim_end(), page_text::sentence(text));
    cell.explanation.iter().map(told)
}

/// A row a cell.
fn table(workload: &WorkloadSummary) -> Table {
    let is_swept = !workload.parameters.is_empty();
    let figures = columns(workload);
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    let heads = figures.iter().map(|one| Column::number(one.label, one.scale.head()).short());
    columns.extend(heads);
    let row = |cell: &CellSummary| {
        let mut cells: Vec<Cell> = vec![(&cell.path).into()];
        if is_swept {
            cells.push((&cell.point_label).into());
        }
        cells.extend(figures.iter().map(|figure| match figure.of(cell) {
            Some(_) => figure.cell(cell),
            None => UNKNOWN.into(),
        }));
        Row::of(cells)
    };
    Table {
        caption: format!("{}: bytes as each end counted them", workload.name),
        is_titled: false,
        kind: Kind::Figures,
        rows: workload.cells.iter().map(row).collect(),
        columns,
    }
}
