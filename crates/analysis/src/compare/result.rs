//! The comparison of two sides as plain values, and what is asked of it.

use hopbench_model::RunStatus;
use serde::Serialize;

use super::difference::Difference;
use super::gate::Bound;
use super::pairs::NotCompared;
use super::row::Row;
use super::sides::Unlike;
use super::values::LeftOut;
use crate::summary::{BoundSummary, Case, CaseState};

/// The version of [`Comparison`]; a field is never repurposed, this number grows instead.
pub const COMPARISON_SCHEMA: &str = "hopbench.comparison/1";

/// The options of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Differences below this share are of no interest; `None`: what the plans say, the larger one.
    pub minimum_effect: Option<f64>,
    /// Bounds on what may have become worse.
    pub bounds: Vec<Bound>,
    /// Whether runs that differ in what changes figures are refused.
    pub strict: bool,
}

/// The comparison of two sides. Serialised, this is [`COMPARISON_SCHEMA`].
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: &'static str,
    /// The runs that are the baseline; at least one.
    pub baseline: Vec<RunSummary>,
    /// The runs that are compared with it; at least one.
    pub candidate: Vec<RunSummary>,
    /// Whether runs were compared, each by its median or mean, and not rounds, in every row; each
    /// row says it of itself.
    pub by_run: bool,
    /// In what the candidate differs from the first run of the baseline besides its figures, what
    /// matters first.
    pub differences: Vec<Difference>,
    /// In what runs of one side differ that can change figures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<Unlike>,
    /// Differences below this share are of no interest.
    pub minimum_effect: f64,
    /// Every figure of every cell: called differences first, worst first, then the others in the
    /// plan's order.
    pub comparisons: Vec<Row>,
    /// Cells that are not compared.
    pub not_compared: Vec<NotCompared>,
    /// Cells of searches that are not compared; `not_compared` says why.
    pub searches: u64,
    /// The results of the bounds, in their order.
    pub bounds: Vec<BoundSummary>,
}

/// A run that takes part.
#[derive(Debug, Clone, Serialize)]
pub struct RunSummary {
    /// Its folder, as it was given.
    pub folder: String,
    /// Its identity.
    pub run_id: String,
    /// The scenario's name.
    pub name: String,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// How far it came.
    pub status: RunStatus,
    /// Trials whose figures are used.
    pub used_trials: u64,
    /// Trials of searches that can be used; they are not among the others.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub search_trials: u64,
    /// Trials that are in no comparison.
    pub left_out: LeftOut,
}

impl Comparison {
    /// The bounds that no cell could judge: whether they are kept nobody knows.
    pub fn blind(&self) -> impl Iterator<Item = &BoundSummary> {
        self.bounds.iter().filter(|bound| bound.judged() == 0)
    }

    /// The bounds that were broken, with the cells.
    pub fn broken(&self) -> impl Iterator<Item = (&BoundSummary, &Case)> {
        self.bounds
            .iter()
            .flat_map(|bound| bound.cases_of(CaseState::Broken).map(move |case| (bound, case)))
    }
}
