//! The summary of a run: what all its records say together. Serialised, this is
//! `hopbench.summary/1`.

mod profile;

use std::collections::BTreeMap;

use hopbench_model::RunStatus;
use serde::Serialize;
use serde_json::Value;

use super::curve::CurveSummary;
use super::path::PathSummary;
use super::search::SearchSummary;
use super::verdict::SubjectSummary;
use super::waterfall::WaterfallSummary;
use super::workload::WorkloadSummary;
use crate::text::RateUnit;

pub use profile::{
    FrameGrowth, ProfileDifference, ProfileOwner, ProfileSummary, ProfileUnit, ProfilesSummary,
};

/// The version of [`Summary`]; a field is never repurposed, this number grows instead.
pub const SUMMARY_SCHEMA: &str = "hopbench.summary/1";

/// A whole run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: &'static str,
    /// The run.
    pub run: Run,
    /// The paths, in the scenario's order.
    pub paths: Vec<PathSummary>,
    /// The workloads, in the scenario's order.
    pub workloads: Vec<WorkloadSummary>,
    /// The results of searches: points in the scenario's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchSummary>,
    /// The cost of each proxy of a family of paths, by workload and point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waterfall: Vec<WaterfallSummary>,
    /// The cost of each proxy as the load on it grows, by workload and path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxy_curves: Vec<CurveSummary>,
    /// Call stacks of cells; absent: none were taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profiles: Option<ProfilesSummary>,
    /// Trials whose records are not used in any figure, and why.
    pub failures: Vec<FailureSummary>,
    /// Cells that this testbed cannot measure, by path and reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedSummary>,
    /// Caveats by workload and kind.
    pub warnings: Vec<WarningSummary>,
    /// Facts about the machine and the tool.
    pub environment: BTreeMap<String, String>,
    /// Facts about the testbed.
    pub testbed: BTreeMap<String, String>,
    /// The scenario as it was written.
    pub scenario: String,
    /// The scenario as it was resolved, without the list of cells.
    pub resolved: Value,
}

impl Summary {
    /// Shows columns of throughput in this unit.
    pub fn show_rates_in(&mut self, unit: RateUnit) {
        self.workloads.iter_mut().for_each(|workload| workload.rate_unit = Some(unit));
        self.searches.iter_mut().for_each(|search| search.rate_unit = Some(unit));
    }

    /// The comparisons of main figures with the baseline: how many are decided, and how many there
    /// are.
    pub fn decided(&self) -> (usize, usize) {
        let verdicts = self.workloads.iter().flat_map(|workload| {
            let comparison = |cell| workload.comparison(cell)?.verdict.as_ref();
            workload.cells.iter().filter_map(comparison)
        });
        verdicts.fold((0, 0), |(decided, all), verdict| {
            (decided + usize::from(verdict.outcome.is_decided()), all + 1)
        })
    }
}

/// The identity of a run, and how far it came.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    /// Its identity.
    pub run_id: String,
    /// The scenario's name.
    pub name: String,
    /// How far it came.
    pub status: RunStatus,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// UTC, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// How long it took, s, without the pauses between sessions; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_s: Option<u64>,
    /// The testbed's name.
    pub testbed: &'static str,
    /// Whether other tools measured the trials: they have no testbed, and nothing is proved.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub imported: bool,
    /// Rounds that were planned; with a stop rule the most that a cell can have.
    pub rounds: u32,
    /// When the rounds of a cell end before that, in words; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The path that the others are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The path that is the baseline once more: what it differs by is noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// The set-ups of every path, the first of which the others are compared with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<SubjectSummary>,
    /// Differences below this share are of no interest; 0: all are.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub minimum_effect: f64,
    /// Seed of the order and of the trials.
    pub seed: u64,
    /// Trials that were planned, without those of cells that are skipped and those that a stop rule
    /// spared.
    pub planned_trials: u64,
    /// Trials whose figures are used.
    pub used_trials: u64,
    /// Trials that were measured and left out of the figures, because the testbed changed in their
    /// time and other rounds of the cell are there.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub disturbed_trials: u64,
    /// Trials that a stop rule spared, or the allocation of a budget.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub spared_trials: u64,
    /// Cells whose main figure has a verdict against the baseline. Verdicts on further figures,
    /// which stand in `figures`, are not counted: no page shows them.
    pub comparisons: u64,
    /// Comparisons that were judged together, those of further figures among them.
    pub judged: u64,
    /// Notes on the run as a whole: a baseline that is not there, sessions that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A trial that is in no figure.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct FailureSummary {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point as reports write it.
    pub point: String,
    /// The round.
    pub round: u32,
    /// Why.
    pub reason: String,
    /// Whether a proof of its path does not hold.
    #[serde(skip)]
    pub is_unproved: bool,
}

/// Cells of one path that the testbed cannot measure.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedSummary {
    /// The path's name.
    pub path: String,
    /// Why.
    pub reason: String,
    /// The number of cells.
    pub cells: u64,
}

/// Caveats of one kind on one workload.
#[derive(Debug, Clone, Serialize)]
pub struct WarningSummary {
    /// The workload's name.
    pub workload: String,
    /// The kind, as records write it.
    pub kind: String,
    /// Trials that have it.
    pub trials: u32,
    /// Paths that have it.
    pub paths: Vec<String>,
    /// The observation in one of them.
    pub detail: String,
    /// Advice.
    pub next: String,
}
