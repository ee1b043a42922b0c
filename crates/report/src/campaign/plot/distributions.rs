//! Latency over its percentiles.

use hopbench_analysis::{CellSummary, DistributionSummary, Summary, WorkloadSummary};

use super::chart::{Axis, Chart, Series};

/// The latency of every path over its percentiles, a chart a point.
pub(super) fn of(summary: &Summary, workload: &WorkloadSummary) -> Vec<Chart> {
    let mut out: Vec<Chart> = Vec::new();
    let is_twin = |name: &str| summary.paths.iter().any(|path| path.is_twin && path.name == name);
    for distribution in workload.distributions.iter().filter(|one| !is_twin(&one.path)) {
        // As its columns call it.
        let is_rtt = workload.is_of_round_trips();
        let latency = if is_rtt { "RTT" } else { distribution.latency.trim_end_matches("_ns") };
        let at = if distribution.point.is_empty() {
            String::new()
        } else {
            format!(" at {}", distribution.point)
        };
        let rounds = if summary.run.rounds > 1 { " over all rounds" } else { "" };
        let title = format!("{latency}: distribution{rounds}{at}");
        let index = match out.iter().position(|chart| chart.title == title) {
            Some(index) => index,
            None => {
                out.push(nines(title, latency));
                out.len() - 1
            }
        };
        let curve = &distribution.curve;
        out[index].series.push(Series {
            name: named(workload, distribution),
            colour: summary
                .paths
                .iter()
                .position(|path| path.name == distribution.path)
                .unwrap_or_default(),
            points: curve.iter().map(|(nines, ns)| (*nines, *ns as f64, None, None)).collect(),
            ..Series::default()
        });
    }
    out
}

/// The path, with what must be known of its latency.
fn named(workload: &WorkloadSummary, of: &DistributionSummary) -> String {
    let is_own = |cell: &&CellSummary| cell.path == of.path && cell.point_label == of.point;
    let saturated = workload.cells.iter().find(is_own).and_then(CellSummary::saturated);
    saturated.map_or_else(|| of.path.clone(), |text| format!("{} ({text})", of.path))
}

fn nines(title: String, latency: &str) -> Chart {
    let ticks = ["90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %", "99.99999 %"]
        .iter()
        .zip(1..);
    let ticks = ticks.map(|(text, nines)| (f64::from(nines), (*text).to_owned()));
    let ticks = std::iter::once((2f64.log10(), "50 %".to_owned())).chain(ticks).collect();
    Chart {
        id: String::new(),
        kind: "line",
        title,
        x: Axis {
            label: "share of all samples at or below".to_owned(),
            unit: "nines",
            ticks,
            ..Axis::default()
        },
        y: Axis { label: latency.to_owned(), unit: "ns", log: true, ..Axis::default() },
        categories: Vec::new(),
        stacked: false,
        series: Vec::new(),
        left_out: String::new(),
    }
}
