//! A cell of a run: its figures with intervals, and their comparison with the baseline.

mod component;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::spread::Spread;
use super::stop::StopSummary;
use super::verdict::Verdict;
use crate::text::load_text::saturated;

pub use component::{ComponentSummary, MeteredNodeSummary};

/// Why the time of connecting is not compared.
pub const CONNECTING_ENDS: &str = "connect times not compared: connecting ends at the first proxy";

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct CellSummary {
    /// The path's name.
    pub path: String,
    /// The point.
    pub point: BTreeMap<String, Value>,
    /// Index of the path in [`Summary::paths`](super::Summary::paths).
    #[serde(skip)]
    pub path_index: usize,
    /// The point as reports write it: `size=64`.
    #[serde(skip)]
    pub point_label: String,
    /// Rounds whose figures are used.
    pub rounds: usize,
    /// Rounds that are left out because the testbed changed in their time; where it did in all of
    /// them, all are used.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub disturbed_rounds: usize,
    /// How its rounds ended under the stop rule; absent where there is none, and while they have
    /// not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopSummary>,
    /// Whether others are compared with its path.
    #[serde(skip)]
    pub is_reference: bool,
    /// Whether it is of the baseline's twin (A/A).
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub is_twin: bool,
    /// The figures that it has.
    pub figures: Vec<Estimate>,
    /// What its nodes were busy with, whoever it was for, where they are several machines; the
    /// figures `node_cores` ... have all of them together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSummary>,
    /// The cores of each component, in the order of the path's way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentSummary>,
    /// The nodes of the path that no end saw, as others did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metered_nodes: Vec<MeteredNodeSummary>,
    /// The limits of its trials with the number of trials, most first.
    pub limited_by: Vec<Limit>,
    /// What follows from the figures of the last trial that says so, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub explanation: Vec<String>,
    /// Caveats over all rounds.
    pub warnings: u32,
    /// Rounds in which it and the baseline's cell were measured in different sessions of the run:
    /// they are not compared.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub unpaired_rounds: usize,
    /// Failures by reason, over all rounds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Whether its traffic went by the proxies of its path: they do not carry its protocol.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub bypasses_proxy: bool,
    /// Whether trials were visits: their connections stood, and with them what chance gave each.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub was_visited: bool,
    /// Whether the generator was late in half of its trials or more: no verdict is about it then.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub generator_limited: bool,
    /// The rate at which it is saturated, a second: the rate that was asked for was not reached, or
    /// its queue grew, in most of its trials. It is the median of what was completed in those. Its
    /// latencies are not compared. Absent where the rate was kept, and where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_per_s: Option<f64>,
}

/// How busy the CPUs of a node were, with everybody's work: that of the ends, of proxies, of the
/// kernel and of others.
#[derive(Debug, Clone, Serialize)]
pub struct NodeSummary {
    /// Its name.
    pub name: String,
    /// Cores busy.
    pub busy_cores: Spread,
    /// Cores busy processing packets in softirq; a part of the busy ones.
    pub softirq_cores: Spread,
    /// Cores that the hypervisor gave to others; a part of the busy ones.
    pub steal_cores: Spread,
    /// The share of its CPU time in which it had nothing to do, 0 to 1.
    pub idle_ratio: Spread,
}

/// A limit of a cell's trials.
#[derive(Debug, Clone, Serialize)]
pub struct Limit {
    /// The name of the limit.
    pub limit: String,
    /// Trials.
    pub trials: u32,
    /// The numbers behind it, of the last of these trials.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
}

/// A figure of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct Estimate {
    /// The figure's name.
    pub name: &'static str,
    /// The figure over the rounds that have it.
    #[serde(flatten)]
    pub spread: Spread,
    /// Rounds that are far from the others; they are in the median all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<u32>,
    /// The comparison with the baseline's cell of the same point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioSummary>,
    /// Why there is no ratio, none with a verdict, or one of fewer rounds than were measured. How
    /// often a rate was 0, and what all rounds together oppose to the verdict. Empty where there is
    /// nothing of this.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A figure in relation to the baseline's.
#[derive(Debug, Clone, Serialize)]
pub struct RatioSummary {
    /// The ratios of the rounds in which both were measured; absent where they are not compared
    /// and the verdict says why.
    #[serde(flatten)]
    pub spread: Option<Spread>,
    /// The p-value of a difference; absent where none was asked for, and with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same corrected for all comparisons of the run (Benjamini-Hochberg); absent with fewer
    /// than 3 rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// The test of the p-value: `ranks` or `student`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<&'static str>,
    /// By how much the baseline and its twin differ in this figure at this point, as a share;
    /// absent without a twin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// The verdict; absent of the twin, of figures whose difference has no word, and where the note
    /// says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl CellSummary {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Estimate> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// `saturated at 3909/s`, of a cell that is.
    pub fn saturated(&self) -> Option<String> {
        self.saturated_per_s.map(saturated)
    }
}
