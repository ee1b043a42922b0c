//! A document for a terminal: plain text as wide as it is.

mod columns;

use super::block::{Block, Document, Form, Part, Reach, Weight};
use super::line::{Line, Tone};
use super::table::{Kind, Table};
use crate::text::wrap::{plain, wrap};

/// More lines of a list than this are counted.
const MOST_ITEMS: usize = 24;

/// The text so far.
struct Out {
    text: String,
    /// Columns of a line.
    width: usize,
    /// What stands before each line.
    indent: &'static str,
    /// Whether an empty line stands before what follows: it is behind a table or a part.
    needs_gap: bool,
}

/// The document in lines of so many columns.
pub(crate) fn terminal(document: &Document, width: usize) -> String {
    let mut out = Out { text: String::new(), width, indent: "", needs_gap: false };
    out.wrapped("", &document.title);
    let facts: Vec<String> =
        document.facts.iter().map(|[name, value]| format!("{name}: {value}")).collect();
    out.wrapped("", &facts.join("; "));
    out.blocks(&document.blocks);
    out.text
}

impl Out {
    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Part(part) => self.part(part),
                Block::Paragraph(Weight::Plain, line) => {
                    self.gap();
                    self.wrapped("", &spoken(line));
                }
                Block::Paragraph(Weight::Note, line) => self.wrapped("", &spoken(line)),
                Block::Paragraph(Weight::Alert, line) => {
                    self.wrapped("", &format!("note: {}", spoken(line)));
                }
                Block::List(lines) => {
                    self.gap();
                    self.list(&lines.iter().map(spoken).collect::<Vec<_>>());
                }
                Block::Table(table) if table.kind != Kind::Map && !table.rows.is_empty() => {
                    self.table(table);
                }
                Block::Table(_) | Block::Chart(..) | Block::Listing(_) => {}
            }
        }
    }

    fn part(&mut self, part: &Part) {
        if part.reach != Reach::Everywhere || part.form == Form::Closed {
            return;
        }
        if part.form == Form::Tables {
            self.blocks(&part.blocks);
            return;
        }
        let (before, indent) = (self.text.len(), self.indent);
        self.indent = "";
        self.text.push('\n');
        self.wrapped("", &spoken(&part.title));
        self.needs_gap = false;
        let headed = self.text.len();
        self.indent = "  ";
        self.blocks(&part.blocks);
        self.indent = indent;
        // A heading over nothing says nothing.
        if self.text.len() == headed {
            self.text.truncate(before);
        } else {
            self.needs_gap = true;
        }
    }

    /// The empty line before what follows, where it needs one.
    fn gap(&mut self) {
        if self.needs_gap {
            self.text.push('\n');
        }
        self.needs_gap = false;
    }

    fn list(&mut self, items: &[String]) {
        items.iter().take(MOST_ITEMS).for_each(|item| self.wrapped("- ", item));
        let more = items.len().saturating_sub(MOST_ITEMS);
        if more > 0 {
            self.wrapped("- ", &format!("{more} more: see --format json"));
        }
    }

    fn table(&mut self, table: &Table) {
        let mut is_below_caption = table.is_titled;
        if is_below_caption {
            self.text.push('\n');
            self.wrapped("", &table.caption);
        }
        columns::lines(table, self.width, |line| {
            if !std::mem::take(&mut is_below_caption) {
                self.text.extend([line, "\n"]);
            }
        });
        self.needs_gap = true;
        let remarks = table.remarks();
        if !remarks.is_empty() {
            self.gap();
            self.list(&remarks);
        }
    }

    /// A text in lines that fit. Those behind the first hang under the text behind the mark, and
    /// none begins where a heading does.
    fn wrapped(&mut self, mark: &str, text: &str) {
        let is_outermost = self.indent.is_empty() && mark.is_empty();
        let hang = " ".repeat(if is_outermost { 2 } else { mark.len() });
        let width = self.width - self.indent.len() - hang.len();
        for (index, line) in wrap(&plain(text), width).iter().enumerate() {
            let before = if index == 0 { mark } else { &hang };
            self.text.push_str(&format!("{}{before}{line}\n", self.indent));
        }
    }
}

/// The runs of a line as one text.
fn spoken(line: &Line) -> String {
    let run = |(tone, text): &(Tone, String)| match tone {
        Tone::Name => format!("{text}: "),
        _ => text.clone(),
    };
    line.runs.iter().map(run).collect()
}
