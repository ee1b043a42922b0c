//! The matrix of a workload: kinds of place by kinds of place, with the share of the link and what
//! limited each cell.

use std::collections::HashMap;

use hopbench_analysis::{CellSummary, WorkloadSummary};

use crate::campaign::layout::Matrix;
use crate::campaign::table_model;
use crate::document::{Block, Cell, Column, Kind, Row, Table, grouped};

/// Of a sweep of more points, the cells stand in the table of figures only.
const MOST_POINTS: usize = 4;
/// The figure that says how much of the slowest link was used.
const LINK_SHARE: &str = "link_share_ratio";

/// A table a point, all matrices side by side, and below it the limits in words.
pub(super) fn blocks(workload: &WorkloadSummary, matrices: &[Matrix]) -> Vec<Block> {
    let points = workload.points();
    let Some(main) = table_model::columns(workload).into_iter().next() else { return Vec::new() };
    if points.len() > MOST_POINTS {
        return Vec::new();
    }
    let mut out = Vec::new();
    for point in points {
        let of_point = workload.cells.iter().filter(|cell| cell.point_label == point);
        let cells: HashMap<usize, &CellSummary> =
            of_point.map(|cell| (cell.path_index, cell)).collect();
        for group in side_by_side(matrices) {
            out.push(table(&main, point, group, &cells).into());
            out.extend(limits(group, &cells).map(Block::note));
        }
    }
    out
}

/// Neighbours with the same rows share a table.
fn side_by_side(matrices: &[Matrix]) -> impl Iterator<Item = &[Matrix]> {
    matrices.chunk_by(|one, other| one.from == other.from)
}

fn table(
    main: &table_model::Column,
    point: &str,
    group: &[Matrix],
    cells: &HashMap<usize, &CellSummary>,
) -> Table {
    let shown = |path: &usize| {
        let Some(cell) = cells.get(path) else { return Cell::default() };
        let value = main.of(cell).map(|figure| main.scale.text(figure.spread.median));
        let share = cell.figure(LINK_SHARE).map(|share| 100.0 * share.spread.median);
        let small = share.map(|share| format!("{share:.0} %")).unwrap_or_default();
        Cell { small: small.into(), ..Cell::from(value.unwrap_or_default()) }
    };
    let has_share = cells.values().any(|cell| cell.figure(LINK_SHARE).is_some());
    let what = [main.label, main.scale.head()].into_iter().filter(|text| !text.is_empty());
    let mut caption = what.collect::<Vec<_>>().join(", ");
    caption.push_str(if has_share { ", and its share of the link" } else { "" });
    if !point.is_empty() {
        caption.push_str(&format!(", {point}"));
    }
    let columns = group.iter().flat_map(|matrix| {
        matrix.to.iter().map(|to| Column::number(format!("to {to}"), &matrix.title))
    });
    let rows = group[0].from.iter().enumerate().map(|(at, from)| {
        let paths = group.iter().flat_map(|matrix| &matrix.paths[at]);
        Row::of([Cell::from(from)].into_iter().chain(paths.map(shown)))
    });
    Table {
        caption,
        is_titled: true,
        kind: Kind::Figures,
        columns: [Column::name("from")].into_iter().chain(columns).collect(),
        rows: rows.collect(),
    }
}

/// The limit of most trials of each cell, a line a limit: `Limited by nic (host to eni a to b).`
fn limits(group: &[Matrix], cells: &HashMap<usize, &CellSummary>) -> impl Iterator<Item = String> {
    let mut all = Vec::new();
    for matrix in group {
        for (from, paths) in matrix.from.iter().zip(&matrix.paths) {
            for (to, path) in matrix.to.iter().zip(paths) {
                let limits = cells.get(path).map(|cell| &cell.limited_by);
                let most = limits.and_then(|all| all.iter().max_by_key(|limit| limit.trials));
                let limit = most.map(|limit| limit.limit.clone()).unwrap_or_default();
                all.push((limit, format!("{from} to {to} {}", matrix.title)));
            }
        }
    }
    grouped(all.into_iter()).into_iter().map(|line| format!("Limited by {line}."))
}
