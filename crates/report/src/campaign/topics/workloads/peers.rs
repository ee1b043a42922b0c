//! The part of a tool of others on a page: the ratio of its figures to ours, and why both may
//! differ.

use hopbench_analysis::{PeerComparison, WorkloadSummary};

use crate::campaign::{page_text, table_model};
use crate::document::{Block, Cell, Column, Kind, Row, Table};

/// The sentence and the table; nothing of a workload that hopbench measured.
pub(super) fn blocks(workload: &WorkloadSummary) -> Vec<Block> {
    let Some(peer) = &workload.peer else { return Vec::new() };
    let differs: Vec<&str> = peer.differs.iter().map(|text| page_text::sentence(text)).collect();
    let why = format!("Why {} may differ from hopbench: {}.", peer.tool, differs.join("; "));
    let mut blocks = Vec::new();
    if !differs.is_empty() {
        blocks.push(Block::note(why));
    }
    if peer.comparisons.is_empty() {
        return blocks;
    }
    let is_swept = !workload.parameters.is_empty();
    let mut columns = vec![Column::name("path")];
    if is_swept {
        columns.push(Column::name("point"));
    }
    columns.extend([
        Column::words("figure"),
        Column::number(format!("{} to {}", peer.tool, peer.of), ""),
        Column::words("verdict"),
    ]);
    let row = |one: &PeerComparison| {
        let mut cells: Vec<Cell> = vec![(&one.path).into()];
        if is_swept {
            cells.push((&one.point).into());
        }
        let verdict = one.ratio.verdict.as_ref().map(|verdict| verdict.text.clone());
        cells.extend([
            one.label.into(),
            table_model::ratio(&one.ratio),
            verdict.unwrap_or_default().into(),
        ]);
        Row { remark: one.note.clone(), ..Row::of(cells) }
    };
    let rows = peer.comparisons.iter().map(row).collect();
    let caption = format!("{} beside {}: ratios round by round", peer.tool, peer.of);
    let table = Table { caption, is_titled: true, kind: Kind::Words, columns, rows };
    blocks.push(table.into());
    blocks
}
