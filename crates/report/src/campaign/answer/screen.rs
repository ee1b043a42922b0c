//! The answer as text: as many lines as a terminal has.

mod layout;
mod live;

use hopbench_analysis::Summary;

use super::facts::Fact;
use super::text::shortened;
use super::whole::Answer;
use crate::WIDTH;
use crate::number::counted;
use crate::text::wrap::{columns, cut, plain, wrap};
use layout::{Layout, LeftOut};
pub use live::LiveScreen;

/// Lines of a screen.
const HEIGHT: usize = 40;
/// The column in which the text beside a name begins.
const INDENT: usize = 17;
/// The longest name of a run that is not cut.
const LONGEST_NAME: usize = 40;
/// Lines of a fact, of a note, of all notes, of the legend.
const FACT_LINES: usize = 3;
const NOTE_LINES: usize = 2;
const NOTES_LINES: usize = 5;
const LEGEND_LINES: usize = 5;
/// Lines that are kept for each later table.
const LATER_LINES: usize = 10;
/// Lines of the head.
const HEAD_LINES: usize = 3;

/// The room for an answer.
#[derive(Debug, Clone, Copy)]
pub struct Screen<'a> {
    /// Columns; fewer than 80 are taken for 80.
    pub width: usize,
    /// Lines; fewer than 40 are taken for 40.
    pub height: usize,
    /// Whether gains and losses may be bold, and the rest dim.
    pub is_styled: bool,
    /// The results folder, as it was named; empty: the last lines say `DIR`.
    pub folder: &'a str,
    /// Whether `report.html` is in it.
    pub has_report: bool,
}

impl Default for Screen<'_> {
    fn default() -> Self {
        Self { width: WIDTH, height: HEIGHT, is_styled: false, folder: "", has_report: false }
    }
}

impl Screen<'_> {
    /// The answer of a run; ends with a line feed.
    pub fn text(&self, summary: &Summary) -> String {
        let answer = Answer::of(summary);
        let width = self.width.max(WIDTH);
        let height = self.height.max(HEIGHT);
        let head = head(&answer, width);
        let mut below: Vec<String> = Vec::new();
        let tables: Vec<Layout<'_>> =
            answer.tables.iter().map(|table| Layout::of(table, width)).collect();
        let has_intervals = tables.iter().any(Layout::has_intervals);
        let legend = packed(&answer.legend(has_intervals), width);
        below.extend(legend.into_iter().take(LEGEND_LINES));
        for Fact { label, text } in &answer.facts {
            below.extend(labelled(label, text, FACT_LINES, width));
        }
        below.extend(notes(&answer.notes, width));
        below.extend(self.ways());
        let room = height.saturating_sub(head.len() + below.len());
        let mut lines = head;
        lines.extend(self.tables(&tables, room));
        lines.push(String::new());
        lines.extend(below);
        let mut out = String::new();
        for line in lines {
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The tables one below the other; an empty line stands before each.
    fn tables(&self, tables: &[Layout<'_>], room: usize) -> Vec<String> {
        // One empty line stands below the last table, and one line may say that tables are left
        // out.
        let mut room = room.saturating_sub(2);
        let mut out: Vec<String> = Vec::new();
        let mut left_out = 0u64;
        for (index, table) in tables.iter().enumerate() {
            let later = tables[index + 1..].iter().map(|table| table.wanted().min(LATER_LINES) + 1);
            let fair = (room / (tables.len() - index)).saturating_sub(1);
            let share = room.saturating_sub(later.sum::<usize>() + 1).max(fair);
            if share < table.least() {
                left_out += 1;
                continue;
            }
            let lines = table.lines(share, self.is_styled, LeftOut::Mildest);
            room = room.saturating_sub(lines.len() + 1);
            out.push(String::new());
            out.extend(lines);
        }
        if left_out > 0 {
            out.push(format!(
                "... {}: see the details",
                counted(left_out, "more table", "more tables")
            ));
        }
        out
    }

    /// Where the report is, and how to see more.
    fn ways(&self) -> Vec<String> {
        let folder = plain(self.folder);
        let named = if folder.is_empty() { "DIR" } else { folder.trim_end_matches('/') };
        let line = |label: &str, text: &str| format!("{label:<INDENT$}{text}");
        let mut out = Vec::new();
        if self.has_report {
            out.push(line("report", &format!("{named}/report.html")));
        }
        // A name that was broken into two lines could not be copied.
        out.push(line("details", &format!("hopbench report {named} --details")));
        out
    }
}

/// The run in one or two lines; the testbed stands at the right where there is room.
fn head(answer: &Answer, width: usize) -> Vec<String> {
    let head = &answer.head;
    let name = cut(&head.name, LONGEST_NAME);
    let mut lines = wrap(&plain(&format!("{name} {}", head.parts.join(", "))), width);
    lines = shortened(lines, HEAD_LINES - 1, width);
    if let Some(first) = lines.first_mut() {
        // The name stands apart from what is said of it.
        if !name.is_empty()
            && columns(first) < width
            && first.starts_with(&name)
            && first.len() > name.len()
        {
            first.insert(name.len(), ' ');
        }
    }
    let place = plain(&head.place);
    match lines.last_mut() {
        Some(last) if columns(last) + 2 + columns(&place) <= width => {
            let gap = width - columns(last) - columns(&place);
            last.push_str(&format!("{}{place}", " ".repeat(gap)));
        }
        _ => lines.extend(wrap(&place, width)),
    }
    lines
}

/// A text beside its name, in at most so many lines.
fn labelled(label: &str, text: &str, most: usize, width: usize) -> Vec<String> {
    let width = width - INDENT;
    beside(label, &shortened(wrap(&plain(text), width), most, width))
}

/// Lines beside a name.
fn beside(label: &str, lines: &[String]) -> Vec<String> {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    labels.zip(lines).map(|(label, line)| format!("{label:<INDENT$}{line}")).collect()
}

/// The first notes, and how many there are.
fn notes(notes: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut shown = 0;
    for note in notes {
        let next =
            shortened(wrap(&plain(note), width - INDENT - 2), NOTE_LINES, width - INDENT - 2);
        // The last line is for what is left out.
        let room = if shown + 1 == notes.len() { NOTES_LINES } else { NOTES_LINES - 1 };
        if lines.len() + next.len() > room {
            break;
        }
        let bullet = |(index, line): (usize, &String)| {
            format!("{}{line}", if index == 0 { "- " } else { "  " })
        };
        lines.extend(next.iter().enumerate().map(bullet));
        shown += 1;
    }
    if shown < notes.len() {
        lines.push(format!("- {} more, with the details", notes.len() - shown));
    }
    beside(&counted(notes.len() as u64, "note", "notes"), &lines)
}

/// Texts beside each other with three blanks between, as many in a line as fit.
fn packed(texts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        let text = plain(text);
        match lines.last_mut() {
            Some(last) if columns(last) + 3 + columns(&text) <= width => {
                last.push_str("   ");
                last.push_str(&text);
            }
            _ => lines.extend(wrap(&text, width)),
        }
    }
    lines
}
