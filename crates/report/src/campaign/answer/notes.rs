//! The notes of the answer: caveats of the figures, a sentence each, the worst first.

use hopbench_analysis::compare::CaseState;
use hopbench_analysis::{CellSummary, Summary, WorkloadSummary};

use crate::campaign::{page_text, table_model};
use crate::number::counted;

/// Names of one note; more are counted.
const MOST_NAMED: usize = 3;

/// The notes of a run.
pub(super) fn all(summary: &Summary) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    out.extend(bounds(summary));
    out.extend(failures(summary));
    out.extend(summary.workloads.iter().flat_map(cells));
    out.extend(summary.workloads.iter().filter_map(peer));
    out.extend(summary.run.notes.iter().map(|note| page_text::sentence(note).to_owned()));
    // As root both the rates and their order can be others.
    out.extend(page_text::receive(summary).filter(|how| how.contains("needs root")).map(|how| {
        format!("receive {how}: throughput and its ratios can differ from a run as root")
    }));
    for skipped in &summary.skipped {
        let cells = counted(skipped.cells, "cell", "cells");
        out.push(format!("not measured: {cells} of {}: {}", skipped.path, skipped.reason));
    }
    for workload in &summary.workloads {
        out.extend(table_model::gaps(workload));
    }
    for search in &summary.searches {
        let doubtful =
            search.paths.iter().filter(|path| path.is_doubtful()).map(|path| path.path.as_str());
        out.extend(
            named(doubtful).map(|paths| format!("search of {}: {paths} doubtful", search.name())),
        );
    }
    for warning in &summary.warnings {
        let trials = counted(u64::from(warning.trials), "trial", "trials");
        let (workload, kind) = (&warning.workload, page_text::spaced(&warning.kind));
        out.push(format!(
            "{workload}: {kind} in {trials}: {}",
            page_text::sentence(&warning.detail)
        ));
    }
    let mut doubts: Vec<&str> =
        summary.waterfall.iter().map(|waterfall| waterfall.note.as_str()).collect();
    doubts.sort_unstable();
    doubts.dedup();
    out.extend(
        doubts
            .into_iter()
            .filter(|note| !note.is_empty())
            .map(|note| format!("what each hop adds: {note}")),
    );
    out
}

/// The bounds of subjects that are broken, each by its first case, and those that nobody could
/// judge.
fn bounds(summary: &Summary) -> Vec<String> {
    let mut out = Vec::new();
    for subject in &summary.run.subjects {
        for bound in &subject.bounds {
            let mut broken = bound.cases_of(CaseState::Broken);
            if let Some(first) = broken.next() {
                let more = match broken.count() {
                    0 => String::new(),
                    count => format!("; and {count} more"),
                };
                out.push(format!(
                    "bound {} of {} is broken: {}: {}{more}",
                    bound.bound, subject.name, first.cell, first.text
                ));
            }
            let blind = bound.cases.iter().filter(|case| !case.state.is_judged()).count();
            if blind > 0 {
                out.push(format!(
                    "bound {} of {}: {blind} of {} could not tell; give the run more time",
                    bound.bound,
                    subject.name,
                    counted(bound.cases.len() as u64, "cell", "cells")
                ));
            }
        }
    }
    out
}

/// How the figures of a tool of others compare with ours, and the first reason why they differ.
fn peer(workload: &WorkloadSummary) -> Option<String> {
    let peer = workload.peer.as_ref()?;
    let told = peer.comparisons.iter().filter_map(|one| {
        let verdict = one.ratio.verdict.as_ref()?;
        let note = if one.note.is_empty() { String::new() } else { format!("({})", one.note) };
        let at = [one.path.as_str(), &one.point, &verdict.text, &note];
        Some(at.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
    });
    let told: Vec<String> = told.collect();
    let told = named(told.iter().map(String::as_str))?;
    let why = peer.differs.last().map_or("", |text| page_text::sentence(text));
    Some(format!("{} beside {}: {told}; {why}", peer.tool, peer.of))
}

/// Trials that are in no figure, and the first of them.
fn failures(summary: &Summary) -> Option<String> {
    let first = summary.failures.first()?;
    let point = if first.point.is_empty() { String::new() } else { format!(" {}", first.point) };
    let example =
        format!("{} {}{point} round {}: {}", first.path, first.workload, first.round, first.reason);
    Some(match summary.failures.len() {
        1 => format!("in no figure: {example}"),
        count => format!("in no figure: {count} trials, for example {example}"),
    })
}

/// Peculiarities of a workload's cells.
fn cells(workload: &WorkloadSummary) -> Vec<String> {
    let those = |wanted: fn(&CellSummary) -> bool| {
        let mut paths: Vec<&str> =
            workload.cells.iter().filter(|cell| wanted(cell)).map(|cell| &*cell.path).collect();
        paths.dedup();
        named(paths.into_iter())
    };
    let name = &workload.name;
    let late = those(|cell| cell.generator_limited);
    let late =
        late.map(|paths| format!("{name}: the load generator was late on {paths}: no verdict"));
    let saturated = workload.cells.iter().filter_map(|cell| {
        let text = [cell.path.as_str(), &cell.point_label, &cell.saturated()?];
        Some(text.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" "))
    });
    let saturated: Vec<String> = saturated.collect();
    let saturated = named(saturated.iter().map(String::as_str))
        .map(|cells| format!("{name}: latency not compared: {cells}"));
    let errors = those(|cell| !cell.errors.is_empty());
    let errors = errors.map(|paths| format!("{name}: exchanges failed on {paths}"));
    let bypasses = those(|cell| cell.bypasses_proxy);
    let bypasses = bypasses.map(|paths| format!("{name}: no proxy saw the traffic of {paths}"));
    late.into_iter().chain(saturated).chain(errors).chain(bypasses).collect()
}

/// `a, b, c and 2 more`; `None` without any.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(MOST_NAMED);
    let shown = all[..all.len() - more].join(", ");
    match (all.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(shown),
        _ => Some(format!("{shown} and {more} more")),
    }
}
