//! The answer: each path beside the baseline, costs, limits and notes.

use hopbench_analysis::Summary;

use crate::campaign::answer::{self, Answer, Value};
use crate::campaign::page_text;
use crate::document::{Block, Cell, Column, Kind, Line, Part, Reach, Row, Table, Tone};
use crate::profile;

/// Rows of one table; more are counted.
const MOST_ROWS: usize = 60;
/// Notes; more are counted.
const MOST_NOTES: usize = 12;

/// The part; a terminal has a screen of its own.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let answer = Answer::of(summary);
    let mut head = answer.head.parts.clone();
    head.push(answer.head.place.clone());
    let mut blocks = vec![Block::paragraph(head.join(", "))];
    let caption = match summary.run.subjects.as_slice() {
        [] => "Each path beside the baseline",
        _ => "Each path with every subject, beside the first one",
    };
    answer.tables.iter().for_each(|one| blocks.extend(table(one, caption)));
    let legend = answer.legend(true);
    if !legend.is_empty() {
        blocks.push(Block::note(legend.join("; ")));
    }
    let mut lines: Vec<Line> =
        answer.facts.iter().map(|fact| Line::named(fact.label, &fact.text)).collect();
    // The end of a run has them below its screen.
    let profiles = summary.profiles.as_ref().and_then(profile::brief);
    lines.extend(profiles.map(|text| Line::named("profiles", text)));
    // Those of the run as a whole stand in the next part.
    let is_of_run =
        |note: &&String| summary.run.notes.iter().any(|own| page_text::sentence(own) == *note);
    let notes: Vec<&String> = answer.notes.iter().filter(|note| !is_of_run(note)).collect();
    lines.extend(notes.iter().take(MOST_NOTES).map(|note| Line::from(*note)));
    let more = notes.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        lines.push(format!("{more} more notes").into());
    }
    if !lines.is_empty() {
        blocks.push(Block::List(lines));
    }
    vec![Part::open("answer", "Answer", blocks).only(Reach::Written).into()]
}

fn table(one: &answer::Table, caption: &str) -> Vec<Block> {
    let heads = one.columns.iter().map(|column| &column.heads);
    let heads = heads.map(|[workload, figure, point]| {
        Column::number(workload, format!("{figure} {point}").trim())
    });
    let (rows, left_out) = one.worst(MOST_ROWS);
    let row = |row: &&answer::Row| {
        Row::of([Cell::from(&row.name)].into_iter().chain(row.cells.iter().map(cell)))
    };
    let table = Table {
        caption: if one.title.is_empty() { caption } else { &one.title }.to_owned(),
        is_titled: !one.title.is_empty(),
        kind: Kind::Figures,
        columns: [Column::name("path")].into_iter().chain(heads).collect(),
        rows: rows.iter().map(row).collect(),
    };
    let mut blocks = vec![Block::Table(table)];
    if left_out > 0 {
        blocks.push(Block::note(format!("{left_out} more rows, no worse than these.")));
    }
    blocks
}

/// The number has its sign. Colour and a word say whether that is better: a colour is never the
/// only difference.
fn cell(cell: &answer::Cell) -> Cell {
    let (tone, word) = match cell.value {
        Value::Effect { is_better: true, .. } => (Tone::Better, "better"),
        Value::Effect { is_better: false, .. } => (Tone::Worse, "worse"),
        Value::Failed | Value::Unproved | Value::Saturated(_) => (Tone::Worse, ""),
        Value::Late | Value::NoRatio => (Tone::Doubt, ""),
        Value::Same(_) | Value::NotDecided | Value::Absent => (Tone::Quiet, ""),
        Value::Figure(_) => (Tone::Plain, ""),
    };
    Cell { mark: cell.mark(), small: word.into(), ..Cell::toned(tone, cell.value.text()) }
}
