//! A workload of a run: its figures, findings, cells and distributions.

use hopbench_model::WorkloadKind;
use serde::Serialize;

use super::cell::{CellSummary, RatioSummary};
use super::peer::PeerSummary;
use super::verdict::{Better, Outcome};
use crate::text::RateUnit;

/// A workload and its cells.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadSummary {
    /// Its name in the scenario.
    pub name: String,
    /// Its kind: `stream`, `rr` ...
    pub kind: String,
    /// The traits of its jobs, which may carry them.
    #[serde(skip)]
    pub traits: WorkloadKind,
    /// When exchanges start, how many connections: `closed loop, 4 connections, window 10s`.
    pub setting: String,
    /// The parameters that vary, in the order of their names.
    pub parameters: Vec<String>,
    /// The tool of others that measured it, with its figures in relation to ours; absent: hopbench
    /// did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<PeerSummary>,
    /// The figures, in the order of columns.
    pub figures: Vec<FigureSummary>,
    /// What both ends counted of the bytes of bulk traffic.
    #[serde(skip)]
    pub bytes: Vec<FigureSummary>,
    /// The result in a sentence.
    pub headline: String,
    /// The baseline's figure in words, or the range of the figures where there is no baseline.
    pub reference: String,
    /// The paths that differ from it and by how much, furthest first.
    pub findings: Vec<Finding>,
    /// Its cells: points in the scenario's order, within one the paths in theirs.
    pub cells: Vec<CellSummary>,
    /// The unit of its columns of throughput; absent: whichever reads best.
    #[serde(skip)]
    pub rate_unit: Option<RateUnit>,
    /// Distributions of the latency that matters, over all rounds, for the first and the last
    /// point.
    pub distributions: Vec<DistributionSummary>,
}

/// How a path, or several, compare with the baseline over all points of a workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The path's name, or several; or how many.
    pub paths: String,
    /// The outcome at the point where the path is furthest from the baseline.
    pub outcome: Outcome,
    /// In words: `slower by 18 % [15, 21] at size=64 (slower at 3 of 4 points)`.
    pub text: String,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub struct FigureSummary {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its label for people.
    pub label: &'static str,
    /// The direction that is good.
    #[serde(skip)]
    pub better: Better,
    /// Whether it is plotted against a swept parameter.
    pub plotted: bool,
    /// Whether it is CPU time of one end, or of the proxies, for a unit of work. That is a part of
    /// their sum, which is a figure of its own.
    pub cpu: bool,
    /// Whether it is a latency, which is not compared where a path is saturated.
    #[serde(skip)]
    pub is_latency: bool,
}

/// A latency distribution of one cell, merged over its rounds.
#[derive(Debug, Clone, Serialize)]
pub struct DistributionSummary {
    /// The path's name.
    pub path: String,
    /// The point as reports write it.
    pub point: String,
    /// The latency: `service_ns`.
    pub latency: &'static str,
    /// Pairs of nines (0: the smallest, 1: 90 %, 2: 99 %) and the latency at that percentile, ns.
    /// The last is the largest of all n samples; it stands in the middle of what the last one takes
    /// up, at log10(2 n) nines.
    pub curve: Vec<(f64, u64)>,
    /// The mean and percentiles of all rounds together; empty with one round. Of a percentile, 10
    /// samples or more lie beyond it. A cell's own figure is the median of its rounds'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<PooledSummary>,
}

/// The mean or a percentile of the samples of all rounds of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledSummary {
    /// Its name: `mean`, `p50`, `p90`, `p99`, `p999`.
    pub percentile: &'static str,
    /// Its value, ns.
    pub value_ns: u64,
    /// Lower end of its interval, 95 %, ns.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// Rounds behind it.
    pub rounds: usize,
}

impl WorkloadSummary {
    /// The labels of its points, in order.
    pub fn points(&self) -> Vec<&str> {
        let mut out: Vec<&str> = Vec::new();
        for cell in &self.cells {
            // Cells are sorted by point.
            if out.last() != Some(&cell.point_label.as_str()) {
                out.push(&cell.point_label);
            }
        }
        out
    }

    /// Whether its columns call its latency a round trip.
    pub fn is_of_round_trips(&self) -> bool {
        self.figures.iter().any(|figure| figure.label.contains("RTT"))
    }

    /// The figure that verdicts are about; `None` when no trial left a figure.
    pub fn main_figure(&self) -> Option<&FigureSummary> {
        self.figures.first()
    }

    /// The comparison of a cell's main figure with the baseline.
    pub fn comparison<'a>(&self, cell: &'a CellSummary) -> Option<&'a RatioSummary> {
        cell.figure(self.main_figure()?.name)?.ratio.as_ref()
    }
}
