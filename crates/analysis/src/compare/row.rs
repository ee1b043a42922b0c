//! One figure of one cell, on both sides, and its verdict.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::summary::{Outcome, Verdict};
use crate::text::cell_name::cell_text;

/// A figure of a cell, compared.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point.
    pub point: BTreeMap<String, Value>,
    /// The figure's name, with the unit.
    pub metric: String,
    /// Its label for people.
    #[serde(skip)]
    pub label: String,
    /// Of what a search found its goal: `slo`. The metric is then the load, like
    /// `found_rate_per_s`, or of a knee the throughput there, like
    /// `at_found_connections_requests_per_s`; values are runs. Absent for the figures of cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<&'static str>,
    /// In the baseline; absent: no round has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Median>,
    /// In the candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Median>,
    /// The candidate's over the baseline's: the median of all ratios between them; absent where
    /// there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Lower end of its interval, corrected for the number of comparisons. Of what a search found:
    /// the least that the ratio can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The p-value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same corrected for the number of comparisons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// The rate at which the baseline's cell is saturated, a second; absent where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_saturated_per_s: Option<f64>,
    /// The same of the candidate's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate_saturated_per_s: Option<f64>,
    /// The share by which the same thing measured twice differed in either run, where one has an
    /// A/A pair. Of a share that has no ratio the difference of the shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// As much worse as the interval allows, as a share; absent where it has no such end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worse_by_at_most: Option<f64>,
    /// Whether the values are runs, each its median or mean, and not rounds.
    pub by_run: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether the candidate is on the bad side of the baseline, however little that may mean. Of
    /// what has no direction more counts as worse.
    pub is_worse: bool,
    /// In words: `slower by 12 % [9, 15]`.
    pub text: String,
    /// The first of these words, by which comparisons are counted: `slower`.
    #[serde(skip)]
    pub word: &'static str,
}

/// A figure of a cell in one run, or in several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Median {
    /// The median. Of a share of losses or errors it is the mean.
    pub median: f64,
    /// Of so many values: rounds, or runs where runs are compared.
    pub values: usize,
}

impl Row {
    /// Its cell: path, workload and point.
    pub fn cell(&self) -> String {
        cell_text(&self.path, &self.workload, &self.point)
    }

    /// Whether the candidate is saturated and the baseline is not. Then its latency is worse,
    /// though it has no ratio.
    pub fn is_newly_saturated(&self) -> bool {
        self.outcome == Outcome::Saturated
            && self.candidate_saturated_per_s.is_some()
            && self.baseline_saturated_per_s.is_none()
    }

    /// How far it is from no difference; 0 where there is no ratio.
    pub(crate) fn size(&self) -> f64 {
        self.ratio.map_or(0.0, |ratio| ratio.ln().abs())
    }

    /// Takes its verdict.
    pub(crate) fn set_verdict(&mut self, verdict: Verdict) {
        let Verdict { outcome, word, text, .. } = verdict;
        (self.outcome, self.word, self.text) = (outcome, word, text);
    }
}
