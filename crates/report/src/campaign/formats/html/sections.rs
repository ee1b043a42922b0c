//! The sections of the page: the findings, and a section a workload.

use hopbench_analysis::{CellSummary, Estimate, Finding, Outcome, RatioSummary, Summary, Verdict, WorkloadSummary};

use super::markup::{esc, folded, heading, id, table};
use super::{mesh, nodes, pooled, searches};
use crate::campaign::plot::Chart;
use crate::campaign::{page_text, plot, table_model};

/// More rows than this are left to the other formats: a browser would take long.
const MOST_ROWS: usize = 2000;

/// What is missing of the run.
pub(super) fn missing(summary: &Summary) -> String {
    let mut out = String::new();
    let run = &summary.run;
    if run.used_trials < run.planned_trials {
        let missing = run.planned_trials - run.used_trials;
        out.push_str(&format!(
            "<p class=\"alert\"><strong>{missing} of {} trials are in no figure.</strong> {}</p>\n",
            run.planned_trials,
            match summary.failures.len() {
                0 => page_text::missing(run, 0),
                n => format!(
                    "<a href=\"#failures\">{n} of them failed, with reasons.</a> {}",
                    page_text::missing(run, n)
                ),
            }
        ));
    }
    out
}

/// What a reader must know of the run as a whole.
pub(super) fn notes(summary: &Summary) -> String {
    let note = |note: &String| format!("<p class=\"alert\"><strong>Note:</strong> {}</p>\n", esc(note));
    summary.run.notes.iter().map(note).collect()
}

/// A headline a workload.
pub(super) fn findings(summary: &Summary) -> String {
    let mut out = format!("<section id=\"findings\">\n{}", heading(2, "findings", "Findings"));
    out.push_str("<ul class=\"cards\">\n");
    for (number, workload) in summary.workloads.iter().enumerate() {
        out.push_str(&format!(
            "<li><h3><a href=\"#{}\">{}</a> <span class=\"kind\">{}</span></h3><p>{}</p>{}</li>\n",
            id("workload", number),
            esc(&workload.name),
            esc(&workload.kind),
            esc(&workload.reference),
            list(&workload.findings)
        ));
    }
    summary.searches.iter().enumerate().for_each(|(number, search)| out.push_str(&searches::card(number, search)));
    out.push_str("</ul>\n<p class=\"note\">");
    out.push_str(&esc(&how_to_read(summary)));
    if let Some(text) = page_text::chance(summary) {
        out.push_str(&format!("</p>\n<p class=\"note\">{text}"));
    }
    out.push_str("</p>\n</section>\n");
    out
}

fn list(findings: &[Finding]) -> String {
    let item = |finding: &Finding| {
        let (class, sign) = look(finding.outcome);
        let text = esc(&finding.text);
        format!("<li><strong>{}</strong> <span class=\"verdict {class}\">{sign}{text}</span></li>", esc(&finding.paths))
    };
    match findings.iter().map(item).collect::<String>() {
        items if items.is_empty() => items,
        items => format!("<ul class=\"findings\">{items}</ul>"),
    }
}

/// Class and sign of an outcome. Its text says *slower* or *faster*: a colour is never the only
/// difference.
fn look(outcome: Outcome) -> (&'static str, &'static str) {
    match outcome {
        Outcome::Better => ("better", ""),
        Outcome::Worse => ("worse", ""),
        Outcome::More | Outcome::Less | Outcome::NotDecided | Outcome::NoiseFloor | Outcome::MinimumEffect => {
            ("same", "")
        }
        Outcome::TooFewRounds | Outcome::NoRatio => ("same", ""),
        Outcome::Generator => ("doubt", "! "),
    }
}

fn how_to_read(summary: &Summary) -> String {
    let run = &summary.run;
    let read = page_text::how_to_read(summary);
    if !page_text::is_measured(summary) {
        return read;
    }
    if run.rounds < 2 {
        return format!("{read} Take at least 3 rounds.");
    }
    let named = "A difference is named where the interval of the ratio excludes 1 and its p-value, corrected for all \
                 comparisons, is at most 5 %";
    let floor = if run.twin.is_some() {
        ", and where it is larger than what the baseline measured twice differs by"
    } else {
        ""
    };
    format!("{read} {named}{floor}.")
}

/// One workload: headline, plots, table.
pub(super) fn workload(summary: &Summary, number: usize, workload: &WorkloadSummary, charts: &[Chart]) -> String {
    let own = id("workload", number);
    let title = format!("{} <span class=\"kind\">{}</span>", esc(&workload.name), esc(&workload.kind));
    let mut out = format!(
        "<section id=\"{own}\">\n{}<p class=\"note\">{}</p>\n",
        heading(2, &own, &title),
        esc(&workload.setting)
    );
    if !charts.is_empty() {
        out.push_str("<div class=\"plots\">\n");
        charts.iter().for_each(|chart| out.push_str(&figure(chart, workload)));
        out.push_str("</div>\n");
    }
    out.push_str(&pooled::section(&own, workload));
    let rows = workload.cells.len();
    let mut tables = cells(summary, workload);
    page_text::marks(workload).for_each(|mark| tables.push_str(&format!("<p class=\"note\">{mark}</p>\n")));
    if rows > MOST_ROWS {
        tables
            .push_str(&format!("<p class=\"note\">The first {MOST_ROWS} of {rows} cells; summary.csv has all.</p>\n"));
    }
    let title = format!("Figures of {}", crate::number::counted(rows as u64, "cell", "cells"));
    out.push_str(&folded(&format!("{own}-cells"), &title, &tables));
    out.push_str(&mesh::section(&own, summary, workload));
    out.push_str(&nodes::section(&own, workload));
    out.push_str("</section>\n");
    out
}

