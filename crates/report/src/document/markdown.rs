//! A document as markdown, for a wiki or an issue.

use super::block::{Block, Document, Form, Part, Reach, Weight};
use super::line::{Line, Tone};
use super::table::{Align, Cell, Column, Kind, Table};
use crate::text::markdown::safe;

/// More lines of a list than this are counted.
const MOST_ITEMS: usize = 50;

/// The document as markdown; its title is a heading of this level.
pub(crate) fn markdown(document: &Document, level: usize) -> String {
    let mut out = format!("{} {}\n", "#".repeat(level), safe(&document.title));
    let facts: Vec<String> =
        document.facts.iter().map(|[name, value]| safe(&format!("{name}: {value}"))).collect();
    if !facts.is_empty() {
        out.push_str(&format!("\n{}\n", facts.join(" · ")));
    }
    blocks(&mut out, level + 1, &document.blocks);
    out
}

fn blocks(out: &mut String, level: usize, blocks: &[Block]) {
    for block in blocks {
        match block {
            Block::Part(part) => self::part(out, level, part),
            Block::Paragraph(Weight::Plain | Weight::Note, line) => {
                out.push_str(&format!("\n{}\n", spoken(line)));
            }
            Block::Paragraph(Weight::Alert, line) => {
                out.push_str(&format!("\n**Note:** {}\n", spoken(line)));
            }
            Block::List(lines) => list(out, &lines.iter().map(spoken).collect::<Vec<_>>()),
            Block::Table(table) if table.kind != Kind::Map && !table.rows.is_empty() => {
                self::table(out, table);
            }
            Block::Table(_) | Block::Chart(..) | Block::Listing(_) => {}
        }
    }
}

fn part(out: &mut String, level: usize, part: &Part) {
    if part.reach == Reach::Page {
        return;
    }
    let title = spoken(&part.title);
    let (before, [head, tail]) = (
        out.len(),
        match part.form {
            Form::Tables => [String::new(), String::new()],
            Form::Closed => {
                [format!("\n<details><summary>{title}</summary>\n"), "\n</details>\n".to_owned()]
            }
            Form::Open | Form::Folded => {
                [format!("\n{} {title}\n", "#".repeat(level)), String::new()]
            }
        },
    );
    out.push_str(&head);
    let headed = out.len();
    blocks(out, level + 1, &part.blocks);
    // A heading over nothing says nothing.
    if out.len() == headed {
        out.truncate(before);
    } else {
        out.push_str(&tail);
    }
}

fn list(out: &mut String, items: &[String]) {
    out.push('\n');
    items.iter().take(MOST_ITEMS).for_each(|item| out.push_str(&format!("- {item}\n")));
    let more = items.len().saturating_sub(MOST_ITEMS);
    if more > 0 {
        out.push_str(&format!("- {more} more: see --format json\n"));
    }
}

fn table(out: &mut String, table: &Table) {
    if table.is_titled {
        out.push_str(&format!("\n{}:\n", safe(&table.caption)));
    }
    let head = |column: &Column| {
        let texts = [&*column.group, &*column.label, &*column.unit];
        safe(&texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", "))
    };
    let align =
        |column: &Column| if column.align == Align::Number { "--:" } else { ":--" }.to_owned();
    out.push('\n');
    row(out, table.columns.iter().map(head));
    row(out, table.columns.iter().map(align));
    for cells in table.rows.iter().map(|row| &row.cells) {
        row(out, cells.iter().map(|cell: &Cell| safe(&cell.full())));
    }
    let remarks: Vec<String> = table.remarks().iter().map(|text| safe(text)).collect();
    if !remarks.is_empty() {
        list(out, &remarks);
    }
}

fn row(out: &mut String, texts: impl Iterator<Item = String>) {
    out.push_str(&format!("| {} |\n", texts.collect::<Vec<_>>().join(" | ")));
}

/// The runs of a line as one harmless text.
fn spoken(line: &Line) -> String {
    let run = |(tone, text): &(Tone, String)| match tone {
        Tone::Name => format!("**{}**: ", safe(text)),
        Tone::Strong => format!("**{}**", safe(text)),
        Tone::Link if Line::link(text).is_some() => format!("[{text}]({text})"),
        _ => safe(text),
    };
    line.runs.iter().map(run).collect()
}
