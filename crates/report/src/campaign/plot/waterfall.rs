//! The waterfall as bars. Each begins where the one before ends. A step that takes away begins at 0
//! and goes to the other side.

use hopbench_analysis::{Added, Summary, WaterfallSummary, WorkloadSummary};

use super::axis;
use super::chart::{Axis, Chart, Point, Series};
use crate::campaign::table_model;

/// More bars than this make a list, not a picture.
const MOST_BARS: usize = 24;

/// A chart for each figure that proxies add to, a bar a family of paths and point.
pub(super) fn of(summary: &Summary, workload: &WorkloadSummary) -> Vec<Chart> {
    let own = |waterfall: &&WaterfallSummary| waterfall.workload == workload.name;
    let all: Vec<&WaterfallSummary> = summary.waterfall.iter().filter(own).collect();
    let left_out = match all.len() {
        n if n > MOST_BARS => format!("The first {MOST_BARS} of {n}."),
        _ => String::new(),
    };
    let shown = &all[..all.len().min(MOST_BARS)];
    let names = names(workload, shown);
    let mut figures: Vec<(&'static str, &'static str)> = Vec::new();
    for figure in shown.iter().flat_map(|waterfall| waterfall.figures()) {
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    let chart = |(name, label): (&'static str, &'static str)| Chart {
        id: String::new(),
        kind: "waterfall",
        title: format!("{label}: what each hop adds"),
        x: Axis::default(),
        y: Axis { label: label.to_owned(), unit: axis::unit(name), ..Axis::default() },
        categories: names.clone(),
        stacked: true,
        series: series(shown, name),
        left_out: beside(shown, name, &left_out),
    };
    figures.into_iter().map(chart).collect()
}

/// The text beside the title: what is left out, and how to read what takes away.
fn beside(waterfalls: &[&WaterfallSummary], name: &str, left_out: &str) -> String {
    let mut steps = waterfalls.iter().flat_map(|waterfall| waterfall.way(name));
    let takes = steps
        .any(|(_, added)| added.spread.median < 0.0)
        .then_some("What a step takes away stands left of 0.");
    let parts = [left_out].into_iter().chain(takes).filter(|text| !text.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// The parts of all bars: one for each step that there is in any of them.
fn series(waterfalls: &[&WaterfallSummary], name: &str) -> Vec<Series> {
    let mut out: Vec<Series> = Vec::new();
    for (index, waterfall) in waterfalls.iter().enumerate() {
        // What takes away stands on the other side of 0: on the bar before it nobody would see it.
        let (mut up, mut down) = (0.0, 0.0);
        for (step, Added { spread, .. }) in waterfall.way(name) {
            let known =
                out.iter().position(|series| series.name == step.label).unwrap_or_else(|| {
                    out.push(Series {
                        colour: out.len(),
                        name: step.label.clone(),
                        ..Series::default()
                    });
                    out.len() - 1
                });
            out[known].points.push((index as f64, spread.median, spread.low, spread.high));
            let end = if spread.median < 0.0 { &mut down } else { &mut up };
            out[known].starts.push(*end);
            *end += spread.median;
        }
    }
    out
}

/// The parts of bars where they stand, with their intervals around their ends.
pub(super) fn placed(series: &[Series]) -> Vec<Series> {
    let one = |series: &Series| {
        let at = |(point, start): (&Point, &f64)| {
            let (x, y, low, high) = *point;
            (x, start + y, low.map(|end| start + end), high.map(|end| start + end))
        };
        Series {
            points: series.points.iter().zip(&series.starts).map(at).collect(),
            ..Series::default()
        }
    };
    series.iter().map(one).collect()
}

/// The names of the bars: as short as they can be told apart.
fn names(workload: &WorkloadSummary, waterfalls: &[&WaterfallSummary]) -> Vec<String> {
    let alike = |of: &dyn Fn(&WaterfallSummary) -> String| {
        waterfalls.windows(2).all(|pair| of(pair[0]) == of(pair[1]))
    };
    let via = |waterfall: &WaterfallSummary| {
        waterfall.family.rsplit(", ").next().unwrap_or_default().to_owned()
    };
    let ends = |waterfall: &WaterfallSummary| waterfall.family.clone();
    let variant = |waterfall: &WaterfallSummary| waterfall.variant.clone().unwrap_or_default();
    let name = |waterfall: &&WaterfallSummary| {
        let mut parts = Vec::new();
        if !alike(&via) {
            parts.push(via(waterfall));
        } else if !alike(&ends) {
            parts.push(ends(waterfall));
        }
        if !alike(&variant) {
            parts.push(variant(waterfall));
        }
        parts.push(table_model::point(workload, &waterfall.point_label).to_owned());
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() { workload.name.clone() } else { parts.join(" ") }
    };
    let mut out: Vec<String> = waterfalls.iter().map(name).collect();
    // Two bars of one name would be one.
    for index in 0..out.len() {
        let twins = out[..index].iter().filter(|other| **other == out[index]).count();
        if twins > 0 {
            out[index] = format!("{} ({})", out[index], index + 1);
        }
    }
    out
}
