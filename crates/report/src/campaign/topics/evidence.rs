//! The evidence: what limited trials, what is in no figure, the paths with their proof, and the
//! place of the run.

use std::collections::BTreeMap;

use hopbench_analysis::{
    CellSummary, FailureSummary, PathSummary, SkippedSummary, Summary, WarningSummary,
};

use super::workloads::bytes;
use crate::campaign::page_text;
use crate::document::{Block, Column, Form, Kind, Line, Part, Reach, Row, Table, Tone, grouped};
use crate::number::{bit_rate, counted};

/// More paths than this are counted.
const MOST_NAMED: usize = 6;

/// The evidence of the trials of a run, and of those that other tools made.
const PROVED: &str = "Every trial carries evidence that its traffic took the path. A trial without \
                      it is in no figure.";
const NOT_PROVED: &str =
    "Other tools measured these trials. No trial carries evidence that its traffic took a path.";

/// The part.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let failures = summary.failures.iter().map(failure).collect();
    let skipped = summary.skipped.iter().map(skipped).collect();
    let warnings = summary.warnings.iter().map(|one| warning(summary, one)).collect();
    let mut blocks = limits(summary);
    blocks.extend(list("explained", "What the figures hold", explanations(summary)));
    blocks.extend(list("failures", "Not in any figure", failures));
    blocks.extend(list("skipped", "Not measured here", skipped));
    blocks.extend(list("warnings", "Warnings", warnings));
    blocks.push(paths(summary));
    blocks.push(environment(summary));
    vec![Part::open("evidence", "Evidence", blocks).into()]
}

/// Lines below a heading; `None` without any.
fn list(id: &str, title: &str, lines: Vec<Line>) -> Option<Block> {
    if lines.is_empty() {
        return None;
    }
    Some(Part::new(Form::Folded, id, title, vec![Block::List(lines)]).into())
}

/// The limits of the cells, counted.
fn limits(summary: &Summary) -> Vec<Block> {
    let mut seen_limits: BTreeMap<(usize, &str), (u64, Vec<&CellSummary>, &str)> = BTreeMap::new();
    for (number, workload) in summary.workloads.iter().enumerate() {
        for cell in &workload.cells {
            // Other tools do not say it.
            for limit in cell.limited_by.iter().filter(|limit| !limit.limit.is_empty()) {
                let seen = seen_limits.entry((number, &limit.limit)).or_default();
                seen.0 += u64::from(limit.trials);
                seen.1.push(cell);
                if !limit.because.is_empty() {
                    seen.2 = &limit.because;
                }
            }
        }
    }
    if seen_limits.is_empty() {
        return Vec::new();
    }
    let row = |((number, limit), (trials, cells, because)): (
        &(usize, &str),
        &(u64, Vec<&CellSummary>, &str),
    )| {
        let mut names: Vec<(usize, &str)> =
            cells.iter().map(|cell| (cell.path_index, cell.path.as_str())).collect();
        names.sort_unstable();
        names.dedup();
        let names: Vec<&str> = names.into_iter().map(|(_, name)| name).collect();
        let words = format!("{} ({limit})", page_text::limit(limit));
        let workload = summary.workloads[*number].name.clone();
        let paths = named(summary, &names);
        Row::of([workload, words, trials.to_string(), paths, (*because).to_owned()].map(Into::into))
    };
    let columns = vec![
        Column::name("workload"),
        Column::words("limit"),
        Column::number("trials", ""),
        Column::words("paths"),
        Column::words("for example"),
    ];
    let title = "What limited the trials";
    let rows = seen_limits.iter().map(row).collect();
    let table =
        Table { caption: title.to_owned(), is_titled: false, kind: Kind::Words, columns, rows };
    vec![Part::new(Form::Closed, "limits", title, vec![table.into()]).into()]
}

/// What the trials of each cell say of their figures, unless it stands beside their own table. A
/// sentence of several cells stands once.
fn explanations(summary: &Summary) -> Vec<Line> {
    let cells = summary
        .workloads
        .iter()
        .filter(|workload| !bytes::is_known(workload) && workload.peer.is_none())
        .flat_map(|workload| workload.cells.iter().map(move |cell| (workload, cell)));
    let all = cells.flat_map(|(workload, cell)| {
        let name = [&*workload.name, &cell.point_label, "on", &cell.path];
        let name: Vec<&str> = name.into_iter().filter(|word| !word.is_empty()).collect();
        let name = name.join(" ");
        cell.explanation
            .iter()
            .map(move |text| (page_text::sentence(text).to_owned(), name.clone()))
    });
    grouped(all).into_iter().map(Line::from).collect()
}

/// Names of paths, or how many they are.
fn named(summary: &Summary, names: &[&str]) -> String {
    let all = summary.paths.len();
    match names.len() {
        n if n == all && n > 1 => "all paths".to_owned(),
        n if n > MOST_NAMED => format!("{n} of {all} paths"),
        _ => names.join(", "),
    }
}

