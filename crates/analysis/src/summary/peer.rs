//! The figures of a tool of others beside a workload of ours, in relation to ours.

use serde::Serialize;

use super::cell::RatioSummary;

/// The tool of a workload, with its figures in relation to ours.
#[derive(Debug, Clone, Serialize)]
pub struct PeerSummary {
    /// The tool: `iperf3`.
    pub tool: String,
    /// The workload of ours that it stands beside.
    pub of: String,
    /// Why its figures may differ, in sentences.
    pub differs: Vec<String>,
    /// Its figures in relation to ours: a cell each, where both have one.
    pub comparisons: Vec<PeerComparison>,
}

/// A figure of a tool in relation to ours, on one path at one point.
#[derive(Debug, Clone, Serialize)]
pub struct PeerComparison {
    /// The path's name.
    pub path: String,
    /// The point as reports write it.
    pub point: String,
    /// The figure's name.
    pub figure: &'static str,
    /// Its label for people.
    #[serde(skip)]
    pub label: &'static str,
    /// Theirs to ours, round by round, with the verdict.
    pub ratio: RatioSummary,
    /// What all rounds together oppose to the verdict; empty where they do not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}
