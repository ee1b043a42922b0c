//! The notes of the page: limits, caveats, failures, proof, environment, scenario.

use std::collections::BTreeMap;

use hopbench_analysis::{CellSummary, PathSummary, SkippedSummary, Summary};

use super::markup::{esc, facts, folded, heading, id, table};
use crate::campaign::page_text;
use crate::number::{bit_rate, counted};

/// More failures than this are counted, not listed; `records.jsonl` has them.
const MOST_FAILURES: usize = 200;
/// Paths whose proof is shown, at most.
const MOST_PATHS: usize = 400;
/// A text longer than this is cut, bytes; `run.json` has it.
const LONGEST_TEXT: usize = 200_000;

/// The last part of the page.
pub(super) fn all(summary: &Summary) -> String {
    let mut out = format!("<section id=\"evidence\">\n{}", heading(2, "evidence", "Evidence"));
    out.push_str(&limits(summary));
    out.push_str(&warnings(summary));
    out.push_str(&failures(summary));
    out.push_str(&skipped(summary));
    out.push_str("</section>\n");
    out.push_str(&paths(summary));
    out.push_str(&environment(summary));
    out.push_str("</section>\n");
    out
}

/// What limited the cells, counted.
fn limits(summary: &Summary) -> String {
    let mut seen_limits: BTreeMap<(usize, &str), (u64, Vec<&CellSummary>, &str)> = BTreeMap::new();
    for (number, workload) in summary.workloads.iter().enumerate() {
        for cell in &workload.cells {
            for limit in &cell.limited_by {
                let seen = seen_limits.entry((number, &limit.limit)).or_default();
                seen.0 += u64::from(limit.trials);
                seen.1.push(cell);
                if !limit.because.is_empty() {
                    seen.2 = &limit.because;
                }
            }
        }
    }
    let mut body = String::new();
    for ((number, limit), (trials, cells, because)) in &seen_limits {
        body.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{} <code>{}</code></td><td class=\"n\">{trials}</td><td>{}</td><td>{}</td></tr>\n",
            esc(&summary.workloads[*number].name),
            esc(&page_text::limit(limit)),
            esc(limit),
            esc(&paths_of(cells, summary.paths.len())),
            esc(because),
        ));
    }
    let head = "<tr><th scope=\"col\">Workload</th><th scope=\"col\">Limit</th><th scope=\"col\" class=\"n\">Trials</th>\
                <th scope=\"col\">Paths</th><th scope=\"col\">For example</th></tr>";
    let mut out = format!("<section id=\"limits\">\n{}", heading(3, "limits", "Limits and warnings"));
    if !body.is_empty() {
        let table = table("text", "What limited the trials", head, &body);
        out.push_str(&folded("limits-trials", "What limited the trials", &table));
    }
    out
}

/// The paths of these cells, each once.
fn paths_of(cells: &[&CellSummary], all: usize) -> String {
    let mut names: Vec<(usize, &str)> = cells.iter().map(|cell| (cell.path_index, cell.path.as_str())).collect();
    names.sort_unstable();
    names.dedup();
    match names.len() {
        n if n == all && n > 1 => "all".to_owned(),
        n if n > 6 => format!("{n} of {all}"),
        _ => names.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", "),
    }
}

fn warnings(summary: &Summary) -> String {
    if summary.warnings.is_empty() {
        return "<p>No warnings.</p>\n".to_owned();
    }
    let mut body = String::new();
    for warning in &summary.warnings {
        let paths = match warning.paths.len() {
            n if n > 6 => format!("{n} of {}", summary.paths.len()),
            _ => warning.paths.join(", "),
        };
        body.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td><td>{}</td><td>{}. <em>{}.</em></td></tr>\n",
            esc(&warning.workload),
            esc(&page_text::spaced(&warning.kind)),
            warning.trials,
            esc(&paths),
            esc(page_text::sentence(&warning.detail)),
            esc(page_text::sentence(&warning.next)),
        ));
    }
    let head = "<tr><th scope=\"col\">Workload</th><th scope=\"col\">Warning</th><th scope=\"col\" class=\"n\">Trials</th>\
                <th scope=\"col\">Paths</th><th scope=\"col\">For example, and what to do</th></tr>";
    let title = counted(summary.warnings.len() as u64, "kind of warning", "kinds of warnings");
    folded("warnings", &title, &table("text", "Warnings", head, &body))
}

