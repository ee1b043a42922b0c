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
    /// As much worse as the interval allows, or all rounds together are, as a share; absent where
    /// the interval has no such end.
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
    /// What all rounds together oppose to that: `over all rounds -12 %`; empty where they do not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
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
        let Verdict { outcome, word, text, note, .. } = verdict;
        (self.outcome, self.word, self.text, self.note) = (outcome, word, text, note);
    }

    /// The verdict with what is noted of it: `faster by 2.0 % [1.4, 2.6]; over all rounds -12 %`.
    pub(crate) fn said(&self) -> String {
        let gap = if self.note.is_empty() { "" } else { "; " };
        format!("{}{gap}{}", self.text, self.note)
    }
}

/// As much worse as a ratio can be by the ends of its interval, or is in all rounds together, as a
/// share; `None` where the interval has no such end.
pub(crate) fn worse_by_at_most(
    (low, high): (Option<f64>, Option<f64>),
    together: Option<f64>,
    worse_higher: bool,
) -> Option<f64> {
    let worse = |ratio: f64| if worse_higher { ratio - 1.0 } else { 1.0 - ratio };
    let end = if worse_higher { high? } else { low? };
    Some(worse(end).max(together.map_or(0.0, worse)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worse_is_the_end_of_the_interval_or_all_rounds_together() {
        let ends = (Some(0.9), Some(1.02));
        for (together, worse_higher, expected) in [
            (None, false, 0.1),
            (Some(1.0), true, 0.02),
            (Some(1.3), true, 0.3),
            (Some(1.3), false, 0.1),
            (Some(0.6), false, 0.4),
            (Some(0.6), true, 0.02),
        ] {
            let found = worse_by_at_most(ends, together, worse_higher).unwrap();
            assert!((found - expected).abs() < 1e-12, "{together:?} {worse_higher}: {found}");
        }
        assert_eq!(worse_by_at_most((Some(1.1), Some(1.2)), Some(1.1), false), Some(0.0));
        assert_eq!(worse_by_at_most((None, Some(1.2)), Some(0.5), false), None);
    }
}
