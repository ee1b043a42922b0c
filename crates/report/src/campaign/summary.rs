//! What a run says: figures of every cell with intervals, comparisons, and everything a reader must know beside them.
//! Serialised, this is `hopbench.summary/1`.

use std::collections::BTreeMap;

use hopbench_model::{MeshMode, RunStatus};
use serde::Serialize;
use serde_json::Value;

use super::curve::CurveSummary;
use super::searches::SearchSummary;
use super::spread::Spread;
use super::stop::StopSummary;
use super::verdict::{Outcome, Verdict};
use super::waterfall::WaterfallSummary;

/// The version of [`Summary`]; a field is never repurposed, this number grows instead.
pub const SUMMARY_SCHEMA: &str = "hopbench.summary/1";

/// Why the time of connecting is not compared.
pub(crate) const CONNECTING_ENDS: &str = "connect times not compared: connecting ends at the first proxy";

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
    /// What searches came to: points in the scenario's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchSummary>,
    /// What each proxy of a family of paths adds, by workload and point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waterfall: Vec<WaterfallSummary>,
    /// What each proxy spends as the load on it grows, by workload and path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxy_curves: Vec<CurveSummary>,
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

/// Which run, and how far it came.
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
    /// The testbed's name.
    pub testbed: &'static str,
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
    /// Differences below this share are of no interest; 0: all are.
    #[serde(skip_serializing_if = "is_no_share")]
    pub minimum_effect: f64,
    /// Seed of the order and of the trials.
    pub seed: u64,
    /// Trials that were planned, without those of cells that are skipped and those that a stop rule spared.
    pub planned_trials: u64,
    /// Trials whose figures are used.
    pub used_trials: u64,
    /// Trials that were measured and left out of the figures, because the testbed changed in their time and other rounds of
    /// the cell are there.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub disturbed_trials: u64,
    /// Trials that a stop rule spared.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub spared_trials: u64,
    /// Cells whose main figure has a verdict against the baseline. Verdicts on further figures, which stand in `figures`, are
    /// not counted: no page shows them.
    pub comparisons: u64,
    /// Comparisons that were judged together, those of further figures among them.
    pub judged: u64,
    /// Verdicts on main figures that are withheld because the difference is within the noise floor.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub withheld: u64,
    /// What a reader must know of the run as a whole: a baseline that is not there, sessions that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A path, with what was seen of it.
#[derive(Debug, Clone, Serialize)]
pub struct PathSummary {
    /// Its name.
    pub name: String,
    /// Where the clients are: `bridge@a`.
    pub from: String,
    /// Where the servers are.
    pub to: String,
    /// What stands between.
    pub via: String,
    /// Which ends have a sidecar that the traffic passes.
    pub mesh: MeshMode,
    /// The name of the variant of its proxies; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// What its proxies do, in words: `no TLS, HTTP/1.1, 2 workers`; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<String>,
    /// From end to end in words: `direct, mesh both`.
    pub way: String,
    /// Whether it is the baseline once more (A/A): its ratio is the noise floor, and no verdict is about it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_twin: bool,
    /// Clients.
    pub clients: u32,
    /// Servers.
    pub backends: u32,
    /// Rate of its slowest shaped link, bits/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
    /// The largest packet that its ends send, bytes with the IP header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_mtu_bytes: Option<u64>,
    /// What tunnels add to each packet, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel_bytes: Option<u64>,
    /// The evidence that traffic took it, by hop.
    pub proof: Vec<ProofSummary>,
}

/// What the trials of a path saw at one hop.
#[derive(Debug, Clone, Serialize)]
pub struct ProofSummary {
    /// The hop.
    pub hop: String,
    /// Trials in which it was as the path says.
    pub ok: u32,
    /// Trials in which it was not.
    pub failed: u32,
    /// The evidence of the last trial, or of the last that failed.
    pub evidence: String,
}

