//! The page: the run, a table a workload, searches, caveats.

use hopbench_analysis::text::status;
use hopbench_analysis::{CellSummary, Summary, WorkloadSummary};

use super::block::{self, Text};
use super::out::{Out, cut, paragraph};
use super::{mesh, searches};
use crate::campaign::{page_text, table_model};

/// More failures than this are counted, not listed; `records.jsonl` has them.
const MOST_FAILURES: usize = 20;

/// All tables in so many columns.
pub(super) fn text(summary: &Summary, width: usize) -> String {
    let mut out = Out::new(width);
    head(&mut out, summary);
    mesh::ways(&mut out, summary);
    for workload in &summary.workloads {
        out.push_str("\n");
        one(&mut out, summary, workload);
    }
    searches::all(&mut out, summary);
    caveats(&mut out, summary);
    out.text
}

fn head(out: &mut Out, summary: &Summary) {
    let run = &summary.run;
    let baseline = run.baseline.as_ref().map_or(String::new(), |name| format!(", baseline {name}"));
    paragraph(
        out,
        &format!(
            "{}: {}, {}{}{baseline}",
            run.name,
            status(run.status),
            page_text::trials(summary),
            page_text::rounds(summary).map_or(String::new(), |rounds| format!(", {rounds}")),
        ),
        "",
    );
    paragraph(out, &format!("{}, {}, seed {}", run.testbed, run.started_at, run.seed), "");
    if let Some(text) = page_text::receive(summary) {
        paragraph(out, &text, "");
    }
    paragraph(out, &page_text::how_to_read(summary), "");
    if let Some(text) = page_text::chance(summary) {
        paragraph(out, &text, "");
    }
    run.notes.iter().for_each(|note| paragraph(out, &format!("note: {}", page_text::sentence(note)), ""));
}

fn one(out: &mut Out, summary: &Summary, workload: &WorkloadSummary) {
    paragraph(out, &format!("{} ({}): {}", workload.name, workload.kind, workload.setting), "");
    paragraph(out, &workload.headline, "  ");
    let (keys, figures) = blocks(summary, workload);
    if workload.cells.is_empty() || figures.is_empty() {
        return;
    }
    block::write(out, &keys, &figures);
    let remarks = table_model::remarks(workload);
    if !remarks.is_empty() {
        out.push_str("\n");
        remarks.iter().for_each(|remark| paragraph(out, &format!("- {remark}"), "  "));
    }
    mesh::one(out, summary, workload);
}

/// What names a row, and its figures.
fn blocks(summary: &Summary, workload: &WorkloadSummary) -> (Vec<Text>, Vec<Text>) {
    let texts = |head: [&str; 2], right: bool, text: &dyn Fn(&CellSummary) -> String| {
        Text::new(head, right, workload.cells.iter().map(text).collect())
    };
    let mut keys = vec![texts(["path", ""], false, &|cell| cut(&cell.path))];
    if !workload.parameters.is_empty() {
        keys.push(texts(["point", ""], false, &|cell| cut(&cell.point_label)));
    }
    let mut figures = Vec::new();
    for (index, column) in table_model::columns(workload).iter().enumerate() {
        let main = index == 0;
        let marked = workload.cells.iter().any(|cell| !column.mark(cell).is_empty());
        figures.push(texts([column.label, column.scale.head()], true, &|cell| {
            let interval = column.interval(cell).filter(|_| main);
            let interval = interval.map_or(String::new(), |[low, high]| format!(" [{low}, {high}]"));
            // Beside marks, numbers stay below each other.
            let mark = if marked && column.mark(cell).is_empty() { " " } else { column.mark(cell) };
            format!("{}{interval}{mark}", column.median(cell))
        }));
        if main && table_model::compared(workload) {
            let to = format!("to {}", cut(summary.run.baseline.as_deref().unwrap_or_default()));
            figures.push(texts(["ratio", &to], true, &|cell| {
                workload.comparison(cell).map(table_model::ratio).unwrap_or_default()
            }));
            if table_model::judged(workload) {
                figures.push(texts(["verdict", ""], false, &|cell| table_model::verdict(workload, cell)));
            }
        }
    }
    figures.push(texts(["limited by", ""], false, &|cell| cut(&page_text::marked_limits(cell))));
    if workload.cells.iter().any(|cell| cell.warnings > 0) {
        figures.push(texts(["warnings", ""], true, &|cell| match cell.warnings {
            0 => String::new(),
            n => n.to_string(),
        }));
    }
    (keys, figures)
}

fn caveats(out: &mut Out, summary: &Summary) {
    if !summary.failures.is_empty() {
        out.push_str("\nnot in any figure\n");
        for failure in summary.failures.iter().take(MOST_FAILURES) {
            let point = if failure.point.is_empty() { String::new() } else { format!(" {}", failure.point) };
            let (path, workload) = (&failure.path, &failure.workload);
            let text = format!("- {path} {workload}{point} round {}: {}", failure.round, failure.reason);
            paragraph(out, &text, "  ");
        }
        let more = summary.failures.len().saturating_sub(MOST_FAILURES);
        if more > 0 {
            paragraph(out, &format!("- {more} more: see records.jsonl and run.json"), "  ");
        }
    }
    let gaps: Vec<_> = summary.workloads.iter().flat_map(table_model::gaps).collect();
    if !gaps.is_empty() {
        out.push_str("\nnot compared\n");
        gaps.iter().for_each(|gap| paragraph(out, &format!("- {gap}"), "  "));
    }
    if !summary.skipped.is_empty() {
        out.push_str("\nnot measured here\n");
        for skipped in &summary.skipped {
            let cells = crate::number::counted(skipped.cells, "cell", "cells");
            paragraph(out, &format!("- {}, {cells}: {}", skipped.path, skipped.reason), "  ");
        }
    }
    if !summary.warnings.is_empty() {
        out.push_str("\nwarnings\n");
        for warning in &summary.warnings {
            let text = format!(
                "- {}: {} in {}: {}; {}",
                warning.workload,
                page_text::spaced(&warning.kind),
                crate::number::counted(u64::from(warning.trials), "trial", "trials"),
                page_text::sentence(&warning.detail),
                page_text::sentence(&warning.next),
            );
            paragraph(out, &text, "  ");
        }
    }
}