fn failures(summary: &Summary) -> String {
    if summary.failures.is_empty() {
        return "<p id=\"failures\">No trial failed.</p>\n".to_owned();
    }
    let mut body = String::new();
    for failure in summary.failures.iter().take(MOST_FAILURES) {
        body.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
            esc(&failure.path),
            esc(&failure.workload),
            esc(&failure.point),
            failure.round,
            esc(&failure.reason),
        ));
    }
    let head = "<tr><th scope=\"col\">Path</th><th scope=\"col\">Workload</th><th scope=\"col\">Point</th>\
                <th scope=\"col\" class=\"n\">Round</th><th scope=\"col\">Why</th></tr>";
    let table = table("text", "Trials that are in no figure", head, &body);
    let more = summary.failures.len().saturating_sub(MOST_FAILURES);
    let more = if more > 0 {
        format!("<p class=\"note\">{more} more: see records.jsonl and run.json.</p>\n")
    } else {
        String::new()
    };
    let title = format!("{} in no figure", counted(summary.failures.len() as u64, "trial is", "trials are"));
    folded("failures", &title, &format!("{table}{more}"))
}

fn skipped(summary: &Summary) -> String {
    if summary.skipped.is_empty() {
        return String::new();
    }
    let row = |skipped: &SkippedSummary| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n",
            esc(&skipped.path),
            skipped.cells,
            esc(&skipped.reason)
        )
    };
    let body: String = summary.skipped.iter().map(row).collect();
    let head = "<tr><th scope=\"col\">Path</th><th scope=\"col\" class=\"n\">Cells</th><th scope=\"col\">Why</th></tr>";
    let table = table("text", "Cells that cannot be measured here", head, &body);
    folded("skipped", "Cells that cannot be measured here", &table)
}

fn paths(summary: &Summary) -> String {
    let mut out = format!(
        "<section id=\"paths\">\n{}<p class=\"note\">Every trial carries evidence that its traffic took the path. A trial \
         without it is in no figure.</p>\n",
        heading(3, "paths", "Paths and proof")
    );
    let paths = summary.paths.iter().take(MOST_PATHS).enumerate();
    paths.for_each(|(number, path)| out.push_str(&proof(number, path)));
    if summary.paths.len() > MOST_PATHS {
        out.push_str(&format!("<p class=\"note\">The first {MOST_PATHS} of {} paths.</p>\n", summary.paths.len()));
    }
    out.push_str("</section>\n");
    out
}

fn proof(number: usize, path: &PathSummary) -> String {
    let failed: u32 = path.proof.iter().map(|proof| proof.failed).sum();
    let (class, verdict) = match (path.proof.is_empty(), failed) {
        (true, _) => ("doubt", "no evidence".to_owned()),
        (_, 0) => ("same", "proved".to_owned()),
        (_, n) => ("worse", format!("{n} failed")),
    };
    let mut way = page_text::way(path);
    way.extend(path.proxies.as_ref().map(|proxies| format!(" ({proxies})")));
    if let Some(rate) = path.link_bits_per_s {
        way.push_str(&format!(", slowest link {}", bit_rate(rate as f64)));
    }
    way.extend(path.link_mtu_bytes.map(|bytes| format!(", MTU {bytes}")));
    way.extend(path.tunnel_bytes.filter(|bytes| *bytes > 0).map(|bytes| format!(", {bytes} B of tunnel a packet")));
    let rows: String = path
        .proof
        .iter()
        .map(|proof| {
            format!(
                "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                esc(&proof.hop),
                proof.ok,
                proof.failed,
                esc(&proof.evidence)
            )
        })
        .collect();
    let head = "<tr><th scope=\"col\">Hop</th><th scope=\"col\" class=\"n\">Proved</th>\
                <th scope=\"col\" class=\"n\">Failed</th><th scope=\"col\">Evidence of the last trial</th></tr>";
    let table = if rows.is_empty() {
        String::new()
    } else {
        table("text", &format!("Evidence for {}", path.name), head, &rows)
    };
    let title = format!(
        "<strong>{}</strong> <span class=\"verdict {class}\">{verdict}</span> <span class=\"quiet\">{}</span>",
        esc(&path.name),
        esc(&way)
    );
    folded(&id("path", number), &title, &table)
}

fn environment(summary: &Summary) -> String {
    let mut out = format!("<section id=\"environment\">\n{}", heading(3, "environment", "Environment"));
    let machine = facts("The machine and the tool", summary.environment.iter());
    if !machine.is_empty() {
        out.push_str(&folded("machine", "The machine and the tool", &machine));
    }
    if !summary.testbed.is_empty() {
        out.push_str(&folded("testbed", "The testbed", &facts("The testbed", summary.testbed.iter())));
    }
    let resolved = serde_json::to_string_pretty(&summary.resolved).unwrap_or_default();
    let texts = [
        ("scenario", "The scenario as written", &summary.scenario),
        ("resolved", "The scenario as resolved", &resolved),
    ];
    for (id, title, text) in texts {
        let cut = text.char_indices().map(|(at, _)| at).find(|at| *at >= LONGEST_TEXT);
        let (text, more) = match cut {
            Some(at) => (&text[..at], "\n... the rest is in run.json"),
            None => (text.as_str(), ""),
        };
        if !text.is_empty() {
            out.push_str(&folded(id, title, &format!("<pre>{}{more}</pre>\n", esc(text))));
        }
    }
    out.push_str("</section>\n");
    out
}