/// A workload and its cells.
#[derive(Debug, Clone, Serialize)]
pub struct WorkloadSummary {
    /// Its name in the scenario.
    pub name: String,
    /// Its kind: `stream`, `rr` ...
    pub kind: String,
    /// When exchanges start, how many connections: `closed loop, 4 connections, window 10s`.
    pub setting: String,
    /// The parameters that vary, in the order of their names.
    pub parameters: Vec<String>,
    /// The figures, in the order of columns.
    pub figures: Vec<FigureSummary>,
    /// What it found, in a sentence.
    pub headline: String,
    /// The baseline's figure in words, or the range of the figures where there is no baseline.
    pub reference: String,
    /// What differs from it and by how much, furthest first.
    pub findings: Vec<Finding>,
    /// Its cells: points in the scenario's order, within one the paths in theirs.
    pub cells: Vec<CellSummary>,
    /// Distributions of the latency that matters, over all rounds, for the first and the last point.
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
    /// What people call it.
    pub label: &'static str,
    /// Whether it is plotted against a swept parameter.
    pub plotted: bool,
    /// Whether it is CPU time of one end, or of the proxies, for a unit of work: a part of their sum, which is a figure
    /// of its own.
    pub cpu: bool,
}

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct CellSummary {
    /// The path's name.
    pub path: String,
    /// The point.
    pub point: BTreeMap<String, Value>,
    /// Index of the path in [`Summary::paths`].
    #[serde(skip)]
    pub path_index: usize,
    /// The point as reports write it: `size=64`.
    #[serde(skip)]
    pub point_label: String,
    /// Rounds whose figures are used.
    pub rounds: usize,
    /// Rounds that are left out because the testbed changed in their time; where it did in all of them, all are used.
    #[serde(skip_serializing_if = "is_zero")]
    pub disturbed_rounds: usize,
    /// How its rounds ended under the stop rule; absent where there is none, and while they have not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopSummary>,
    /// Whether it is of the baseline's twin (A/A).
    #[serde(skip_serializing_if = "is_false")]
    pub is_twin: bool,
    /// The figures that it has.
    pub figures: Vec<Estimate>,
    /// What its nodes were busy with, whoever it was for, where they are several machines; the figures `node_cores` ... have
    /// all of them together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeSummary>,
    /// What limited its trials and how many of them, most first.
    pub limited_by: Vec<Limit>,
    /// Caveats over all rounds.
    pub warnings: u32,
    /// Rounds in which it and the baseline's cell were measured in different sessions of the run: they are not compared.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpaired_rounds: usize,
    /// Failures by reason, over all rounds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Whether its traffic went by the proxies of its path: they do not carry its protocol.
    #[serde(skip_serializing_if = "is_false")]
    pub bypasses_proxy: bool,
    /// Whether the generator was late in half of its trials or more: no verdict is about it then.
    #[serde(skip_serializing_if = "is_false")]
    pub generator_limited: bool,
}

/// How busy the CPUs of a node were, with everybody's work: that of the ends, of proxies, of the kernel and of others.
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
}

/// What limited trials of a cell.
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
    /// What it was over the rounds that have it.
    #[serde(flatten)]
    pub spread: Spread,
    /// Rounds that are far from the others; they are in the median all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<u32>,
    /// The comparison with the baseline's cell of the same point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioSummary>,
    /// Why there is no ratio, none with a verdict, or one of fewer rounds than were measured; empty where nothing is missing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A figure in relation to the baseline's.
#[derive(Debug, Clone, Serialize)]
pub struct RatioSummary {
    /// The ratios of the rounds in which both were measured.
    #[serde(flatten)]
    pub spread: Spread,
    /// The p-value of a difference; absent where none was asked for, and with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same corrected for all comparisons of the run (Benjamini-Hochberg); absent with fewer than 3 rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// Which test it is of: `permutation` or `student`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<&'static str>,
    /// By how much the baseline and its twin differ in this figure at this point, as a share; absent without a twin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// What that says; absent of the twin, of figures whose difference has no word, and where the note says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// A latency distribution of one cell, merged over its rounds.
#[derive(Debug, Clone, Serialize)]
pub struct DistributionSummary {
    /// The path's name.
    pub path: String,
    /// The point as reports write it.
    pub point: String,
    /// Which latency: `service_ns`.
    pub latency: &'static str,
    /// Pairs of nines (0: the smallest, 1: 90 %, 2: 99 %) and the latency at that percentile, ns. The last is the largest of
    /// all n samples; it stands in the middle of what the last one takes up, at log10(2 n) nines.
    pub curve: Vec<(f64, u64)>,
    /// Percentiles of all rounds together; empty with one round. A cell's own figure is the median of its rounds'.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pooled: Vec<PooledSummary>,
}

/// A percentile of the samples of all rounds of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledSummary {
    /// Which: `p50`, `p90`, `p99`, `p999`.
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
}

/// Cells of one path that the testbed cannot measure.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedSummary {
    /// The path's name.
    pub path: String,
    /// Why.
    pub reason: String,
    /// How many cells.
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
    /// What was seen, in one of them.
    pub detail: String,
    /// What to do.
    pub next: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn is_none_of_them(count: &u64) -> bool {
    *count == 0
}

fn is_no_share(share: &f64) -> bool {
    *share == 0.0
}

fn is_false(truth: &bool) -> bool {
    !*truth
}

impl CellSummary {
    /// The figure of this name.
    pub fn figure(&self, name: &str) -> Option<&Estimate> {
        self.figures.iter().find(|figure| figure.name == name)
    }
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

    /// The figure that verdicts are about; `None` when no trial left a figure.
    pub fn main_figure(&self) -> Option<&FigureSummary> {
        self.figures.first()
    }
}
