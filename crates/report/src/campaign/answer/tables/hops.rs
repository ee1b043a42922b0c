//! The table of hops: the steps from the path without proxies to the one with most of them.

use hopbench_analysis::text::load_text::saturated as saturated_at;
use hopbench_analysis::{Better, Summary, WaterfallStep, WaterfallSummary};
use hopbench_model::Variant;

use super::super::text::short;
use super::cell::{Cell, Value};
use super::table::{Column, Row, Table};

/// A figure: its name, and what people call it.
type Figure = (&'static str, &'static str);

/// Columns that have room beside each other.
const MOST_COLUMNS: usize = 6;
/// Rows of several subjects; with more, only the first subject has any.
const MOST_ROWS: usize = 10;

/// A row a step, of each workload its latency and CPU at the highest point; `None` without a family
/// of paths. With several subjects, each step has a row of each, as far as there is room.
pub(in super::super) fn table(summary: &Summary) -> Option<Table> {
    let mut subjects: Vec<Option<&String>> =
        summary.run.subjects.iter().map(|subject| Some(&subject.name)).collect();
    subjects.retain(|name| !of(summary, *name).is_empty());
    let all = of(summary, subjects.first().copied().flatten());
    // Of several with as many steps, the first.
    let longest = *all.iter().rev().max_by_key(|one| chain(one).count())?;
    let mut shown: Vec<&WaterfallSummary> = Vec::new();
    let is_of_family =
        |one: &&WaterfallSummary| one.family == longest.family && one.variant == longest.variant;
    for one in all.iter().copied().filter(is_of_family) {
        // The last of a workload is at its highest point.
        match shown.iter_mut().find(|known| known.workload == one.workload) {
            Some(known) => *known = one,
            None => shown.push(one),
        }
    }
    let figures =
        shown.iter().flat_map(|one| columns(one).into_iter().map(move |figure| (*one, figure)));
    let figures: Vec<(&WaterfallSummary, Figure)> = figures.take(MOST_COLUMNS).collect();
    let labels = labels(longest, &shown);
    if labels.len() * subjects.len() > MOST_ROWS {
        subjects.truncate(1);
    }
    let row = |label: &String, subject: Option<&String>| {
        let cells = figures.iter().map(|(one, (name, _))| match with(summary, subject, one) {
            Some(one) => cell(one, label, name),
            None => Cell::plain(Value::Absent),
        });
        let subject = subject.filter(|_| subjects.len() > 1);
        let subject = subject.map_or(String::new(), |subject| format!(", {subject}"));
        (format!("{label}{subject}"), cells.collect())
    };
    // Without subjects, the steps are those of no subject.
    let of_whom = if subjects.is_empty() { &[None][..] } else { &subjects };
    let rows = labels.iter().flat_map(|label| of_whom.iter().map(|subject| row(label, *subject)));
    let rows =
        rows.enumerate().map(|(place, (name, cells))| Row { name, cells, rank: -(place as f64) });
    let rows: Vec<Row> = rows.collect();
    let column = |(one, (_, label)): &(&WaterfallSummary, Figure)| Column {
        heads: [one.workload.clone(), (*label).to_owned(), one.point_label.clone()],
        better: Better::Neither,
    };
    let columns: Vec<Column> = figures.iter().map(column).collect();
    let families = families(&all);
    let more = if families > 1 { format!(" (1 of {families} families)") } else { String::new() };
    let variant = longest.variant.as_ref().filter(|name| *name != Variant::PLAIN);
    let variant = variant.map_or(String::new(), |variant| format!(", variant {variant}"));
    let only = subjects.first().copied().flatten().filter(|_| subjects.len() == 1);
    let subject = only.map_or(String::new(), |subject| format!(", subject {subject}"));
    let family = longest.family.replace('→', "to");
    let title = format!("each hop adds, {family}{variant}{subject}{more}");
    if rows.is_empty() || columns.is_empty() {
        return None;
    }
    Some(Table { title, columns, rows })
}

/// The waterfalls of a subject, or of a run without any.
fn of<'a>(summary: &'a Summary, subject: Option<&String>) -> Vec<&'a WaterfallSummary> {
    summary.waterfall.iter().filter(|one| one.subject.as_ref() == subject).collect()
}

/// The same waterfall with a subject. The subject's nodes, and so its family, have names of their
/// own. Its paths are compared with the same ones as the paths of the other.
fn with<'a>(
    summary: &'a Summary,
    subject: Option<&String>,
    one: &'a WaterfallSummary,
) -> Option<&'a WaterfallSummary> {
    let reference = |step: &'a WaterfallStep| {
        let path = summary.paths.iter().find(|path| path.name == step.path);
        path.and_then(|path| path.compared_with.as_ref()).unwrap_or(&step.path)
    };
    // Families may share their first path. A path that failed is no step.
    let proxied = |of: &'a WaterfallSummary| chain(of).skip(1).map(reference);
    let is_it = |other: &&'a WaterfallSummary| {
        other.workload == one.workload
            && other.point_label == one.point_label
            && proxied(other).any(|path| proxied(one).any(|known| known == path))
    };
    of(summary, subject).into_iter().find(is_it)
}

/// The steps that lead from the first path to the one with most proxies.
fn chain(waterfall: &WaterfallSummary) -> impl Iterator<Item = &WaterfallStep> {
    waterfall.steps.iter().filter(|step| step.in_chain || step.against.is_none())
}

/// The steps of all of these; those of the longest chain first.
fn labels(longest: &WaterfallSummary, shown: &[&WaterfallSummary]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for step in chain(longest).chain(shown.iter().flat_map(|one| chain(one))) {
        if !labels.contains(&step.label) {
            labels.push(step.label.clone());
        }
    }
    labels
}

/// The median of the latency and the CPU time, as far as they were measured.
fn columns(waterfall: &WaterfallSummary) -> Vec<Figure> {
    let figures = waterfall.figures();
    let latency = figures.iter().find(|(name, _)| name.contains("_p50"));
    let cpu = figures.iter().find(|(name, _)| name.starts_with("cpu_"));
    latency.into_iter().chain(cpu).copied().collect()
}

fn cell(waterfall: &WaterfallSummary, label: &str, name: &str) -> Cell {
    let step = chain(waterfall).find(|step| step.label == label);
    let Some(step) = step else { return Cell::plain(Value::Absent) };
    let Some(added) = step.of(name) else {
        let saturated = step.saturated_per_s.filter(|_| name.contains("_p50"));
        return Cell::plain(
            saturated.map_or(Value::Absent, |at| Value::Saturated(saturated_at(at))),
        );
    };
    let told = short(name, added.spread.median);
    let is_sure =
        added.spread.low.zip(added.spread.high).is_none_or(|(low, high)| low > 0.0 || high < 0.0);
    let value = match (&step.against, is_sure) {
        (None, _) => Value::Figure(told),
        (Some(_), false) => Value::NotDecided,
        (Some(_), true) if added.spread.median >= 0.0 => Value::Figure(format!("+{told}")),
        (Some(_), true) => Value::Figure(told),
    };
    Cell { value, is_doubtful: !step.note.is_empty() }
}

/// Families of paths with their variants.
fn families(all: &[&WaterfallSummary]) -> usize {
    let mut known: Vec<(&str, Option<&str>)> = Vec::new();
    for one in all {
        let family = (one.family.as_str(), one.variant.as_deref());
        if !known.contains(&family) {
            known.push(family);
        }
    }
    known.len()
}
