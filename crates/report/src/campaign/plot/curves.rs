//! The cost of proxies over the load, with the line through it.

use hopbench_analysis::{CurvePoint, CurveSummary, Resource, Summary, WorkloadSummary};

use super::axis;
use super::chart::{Axis, Chart, Series};

/// More curves than this cannot be told apart.
const MOST_CURVES: usize = 8;

/// A chart for each resource.
pub(super) fn of(summary: &Summary, workload: &WorkloadSummary) -> Vec<Chart> {
    let resources = [Resource::Cores, Resource::RssBytes, Resource::AllocatedBytes];
    resources.into_iter().filter_map(|resource| chart(summary, workload, resource)).collect()
}

fn chart(summary: &Summary, workload: &WorkloadSummary, resource: Resource) -> Option<Chart> {
    let own = |curve: &&CurveSummary| curve.workload == workload.name && curve.resource == resource;
    let curves: Vec<&CurveSummary> = summary.proxy_curves.iter().filter(own).collect();
    let over = curves.first()?.over.replace("_per_s", "/s").replace('_', " ");
    let mut series = Vec::new();
    for (colour, curve) in curves.iter().take(MOST_CURVES).enumerate() {
        let at = |x: f64| (x * 10.0).round() / 10.0;
        let spent = |CurvePoint { x, spread, .. }: &CurvePoint| {
            (at(*x), spread.median, spread.low, spread.high)
        };
        let points = curve.points.iter().map(spent).collect();
        // Points that no line goes through are not joined either: between them nothing is known.
        series.push(Series {
            name: curve.name(),
            colour,
            points,
            style: "points",
            ..Series::default()
        });
        series.extend(curve.line.map(|line| {
            let from = if line.is_near_rest() && line.intercept > 0.0 { 0.0 } else { line.from };
            let ends = [from, line.to].map(|x| (x, line.intercept + line.slope * x));
            let points = ends.map(|(x, y)| (at(x), y, None, None)).into();
            Series {
                name: format!("{}, line", curve.name()),
                colour,
                points,
                style: "fit",
                ..Series::default()
            }
        }));
    }
    let (what, label) = match resource {
        Resource::Cores => ("CPU", "cores"),
        Resource::RssBytes => ("resident memory, largest so far", "resident, largest so far"),
        Resource::AllocatedBytes => ("allocated memory", "allocated"),
    };
    Some(Chart {
        id: String::new(),
        kind: "line",
        title: format!("proxies: {what} over {over}"),
        x: Axis { label: over, ..Axis::default() },
        y: Axis { label: label.to_owned(), unit: axis::unit(resource.name()), ..Axis::default() },
        categories: Vec::new(),
        stacked: false,
        series,
        left_out: match curves.len() {
            n if n > MOST_CURVES => format!("The first {MOST_CURVES} of {n} proxies."),
            _ => String::new(),
        },
    })
}
