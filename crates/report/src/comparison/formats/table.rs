//! The comparison for a terminal: 80 columns, a line for each figure that changed.

use hopbench_analysis::compare::harmless;

use crate::WIDTH;
use crate::comparison::{Comparison, ComparisonFormat, Difference, Row, RunSummary};
use crate::text::wrap::{columns, plain, wrap};

/// A name of a cell is cut to no less than this, columns.
const SHORTEST_CELL: usize = 16;
/// The name of a figure is cut to no less than this.
const SHORTEST_FIGURE: usize = 10;
/// One that is longer than this is cut rather than that values are left out; so is the name of a
/// figure.
const LONGEST_CELL: usize = 24;
/// More cells than this are counted, not listed.
const MOST_CELLS: usize = 20;

/// The head of the column with both values.
const BOTH: &str = "A -> B";

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Table;

impl ComparisonFormat for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "for a terminal: what changed, worst first"
    }

    fn render(&self, comparison: &Comparison, all: bool) -> String {
        let mut out = String::new();
        comparison.baseline.iter().for_each(|run| self::run(&mut out, "A", run));
        comparison.candidate.iter().for_each(|run| self::run(&mut out, "B", run));
        if !comparison.unlike.is_empty() {
            out.push_str("\nruns of one side are not alike\n");
            comparison.unlike.iter().for_each(|unlike| paragraph(&mut out, "! ", &unlike.text()));
        }
        differences(&mut out, &comparison.differences);
        let rows: Vec<&Row> = comparison.comparisons.iter().filter(|row| all || row.outcome.is_called()).collect();
        if !rows.is_empty() {
            out.push('\n');
            table(&mut out, &rows);
        }
        out.push('\n');
        paragraph(&mut out, "", &comparison.counts());
        comparison.withheld().iter().for_each(|text| paragraph(&mut out, "  ", text));
        comparison.notes().iter().for_each(|note| paragraph(&mut out, "  ", note));
        if !comparison.not_compared.is_empty() {
            out.push_str("\nnot compared\n");
            for cell in comparison.not_compared.iter().take(MOST_CELLS) {
                paragraph(&mut out, "- ", &format!("{}: {}", cell.cell, cell.reason));
            }
            let more = comparison.not_compared.len().saturating_sub(MOST_CELLS);
            if more > 0 {
                paragraph(&mut out, "- ", &format!("{more} more: --format json lists them"));
            }
        }
        if let Some(headline) = comparison.headline() {
            out.push('\n');
            paragraph(&mut out, "", &headline);
            for bound in &comparison.bounds {
                paragraph(&mut out, "- ", &bound.kept());
                bound.broken().iter().for_each(|line| paragraph(&mut out, "- BROKEN ", line));
            }
            comparison.warnings().iter().for_each(|text| paragraph(&mut out, "! ", text));
        }
        out.push('\n');
        paragraph(&mut out, "", &comparison.caveat());
        out
    }
}

fn run(out: &mut String, side: &str, run: &RunSummary) {
    paragraph(out, &format!("{side}  "), &run.text());
    run.left_out.text().iter().for_each(|text| paragraph(out, "   ", text));
}

fn differences(out: &mut String, all: &[Difference]) {
    if all.iter().any(|difference| difference.matters) {
        out.push_str("\nwhat differs and can change figures\n");
        all.iter().filter(|d| d.matters).for_each(|difference| paragraph(out, "- ", &difference.text()));
    }
    if let Some(text) = harmless(all) {
        out.push('\n');
        paragraph(out, "", &text);
    }
}

fn table(out: &mut String, rows: &[&Row]) {
    let cells: Vec<_> = rows.iter().map(|row| plain(&row.cell())).collect();
    let metrics: Vec<_> = rows.iter().map(|row| cut(&plain(&row.label), LONGEST_CELL)).collect();
    let said: Vec<_> = rows.iter().map(|row| plain(&row.text)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let verdict = widest(&said).max(7);
    let narrow = WIDTH.saturating_sub(2 + 2 + 2 + verdict + SHORTEST_CELL);
    let metric = widest(&metrics).min(narrow.max(SHORTEST_FIGURE)).max(6);
    // What is left beside the verdict: both values, or that of the candidate, and the cell's name.
    let room = WIDTH.saturating_sub(2 + 2 + metric + 2 + verdict);
    let needed = widest(&cells).min(LONGEST_CELL);
    let both: Vec<_> = rows.iter().map(|row| row.both()).collect();
    let now: Vec<_> = rows.iter().map(|row| row.now()).collect();
    let choices = [(BOTH, both.clone()), ("B", now)];
    let values = choices.iter().find(|(_, texts)| widest(texts).max(6) + 2 + needed <= room);
    let taken = values.map_or(0, |(_, texts)| widest(texts).max(6));
    let left = if taken > 0 { room - taken - 2 } else { room };
    let cell = widest(&cells).min(left.max(SHORTEST_CELL)).max(4);
    let line = |parts: [&str; 4]| {
        let values = if taken > 0 { format!("  {:>taken$}", parts[2]) } else { String::new() };
        let text =
            format!("  {:<cell$}  {:<metric$}{values}  {}", cut(parts[0], cell), cut(parts[1], metric), parts[3]);
        format!("{}\n", text.trim_end())
    };
    out.push_str(&line(["cell", "figure", values.map_or("", |(head, _)| *head), "verdict"]));
    for (index, row) in rows.iter().enumerate() {
        let value = values.map_or("", |(_, texts)| &texts[index]);
        out.push_str(&line([&cells[index], &metrics[index], value, &said[index]]));
        // The loads are what was searched for: where no column has both, they have a line.
        let is_told = values.is_some_and(|(head, _)| *head == BOTH);
        if row.search.is_some() && !is_told && row.baseline.is_some() && row.candidate.is_some() {
            out.push_str(&format!("    {}: {}\n", metrics[index], both[index]));
        }
    }
}

/// A paragraph of at most 80 columns; its lines hang under the text behind the mark.
fn paragraph(out: &mut String, mark: &str, text: &str) {
    let hang = " ".repeat(mark.len().min(4));
    for (index, line) in wrap(&plain(text), WIDTH - mark.len()).iter().enumerate() {
        out.push_str(if index == 0 { mark } else { &hang });
        out.push_str(line);
        out.push('\n');
    }
}

/// A name that fits.
fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let start: String = text.chars().take(width - 1).collect();
    format!("{start}~")
}
