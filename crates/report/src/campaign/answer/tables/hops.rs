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

/// A row a step, of each workload its latency and CPU at the highest point; `None` without a family
/// of paths. Of several subjects, those of the first that has any.
pub(in super::super) fn table(summary: &Summary) -> Option<Table> {
    let mut subjects = summary.run.subjects.iter().map(|subject| &subject.name);
    let subject = subjects.find(|name| !of(summary, Some(*name)).is_empty());
    let all = of(summary, subject);
    // Of several with as many steps, the first.
    let longest = *all.iter().rev().max_by_key(|one| chain(one).count())?;
    let is_family =
        |one: &&WaterfallSummary| one.family == longest.family && one.variant == longest.variant;
    let mut shown: Vec<&WaterfallSummary> = Vec::new();
    for one in all.iter().copied().filter(is_family) {
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
    let row = |(place, label): (usize, &String)| Row {
        name: label.clone(),
        cells: figures.iter().map(|(one, (name, _))| cell(one, label, name)).collect(),
        rank: -(place as f64),
    };
    let rows: Vec<Row> = labels.iter().enumerate().map(row).collect();
    let column = |(one, (_, label)): &(&WaterfallSummary, Figure)| Column {
        heads: [one.workload.clone(), (*label).to_owned(), one.point_label.clone()],
        better: Better::Neither,
    };
    let columns: Vec<Column> = figures.iter().map(column).collect();
    let families = families(&all);
    let more = if families > 1 { format!(" (1 of {families} families)") } else { String::new() };
    let variant = longest.variant.as_ref().filter(|name| *name != Variant::PLAIN);
    let variant = variant.map_or(String::new(), |variant| format!(", variant {variant}"));
    let subject = subject.map_or(String::new(), |subject| format!(", subject {subject}"));
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
