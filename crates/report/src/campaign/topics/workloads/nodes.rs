//! The work of each node's CPUs, where nodes are several machines.

use hopbench_analysis::{NodeSummary, Spread, WorkloadSummary};

use crate::document::{Block, Cell, Column, Form, Kind, Part, Row, Table};

const NOTE: &str =
    "With everybody's work: both ends, proxies, the kernel for all of them, and whatever else ran.";

/// The part; `None` where the table of cells says it all. `own`: the id of the workload's part.
pub(super) fn part(own: &str, workload: &WorkloadSummary) -> Option<Block> {
    let is_swept = !workload.parameters.is_empty();
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    columns.push(Column::words("node"));
    columns.extend(
        ["busy", "of it softirq", "of it stolen"].map(|label| Column::number(label, "cores")),
    );
    columns.push(Column::number("idle", "%"));
    let mut rows = Vec::new();
    for cell in &workload.cells {
        for NodeSummary { name, busy_cores, softirq_cores, steal_cores, idle_ratio } in &cell.nodes
        {
            let mut cells: Vec<Cell> = vec![(&cell.path).into()];
            if is_swept {
                cells.push((&cell.point_label).into());
            }
            cells.push(name.into());
            cells
                .extend([busy_cores, softirq_cores, steal_cores].map(|cores| value(cores, 1.0, 3)));
            cells.push(value(idle_ratio, 100.0, 1));
            rows.push(Row::of(cells));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let caption = format!("{}: CPU of the nodes", workload.name);
    let table = Table { caption, is_titled: false, kind: Kind::Figures, columns, rows };
    let blocks = vec![Block::note(NOTE), table.into()];
    Some(Part::new(Form::Closed, format!("{own}-nodes"), "CPU of the nodes", blocks).into())
}

/// A figure in a unit of which `1 / scale` is 1, with so many digits.
fn value(spread: &Spread, scale: f64, digits: usize) -> Cell {
    let ends = spread.low.zip(spread.high).filter(|(low, high)| low != high);
    let text = |value: f64| format!("{:.digits$}", value * scale);
    Cell::with_ends(text(spread.median), ends.map(|(low, high)| [text(low), text(high)]))
}
