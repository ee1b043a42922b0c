//! The cores of each component of a path, the idle share of its nodes, and what the NICs of its
//! ends moved.

use std::collections::BTreeSet;

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{CellSummary, Spread, WorkloadSummary};

use crate::campaign::table_model;
use crate::document::{Block, Cell, Column, Form, Kind, Part, Row, Table};

const NIC_NOTE: &str = "Of the interface of each end that moved most, as the end itself sees it, \
                        with all headers: of a pod, the one inside the pod.";

/// More nodes than this have no columns of their own.
const MOST_NODES: usize = 6;
/// The head of the idle share where all nodes are one machine.
const MACHINE: &str = "machine";

/// What the figures of NICs say: the end, the figure, which way, and the unit's name with what one
/// of the figure is of it.
const NICS: [(&str, &str, &str, &str, f64); 8] = [
    ("client", "client_nic_rx_bytes_per_s", "in", "bits_per_s", 8.0),
    ("client", "client_nic_rx_packets_per_s", "in", "packets_per_s", 1.0),
    ("client", "client_nic_tx_bytes_per_s", "out", "bits_per_s", 8.0),
    ("client", "client_nic_tx_packets_per_s", "out", "packets_per_s", 1.0),
    ("server", "server_nic_rx_bytes_per_s", "in", "bits_per_s", 8.0),
    ("server", "server_nic_rx_packets_per_s", "in", "packets_per_s", 1.0),
    ("server", "server_nic_tx_bytes_per_s", "out", "bits_per_s", 8.0),
    ("server", "server_nic_tx_packets_per_s", "out", "packets_per_s", 1.0),
];

/// The part; `None` where no record says any of it. `own`: the id of the workload's part.
pub(super) fn part(own: &str, workload: &WorkloadSummary) -> Option<Block> {
    let mut blocks = Vec::new();
    blocks.extend(cores(workload).map(Block::from));
    if let Some(table) = nics(workload) {
        blocks.extend([Block::note(NIC_NOTE), table.into()]);
    }
    if blocks.is_empty() {
        return None;
    }
    let title = "Cores of each component, idle nodes, NICs";
    Some(Part::new(Form::Folded, format!("{own}-components"), title, blocks).into())
}

/// A column a component, and one a node.
fn cores(workload: &WorkloadSummary) -> Option<Table> {
    let of_cells = workload.cells.iter().flat_map(|cell| &cell.components);
    let components = table_model::component_names(of_cells);
    let nodes: Vec<&str> = nodes(workload);
    // The idle share of one machine for all is no table.
    if components.is_empty() && nodes.iter().all(|name| *name == MACHINE) {
        return None;
    }
    let of_components = components.iter().map(|name| Column::number(*name, "cores").short());
    let of_nodes = nodes.iter().map(|name| Column::number(*name, "% idle").short());
    let row = |cell: &CellSummary| {
        let cores = components.iter().map(|name| {
            let found = cell.components.iter().find(|component| component.name == **name);
            found.map(|found| value("", &found.cores, |cores| format!("{cores:.3}")))
        });
        let idle = nodes.iter().map(|name| {
            let text = |share: f64| format!("{:.1}", share * 100.0);
            idle(cell, name).map(|spread| value("idle_ratio", spread, text))
        });
        cores.chain(idle).map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    Some(table(workload, "cores and idle nodes", of_components.chain(of_nodes), row))
}

/// The nodes with an idle share; none where they are too many for columns.
fn nodes(workload: &WorkloadSummary) -> Vec<&str> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for cell in &workload.cells {
        names.extend(cell.nodes.iter().map(|node| &*node.name));
        names.extend(cell.metered_nodes.iter().map(|node| &*node.name));
        if cell.nodes.is_empty() && cell.figure("node_idle_ratio").is_some() {
            names.insert(MACHINE);
        }
    }
    if names.len() > MOST_NODES { Vec::new() } else { names.into_iter().collect() }
}

fn idle<'a>(cell: &'a CellSummary, node: &str) -> Option<&'a Spread> {
    let seen = cell.nodes.iter().find(|known| known.name == node).map(|node| &node.idle_ratio);
    let metered =
        || cell.metered_nodes.iter().find(|known| known.name == node).map(|node| &node.idle_ratio);
    let all = || {
        let figure = cell.figure("node_idle_ratio").filter(|_| cell.nodes.is_empty())?;
        (node == MACHINE).then_some(&figure.spread)
    };
    seen.or_else(metered).or_else(all)
}

/// Bits and packets a second, each way, of each end.
fn nics(workload: &WorkloadSummary) -> Option<Table> {
    let medians = |name: &'static str| {
        workload.cells.iter().filter_map(move |cell| Some(cell.figure(name)?.spread.median))
    };
    let used: Vec<_> = NICS.iter().filter(|(_, name, ..)| medians(name).next().is_some()).collect();
    if used.is_empty() {
        return None;
    }
    let scales: Vec<Scale> = used
        .iter()
        .map(|(_, name, _, unit, of)| {
            Scale::asked(workload.rate_unit, unit, medians(name).map(|value| value * of))
        })
        .collect();
    let column = |((end, _, way, ..), scale): (&&(&str, &str, &str, &str, f64), &Scale)| {
        Column::number(format!("{end} {way}"), scale.head()).short()
    };
    let columns = used.iter().zip(&scales).map(column);
    let row = |cell: &CellSummary| {
        let one = |((_, name, _, unit, of), scale): (&&(_, &str, _, &str, f64), &Scale)| {
            let spread = &cell.figure(name)?.spread;
            Some(value(unit, spread, |value| scale.text(value * of)))
        };
        used.iter().zip(&scales).map(|pair| one(pair).unwrap_or_default()).collect()
    };
    Some(table(workload, "what the NICs moved", columns, row))
}

/// A row a cell; cells without any value have none.
fn table(
    workload: &WorkloadSummary,
    about: &str,
    columns: impl Iterator<Item = Column>,
    row: impl Fn(&CellSummary) -> Vec<Cell>,
) -> Table {
    let is_swept = !workload.parameters.is_empty();
    let mut heads = vec![Column::name("path")];
    if is_swept {
        heads.push(Column::name("point"));
    }
    heads.extend(columns);
    let rows = workload.cells.iter().map(|cell| {
        let mut cells: Vec<Cell> = vec![(&cell.path).into()];
        if is_swept {
            cells.push((&cell.point_label).into());
        }
        cells.extend(row(cell));
        Row::of(cells)
    });
    Table {
        caption: format!("{}: {about}", workload.name),
        is_titled: false,
        kind: Kind::Figures,
        rows: rows.collect(),
        columns: heads,
    }
}

/// A median with its interval, as texts.
fn value(name: &str, spread: &Spread, text: impl Fn(f64) -> String) -> Cell {
    let ends = spread.low.zip(spread.high).filter(|(low, high)| low != high);
    let ends =
        ends.map(|(low, high)| interval_text::of_figure(name, spread.median, low, high, &text));
    Cell::with_ends(text(spread.median), ends)
}
