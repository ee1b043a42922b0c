//! The comparison of two runs as a document.

use hopbench_analysis::compare::harmless;

use super::{Comparison, Row as Compared, RunSummary};
use crate::document::{Block, Cell, Column, Document, Kind, Line, Part, Row, Table, Tone};

/// What broke and what changed; of the changes at most so many. With `all` also the figures of
/// which no difference is called.
pub(super) fn document(comparison: &Comparison, all: bool, most: usize) -> Document {
    let mut blocks = verdict(comparison);
    let runs = [("A", &comparison.baseline), ("B", &comparison.candidate)];
    let runs = runs.into_iter().flat_map(|(side, runs)| runs.iter().map(move |one| run(side, one)));
    blocks.push(Block::List(runs.collect()));
    let unlike = comparison.unlike.iter().map(|unlike| unlike.text().into()).collect();
    blocks.extend(list("unlike", "Runs of one side are not alike", unlike));
    let matters = comparison.differences.iter().filter(|difference| difference.matters);
    let matters = matters.map(|difference| difference.text().into()).collect();
    blocks.extend(list("differences", "What differs and can change figures", matters));
    blocks.extend(harmless(&comparison.differences).map(Block::paragraph));
    blocks.extend(changes(comparison, all, most));
    let notes = comparison.withheld().into_iter().chain(comparison.notes());
    let notes: Vec<Line> = notes.map(Line::from).collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    let apart =
        comparison.not_compared.iter().map(|cell| Line::named(&cell.cell, &cell.reason)).collect();
    blocks.extend(list("not-compared", "Not compared", apart));
    blocks.push(Block::paragraph(comparison.caveat()));
    Document { title: format!("hopbench: {}", comparison.counts()), facts: Vec::new(), blocks }
}

/// The outcome of the bounds; nothing without any.
fn verdict(comparison: &Comparison) -> Vec<Block> {
    let Some(headline) = comparison.headline() else {
        return Vec::new();
    };
    let mut blocks =
        vec![Block::paragraph(Line::default().with(Tone::Strong, format!("{headline}.")))];
    // A list each: a long one is cut, and hides no other bound.
    for bound in &comparison.bounds {
        let broken = bound.broken().into_iter().map(|line| Line::from(format!("BROKEN {line}")));
        blocks.push(Block::List(std::iter::once(bound.kept().into()).chain(broken).collect()));
    }
    blocks.extend(comparison.warnings().into_iter().map(Block::alert));
    blocks
}

fn run(side: &str, run: &RunSummary) -> Line {
    let left_out = run.left_out.text().map_or(String::new(), |text| format!("; {text}"));
    Line::named(side, format!("{}{left_out}", run.text()))
}

/// Lines below a heading; `None` without any.
fn list(id: &str, title: &str, lines: Vec<Line>) -> Option<Block> {
    if lines.is_empty() {
        return None;
    }
    Some(Part::open(id, title, vec![Block::List(lines)]).into())
}

/// A row a figure that changed.
fn changes(comparison: &Comparison, all: bool, most: usize) -> Vec<Block> {
    let shown = comparison
        .comparisons
        .iter()
        .filter(|row| all || row.outcome.is_called() || row.is_newly_saturated());
    let shown: Vec<&Compared> = shown.collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let row = |row: &&Compared| {
        let cells = [row.cell(), row.label.clone(), row.both(), row.text.clone()];
        Row { remark: row.note.clone(), ..Row::of(cells.map(Cell::from)) }
    };
    let [cell, figure] = ["cell", "figure"].map(Column::name);
    let table = Table {
        caption: "What changed".to_owned(),
        is_titled: false,
        kind: Kind::Figures,
        columns: vec![cell, figure, Column::number("A -> B", ""), Column::words("verdict")],
        rows: shown.iter().take(most).map(row).collect(),
    };
    let mut blocks = vec![Block::Table(table)];
    let more = shown.len().saturating_sub(most);
    if more > 0 {
        blocks.push(Block::note(format!("{more} more: --format json has them all.")));
    }
    blocks
}
