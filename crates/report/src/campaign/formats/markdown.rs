//! For a wiki page or an issue: the answer, then a table a workload.

mod answer;
mod mesh;
mod row;
mod searches;

pub(crate) use self::row::safe;

use self::row::row;
use crate::campaign::{Summary, SummaryFormat, WorkloadSummary, grid, words};

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
        let mut facts = vec![words::status(run.status).to_owned(), words::trials(summary)];
        facts.extend(words::rounds(summary));
        facts.extend(run.baseline.as_ref().map(|name| format!("baseline {}", safe(name))));
        facts.extend([run.testbed.to_owned(), safe(&run.started_at), format!("seed {}", run.seed)]);
        facts.extend(words::receive(summary).as_deref().map(safe));
        out.push_str(&format!("{}\n", facts.join(" · ")));
        out.push_str(&format!("\n{}\n", words::how_to_read(summary)));
        if let Some(text) = words::chance(summary) {
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
    let columns = grid::columns(workload);
    if columns.is_empty() {
        return;
    }
    let swept = !workload.parameters.is_empty();
    let compared = grid::compared(workload);
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
                let ratio = grid::comparison(workload, cell);
                texts.extend([ratio.map(grid::ratio).unwrap_or_default(), grid::said(workload, cell)]);
            }
        }
        texts.extend([safe(&words::marked_limits(cell)), cell.warnings.to_string()]);
        row(out, &texts);
    }
    let remarks = grid::remarks(workload);
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
                words::spaced(&warning.kind),
                crate::number::counted(u64::from(warning.trials), "trial", "trials"),
                safe(&warning.paths.join(", ")),
                safe(words::sentence(&warning.detail)),
                safe(words::sentence(&warning.next)),
            ));
        }
    }
}