fn failure(failure: &FailureSummary) -> Line {
    let cell = [&*failure.path, &failure.workload, &failure.point].join(" ");
    Line::named(&format!("{} round {}", cell.trim_end(), failure.round), &failure.reason)
}

fn skipped(skipped: &SkippedSummary) -> Line {
    Line::named(
        &format!("{}, {}", skipped.path, counted(skipped.cells, "cell", "cells")),
        &skipped.reason,
    )
}

fn warning(summary: &Summary, warning: &WarningSummary) -> Line {
    let names: Vec<&str> = warning.paths.iter().map(String::as_str).collect();
    let trials = counted(u64::from(warning.trials), "trial", "trials");
    let [detail, next] = [&warning.detail, &warning.next].map(|text| page_text::sentence(text));
    let kind = page_text::spaced(&warning.kind);
    Line::named(
        &warning.workload,
        format!("{kind} in {trials} ({}): {detail}; {next}", named(summary, &names)),
    )
}

/// The way of each path, and the proof that traffic took it.
fn paths(summary: &Summary) -> Block {
    let note = if summary.run.imported { NOT_PROVED } else { PROVED };
    let mut blocks = vec![Block::note(note)];
    if summary.run.imported {
        let line = |path: &PathSummary| Line::named(&path.name, "imported, not proved");
        blocks.push(Block::List(summary.paths.iter().map(line).collect()));
    } else if !summary.paths.is_empty() {
        blocks.push(Block::List(summary.paths.iter().map(path).collect()));
    }
    let columns = vec![
        Column::name("path"),
        Column::words("hop"),
        Column::number("proved", ""),
        Column::number("failed", ""),
        Column::words("evidence of the last trial"),
    ];
    let rows =
        summary.paths.iter().flat_map(|path| path.proof.iter().map(|proof| (&path.name, proof)));
    let rows: Vec<Row> = rows
        .map(|(name, proof)| {
            let [ok, failed] = [proof.ok, proof.failed].map(|count| count.to_string());
            Row::of(
                [name.clone(), proof.hop.clone(), ok, failed, proof.evidence.clone()]
                    .map(Into::into),
            )
        })
        .collect();
    if !rows.is_empty() {
        let title = "Evidence of every hop";
        let table =
            Table { caption: title.to_owned(), is_titled: false, kind: Kind::Words, columns, rows };
        blocks.push(
            Part::new(Form::Closed, "proof", title, vec![table.into()]).only(Reach::Page).into(),
        );
    }
    Part::open("paths", "Paths and proof", blocks).into()
}

/// `both: bridge@a to bridge@b, mesh both (mTLS, any HTTP, 2 workers): proved`.
fn path(path: &PathSummary) -> Line {
    let mut way = page_text::way(path);
    way.extend(path.proxies.as_ref().map(|proxies| format!(" ({proxies})")));
    if let Some(rate) = path.link_bits_per_s {
        way.push_str(&format!(", slowest link {}", bit_rate(rate as f64)));
    }
    way.extend(path.link_mtu_bytes.map(|bytes| format!(", MTU {bytes}")));
    way.extend(
        path.tunnel_bytes
            .filter(|bytes| *bytes > 0)
            .map(|bytes| format!(", {bytes} B of tunnel a packet")),
    );
    let failed: u32 = path.proof.iter().map(|proof| proof.failed).sum();
    let (tone, verdict) = match (path.proof.is_empty(), failed, &path.partly_proved) {
        (true, ..) => (Tone::Doubt, "no evidence".to_owned()),
        (_, 0, Some(why)) => (Tone::Doubt, format!("partly proved: {why}")),
        (_, 0, None) => (Tone::Same, "proved".to_owned()),
        (_, n, _) => (Tone::Doubt, format!("{n} failed")),
    };
    Line::named(&path.name, way + ": ").with(tone, verdict)
}

/// The machine, the tool, the testbed, and the scenario.
fn environment(summary: &Summary) -> Block {
    let facts = summary.environment.iter().chain(&summary.testbed);
    let rows: Vec<Row> = facts
        .map(|(name, value)| Row::of([name.replace('_', " "), value.clone()].map(Into::into)))
        .collect();
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        let title = "The machine, the tool and the testbed";
        let columns = vec![Column::name("fact"), Column::words("value")];
        let table =
            Table { caption: title.to_owned(), is_titled: false, kind: Kind::Words, columns, rows };
        blocks.push(Part::new(Form::Closed, "machine", title, vec![table.into()]).into());
    }
    let resolved = serde_json::to_string_pretty(&summary.resolved).unwrap_or_default();
    // Of files of other tools nothing was resolved.
    let resolved = if summary.run.imported { String::new() } else { resolved };
    let texts = [
        ("scenario", "The scenario as written", summary.scenario.clone()),
        ("resolved", "The scenario as resolved", resolved),
    ];
    for (id, title, text) in texts.into_iter().filter(|(.., text)| !text.is_empty()) {
        blocks.push(
            Part::new(Form::Closed, id, title, vec![Block::Listing(text)]).only(Reach::Page).into(),
        );
    }
    Part::open("environment", "Environment", blocks).into()
}