fn figure(chart: &Chart, workload: &WorkloadSummary) -> String {
    let spoken = esc(&plot::spoken(chart, workload));
    let lines = if chart.kind != "line" { chart.categories.len() } else { 0 };
    let note =
        if chart.left_out.is_empty() { String::new() } else { format!(" <small>{}</small>", esc(&chart.left_out)) };
    format!(
        "<figure><figcaption>{}{note}</figcaption><div class=\"canvas {}\" data-bars=\"{lines}\">\
         <canvas id=\"{}\" role=\"img\" aria-label=\"{spoken}\">{spoken}</canvas></div></figure>\n",
        esc(&chart.title),
        chart.kind,
        chart.id
    )
}

fn cells(summary: &Summary, workload: &WorkloadSummary) -> String {
    let columns = table_model::columns(workload);
    let swept = !workload.parameters.is_empty();
    let compared = table_model::compared(workload);
    let mut head = "<tr><th scope=\"col\">Path</th>".to_owned();
    if swept {
        head.push_str(&format!("<th scope=\"col\">{}</th>", esc(table_model::point_head(workload))));
    }
    for (index, column) in columns.iter().enumerate() {
        let unit = column.scale.head();
        let unit = if unit.is_empty() { String::new() } else { format!("<small>{}</small>", esc(unit)) };
        head.push_str(&format!("<th scope=\"col\" class=\"n\">{}{unit}</th>", esc(column.label)));
        if index == 0 && compared {
            let baseline = esc(summary.run.baseline.as_deref().unwrap_or_default());
            head.push_str(&format!("<th scope=\"col\">against {baseline}<small>ratio, verdict</small></th>"));
        }
    }
    let warned = workload.cells.iter().any(|cell| cell.warnings > 0);
    head.push_str("<th scope=\"col\">Limited by</th>");
    head.push_str(if warned { "<th scope=\"col\" class=\"n\">Warnings</th></tr>" } else { "</tr>" });
    let mut body = String::new();
    let mut before = None;
    for cell in workload.cells.iter().take(MOST_ROWS) {
        // A line between points.
        let first = swept && before.is_some_and(|label: &str| label != cell.point_label);
        before = Some(cell.point_label.as_str());
        let is_baseline = summary.run.baseline.as_deref() == Some(cell.path.as_str());
        body.push_str(match (first, is_baseline) {
            (true, true) => "<tr class=\"first baseline\">",
            (true, false) => "<tr class=\"first\">",
            (false, true) => "<tr class=\"baseline\">",
            (false, false) => "<tr>",
        });
        let remark = table_model::full_remark(cell);
        let remark =
            if remark.is_empty() { remark } else { format!("<small class=\"remark\">{}</small>", esc(&remark)) };
        body.push_str(&format!("<th scope=\"row\">{}{remark}</th>", esc(&cell.path)));
        if swept {
            body.push_str(&format!(
                "<td class=\"point\">{}</td>",
                esc(table_model::point(workload, &cell.point_label))
            ));
        }
        for (index, column) in columns.iter().enumerate() {
            let interval = column.interval(cell).map_or(String::new(), |[low, high]| {
                if low == high { String::new() } else { format!("<small>{} – {}</small>", esc(&low), esc(&high)) }
            });
            let mark = match column.mark(cell) {
                "" => String::new(),
                mark => format!("<span title=\"{}\">{mark}</span>", far(column.of(cell))),
            };
            body.push_str(&format!("<td class=\"n\">{}{mark}{interval}</td>", esc(&column.median(cell))));
            if index == 0 && compared {
                body.push_str(&match workload.comparison(cell) {
                    Some(ratio) => {
                        comparison(ratio, table_model::floor(cell, column.of(cell)), table_model::note(workload, cell))
                    }
                    None if is_baseline => "<td class=\"quiet\">baseline</td>".to_owned(),
                    None => format!("<td>{}</td>", gap(table_model::note(workload, cell))),
                });
            }
        }
        body.push_str(&format!("<td>{}</td>", limits(cell)));
        if warned {
            body.push_str(&format!("<td class=\"n\">{}</td>", none(cell.warnings)));
        }
        body.push_str("</tr>\n");
    }
    let caption = format!("{}: figures of every cell, median over rounds with its interval", workload.name);
    table("cells", &caption, &head, &body)
}

/// The rounds that are far from the others.
fn far(figure: Option<&Estimate>) -> String {
    let rounds: Vec<String> = figure.iter().flat_map(|figure| &figure.outliers).map(u32::to_string).collect();
    format!("far from the others: round {}", rounds.join(", "))
}

/// A ratio with its verdict, or with the noise floor that it is.
fn comparison(ratio: &RatioSummary, floor: Option<String>, note: &str) -> String {
    let floor = floor.map(|text| format!("<span class=\"verdict same\">{}</span>", esc(&text)));
    let verdict = floor.unwrap_or_else(|| ratio.verdict.as_ref().map_or(String::new(), chip));
    format!("<td><span class=\"ratio\">×{}</span>{verdict}{}</td>", esc(&table_model::ratio(ratio)), gap(note))
}

/// What is missing from a comparison.
fn gap(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!("<span class=\"verdict gap doubt\">{}</span>", esc(note)) }
}

fn chip(verdict: &Verdict) -> String {
    let (class, sign) = look(verdict.outcome);
    format!("<span class=\"verdict {class}\">{sign}{}</span>", esc(&verdict.text))
}

fn limits(cell: &CellSummary) -> String {
    if cell.limited_by.is_empty() {
        return "<span class=\"quiet\">not measured</span>".to_owned();
    }
    format!("<code>{}</code>", esc(&page_text::marked_limits(cell)))
}

fn none(count: u32) -> String {
    if count == 0 { String::new() } else { count.to_string() }
}
