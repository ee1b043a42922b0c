//! The charts of a page: data for charts, in the figures' own units. A page's script draws them.

mod axis;
mod bars;
mod chart;
mod curves;
mod distributions;
pub(crate) mod searches;
mod sweeps;
mod waterfall;

use hopbench_analysis::{Summary, WorkloadSummary};

use super::table_model;
use crate::document::Chart;

/// The charts of a workload: its swept parameters, or bars where nothing is swept; and its
/// distributions.
pub(crate) fn charts(summary: &Summary, number: usize, workload: &WorkloadSummary) -> Vec<Chart> {
    let mut out = Vec::new();
    for parameter in &workload.parameters {
        out.extend(sweeps::of(workload, parameter));
    }
    if workload.parameters.is_empty() {
        out.extend(bars::of(workload));
    }
    out.extend(waterfall::of(summary, workload));
    out.extend(curves::of(summary, workload));
    out.extend(distributions::of(summary, workload));
    for (index, chart) in out.iter_mut().enumerate() {
        chart.id = format!("chart-{number}-{index}");
        chart.cut();
    }
    out
}

impl Chart {
    /// Sees to it that the points have the room, and not their intervals. Bars that stand on each
    /// other have none.
    fn cut(&mut self) {
        if self.kind == "bar" && self.stacked {
            return;
        }
        self.y.cut = match self.kind {
            "waterfall" => axis::cut(false, &waterfall::placed(&self.series)),
            _ => axis::cut(self.y.log, &self.series),
        };
        if self.y.cut.is_some() {
            self.leave_out("Intervals that go far beyond the values are cut.");
        }
    }

    /// Says this of what the chart does not show, too; nothing if it is empty.
    fn leave_out(&mut self, text: &str) {
        self.left_out = [self.left_out.as_str(), text].join(" ").trim().to_owned();
    }
}

/// A chart in words, for those who cannot see it.
pub(crate) fn spoken(chart: &Chart, workload: &WorkloadSummary) -> String {
    let names: Vec<_> = match chart.kind {
        "bar" | "waterfall" => chart.categories.iter().map(String::as_str).collect(),
        _ => chart.series.iter().map(|series| series.name.as_str()).collect(),
    };
    let columns = table_model::columns(workload).len();
    format!(
        "Chart of {}: {} for {}. The table below has its figures in {columns} columns.",
        workload.name,
        chart.title,
        names.join(", ")
    )
}
