//! The answer: each path beside the baseline, costs, limits, notes.

use hopbench_analysis::Summary;

use crate::campaign::answer::{Answer, Cell, Row, Table};
use crate::text::markdown::{row, safe};

/// Rows of one table; more are counted.
const MOST_ROWS: usize = 40;
/// Notes; more are counted.
const MOST_NOTES: usize = 12;

/// The first part of the page.
pub(super) fn write(out: &mut String, summary: &Summary) {
    let answer = Answer::of(summary);
    let mut facts: Vec<String> = answer.head.parts.iter().map(|part| safe(part)).collect();
    facts.push(safe(&answer.head.place));
    out.push_str(&format!("\n{}\n", facts.join(" · ")));
    answer.tables.iter().for_each(|one| table(out, one));
    if !answer.legend.is_empty() {
        let legend: Vec<String> = answer.legend.iter().map(|part| safe(part)).collect();
        out.push_str(&format!("\n{}\n", legend.join(" · ")));
    }
    if !answer.facts.is_empty() || !answer.notes.is_empty() {
        out.push('\n');
    }
    for fact in &answer.facts {
        out.push_str(&format!("- **{}**: {}\n", fact.label, safe(&fact.text)));
    }
    for note in answer.notes.iter().take(MOST_NOTES) {
        out.push_str(&format!("- {}\n", safe(note)));
    }
    let more = answer.notes.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        out.push_str(&format!("- {more} more notes\n"));
    }
}

fn table(out: &mut String, table: &Table) {
    out.push('\n');
    if !table.title.is_empty() {
        out.push_str(&format!("{}\n\n", safe(&table.title)));
    }
    let mut heads = vec![String::new()];
    heads.extend(table.columns.iter().map(|column| safe(column.heads.join(" ").trim_end())));
    row(out, &heads);
    out.push_str(&format!("| :-- |{}\n", " --: |".repeat(table.columns.len())));
    let (rows, left_out) = table.worst(MOST_ROWS);
    for Row { name, cells, .. } in rows {
        let mut texts = vec![safe(name)];
        texts.extend(cells.iter().map(|cell: &Cell| format!("{}{}", safe(cell.value.text()), cell.mark())));
        row(out, &texts);
    }
    if left_out > 0 {
        out.push_str(&format!("\n{left_out} more rows, no worse than these.\n"));
    }
}
