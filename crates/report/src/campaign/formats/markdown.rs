//! Markdown for a wiki page or an issue: the answer, then a table a workload.

mod answer;
mod mesh;
mod searches;

use hopbench_analysis::text::status;
use hopbench_analysis::{Summary, WorkloadSummary};

use crate::campaign::format::SummaryFormat;
use crate::campaign::{page_text, table_model};
use crate::text::markdown::{row, safe};

/// More failures than this are counted, not listed; `records.jsonl` has them.
const MOST_FAILURES: usize = 50;

/// The format; see the [module](self).
#[derive(Debug)]
pub(super) struct Markdown;

impl SummaryFormat for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn summary(&self) -> &'static str {
        "for a wiki or an issue: the answer, then a table a workload"
    }

    fn render(&self, summary: &Summary) -> String {
        let run = &summary.run;
        let mut out = format!("# {}\n", safe(&run.name));
        answer::write(&mut out, summary);
        out.push_str("\n## Details\n\n");
        let mut facts = vec![status(run.status).to_owned(), page_text::trials(summary)];
        facts.extend(page_text::rounds(summary));
        facts.extend(run.baseline.as_ref().map(|name| format!("baseline {}", safe(name))));
        facts.extend([run.testbed.to_owned(), safe(&run.started_at), format!("seed {}", run.seed)]);
        facts.extend(page_text::receive(summary).as_deref().map(safe));
        out.push_str(&format!("{}\n", facts.join(" · ")));
        out.push_str(&format!("\n{}\n", page_text::how_to_read(summary)));
        if let Some(text) = page_text::chance(summary) {
            out.push_str(&format!("\n{text}\n"));
        }
        run.notes.iter().for_each(|note| out.push_str(&format!("\n**Note:** {}\n", safe(note))));
        mesh::ways(&mut out, summary);
        for workload in &summary.workloads {
            one(&mut out, summary, workload);
            mesh::one(&mut out, summary, workload);
        }
        searches::all(&mut out, summary);
        caveats(&mut out, summary);
        out.push_str("\n## Environment\n\n");
        row(&mut out, &["fact", "value"].map(str::to_owned));
        out.push_str("| --- | --- |\n");
        for (name, value) in summary.environment.iter().chain(&summary.testbed) {
            row(&mut out, &[safe(name), safe(value)]);
        }
        out
    }
}

fn one(out: &mut String, summary: &Summary, workload: &WorkloadSummary) {
    out.push_str(&format!("\n## {} ({})\n\n", safe(&workload.name), safe(&workload.kind)));
    out.push_str(&format!("{}. {}\n\n", safe(&workload.setting), safe(&workload.headline)));
    let columns = table_model::columns(workload);
    if columns.is_empty() {
        return;
    }
    let swept = !workload.parameters.is_empty();
    let compared = table_model::compared(workload);
    let mut heads = vec!["path".to_owned()];
    let mut aligned = vec![":--"];
    if swept {
        heads.push("point".to_owned());
        aligned.push(":--");
    }
    for (index, column) in columns.iter().enumerate() {
        let unit = column.scale.head();
        heads.push(if unit.is_empty() { column.label.to_owned() } else { format!("{}, {unit}", column.label) });
        aligned.push("--:");
        if index == 0 && compared {
            let baseline = safe(summary.run.baseline.as_deref().unwrap_or_default());
            heads.extend([format!("ratio to {baseline}"), "verdict".to_owned()]);
            aligned.extend(["--:", ":--"]);
        }
    }
    heads.extend(["limited by".to_owned(), "warnings".to_owned()]);
    aligned.extend([":--", "--:"]);
    row(out, &heads);
    out.push_str(&format!("| {} |\n", aligned.join(" | ")));
    for cell in &workload.cells {
        let mut texts = vec![safe(&cell.path)];
        if swept {
            texts.push(safe(&cell.point_label));
        }
        for (index, column) in columns.iter().enumerate() {
            let interval = column.interval(cell).map_or(String::new(), |[low, high]| format!(" [{low}, {high}]"));
            texts.push(format!("{}{interval}{}", column.median(cell), safe(column.mark(cell))));
            if index == 0 && compared {
                let ratio = workload.comparison(cell);
                texts.extend([ratio.map(table_model::ratio).unwrap_or_default(), table_model::said(workload, cell)]);
            }
        }
        texts.extend([safe(&page_text::marked_limits(cell)), cell.warnings.to_string()]);
        row(out, &texts);
    }
    let remarks = table_model::remarks(workload);
    if !remarks.is_empty() {
        out.push('\n');
        remarks.iter().for_each(|remark| out.push_str(&format!("- {}\n", safe(remark))));
    }
}

fn caveats(out: &mut String, summary: &Summary) {
    if !summary.failures.is_empty() {
        out.push_str("\n## Not in any figure\n\n");
        for failure in summary.failures.iter().take(MOST_FAILURES) {
            let what = [&failure.path, &failure.workload, &failure.point].map(|text| safe(text)).join(" ");
            out.push_str(&format!("- {} round {}: {}\n", what.trim_end(), failure.round, safe(&failure.reason)));
        }
        let more = summary.failures.len().saturating_sub(MOST_FAILURES);
        if more > 0 {
            out.push_str(&format!("- {more} more: see records.jsonl and run.json\n"));
        }
    }
    if !summary.skipped.is_empty() {
        out.push_str("\n## Not measured here\n\n");
        for skipped in &summary.skipped {
            let cells = crate::number::counted(skipped.cells, "cell", "cells");
            out.push_str(&format!("- {}, {cells}: {}\n", safe(&skipped.path), safe(&skipped.reason)));
        }
    }
    if !summary.warnings.is_empty() {
        out.push_str("\n## Warnings\n\n");
        for warning in &summary.warnings {
            out.push_str(&format!(
                "- {}: {} in {} ({}): {}. {}.\n",
                safe(&warning.workload),
                page_text::spaced(&warning.kind),
                crate::number::counted(u64::from(warning.trials), "trial", "trials"),
                safe(&warning.paths.join(", ")),
                safe(page_text::sentence(&warning.detail)),
                safe(page_text::sentence(&warning.next)),
            ));
        }
    }
}
