//! Markdown for a comment on a change: the changes as a table, the rest in lists.

use hopbench_analysis::compare::harmless;

use crate::comparison::{Comparison, ComparisonFormat, Difference, Row, RunSummary};
use crate::text::markdown::safe;

/// More rows or cells than this are counted, not listed: comments have a greatest length.
const MOST_ROWS: usize = 200;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Markdown;

impl ComparisonFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "for a comment on a change"
    }

    fn render(&self, comparison: &Comparison, all: bool) -> String {
        let broken: Vec<_> = comparison.bounds.iter().flat_map(|bound| bound.broken()).collect();
        let mut out = String::new();
        out.push_str(&format!("### hopbench: {}\n\n", comparison.counts()));
        if let Some(headline) = comparison.headline() {
            out.push_str(&format!("**{headline}.**\n\n"));
            broken.iter().for_each(|line| item(&mut out, &format!("broken: {line}")));
            comparison.bounds.iter().for_each(|bound| item(&mut out, &bound.kept()));
            comparison.warnings().iter().for_each(|text| item(&mut out, text));
            out.push('\n');
        }
        comparison.baseline.iter().for_each(|run| self::run(&mut out, "A", run));
        comparison.candidate.iter().for_each(|run| self::run(&mut out, "B", run));
        if !comparison.unlike.is_empty() {
            out.push_str("\n**Runs of one side are not alike:**\n\n");
            comparison.unlike.iter().for_each(|unlike| item(&mut out, &unlike.text()));
        }
        differences(&mut out, &comparison.differences);
        rows(&mut out, comparison, all);
        let notes = comparison.withheld().into_iter().chain(comparison.notes());
        let apart = comparison.not_compared.iter().take(MOST_ROWS);
        let apart = apart.map(|cell| format!("not compared: {}: {}", cell.cell, cell.reason));
        let lines: Vec<_> = notes.chain(apart).collect();
        if !lines.is_empty() {
            out.push('\n');
            lines.iter().for_each(|line| item(&mut out, line));
        }
        let more = comparison.not_compared.len().saturating_sub(MOST_ROWS);
        if more > 0 {
            item(&mut out, &format!("{more} more are not compared"));
        }
        out.push_str(&format!("\n{}\n", comparison.caveat()));
        out
    }
}

fn run(out: &mut String, side: &str, run: &RunSummary) {
    let left_out = run.left_out.text().map_or(String::new(), |text| format!("; {text}"));
    item(out, &format!("{side} is {}{left_out}", run.text()));
}

fn differences(out: &mut String, all: &[Difference]) {
    if all.iter().any(|difference| difference.matters) {
        out.push_str("\n**What differs and can change figures:**\n\n");
        all.iter().filter(|d| d.matters).for_each(|difference| item(out, &difference.text()));
    }
    if let Some(text) = harmless(all) {
        item(out, &text);
    }
}

fn rows(out: &mut String, comparison: &Comparison, all: bool) {
    let rows: Vec<&Row> = comparison.comparisons.iter().filter(|row| all || row.outcome.is_called()).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str("\n| cell | figure | A -> B | verdict |\n| :-- | :-- | --: | :-- |\n");
    for row in rows.iter().take(MOST_ROWS) {
        let texts = [row.cell(), row.label.clone(), row.both(), row.text.clone()].map(|text| safe(&text));
        out.push_str(&format!("| {} |\n", texts.join(" | ")));
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    if more > 0 {
        out.push_str(&format!("\n{more} more: `--format json` has them all.\n"));
    }
}

fn item(out: &mut String, text: &str) {
    out.push_str(&format!("- {}\n", safe(text)));
}
