//! The searches of a run: the load that was found on each path, the figures there, and the trace.

use std::collections::BTreeMap;

use hopbench_model::{SearchOutcome, point_label};
use serde::Serialize;
use serde_json::Value;

use super::cell::ComponentSummary;
use super::load::{Bracket, EqualLoad, FoundFigure, LoadComparison, Undecided};
use super::spread::Spread;
use crate::text::{LoadUnit, RateUnit};

/// A search over one parameter at a point of a workload, on every path.
#[derive(Debug, Clone, Serialize)]
pub struct SearchSummary {
    /// The workload's name.
    pub workload: String,
    /// Its kind: `http` ...
    pub kind: String,
    /// The point, without what was searched.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub point: BTreeMap<String, Value>,
    /// `knee`, `slo`, `cpu` or `lossless`.
    pub goal: &'static str,
    /// The parameter that was varied: `rate` (arrivals a second), `connections`, `threads`.
    pub parameter: &'static str,
    /// The goal in words.
    pub asked: String,
    /// The figure that was searched by, as records call it: `response_ns p99`; empty without a
    /// trial.
    pub figure: String,
    /// Its limit, in the figure's unit; absent where the goal has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Of datagrams, whose rates people ask for in bits: the payload of one, bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagram_bits: Option<f64>,
    /// The figures that tables show beside the load, by name: throughput, a latency, CPU.
    pub shown: Vec<&'static str>,
    /// Those of detailed tables: with the mean and the percentiles of the latency.
    #[serde(skip)]
    pub detailed: Vec<&'static str>,
    /// The unit of its columns of throughput; absent: whichever reads best.
    #[serde(skip)]
    pub rate_unit: Option<RateUnit>,
    /// Its result on each path, in the scenario's order.
    pub paths: Vec<SearchedPath>,
    /// Every path at the loads that were found on each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal_load: Vec<EqualLoad>,
    /// Why that was asked for and there is none; empty else.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub no_equal_load: &'static str,
}

/// The result of a search on one path.
#[derive(Debug, Clone, Serialize)]
pub struct SearchedPath {
    /// The path's name.
    pub path: String,
    /// Index of the path in [`Summary::paths`](super::Summary::paths).
    #[serde(skip)]
    pub path_index: usize,
    /// The outcome; absent while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SearchOutcome>,
    /// The load that `value` and `figures` are of: the one that was found, or the highest where
    /// even that is not too high.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The load lies between this and `high`. Of `cpu` the two are from where it was found to where
    /// CPU would be at the ceiling, by the nearest other load. Of `lossless` with repeats they are
    /// the interval of the results, as wide as the precision at least. Else they are what the
    /// search came to. Absent while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`; absent also where nothing is known from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    #[serde(skip)]
    pub(crate) bracket: Option<Bracket>,
    /// The results of several searches for a rate, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<f64>,
    /// The share by which these can differ only because of a search's steps; `None` of levels,
    /// which are searched once.
    #[serde(skip)]
    pub(crate) resolution: Option<f64>,
    /// The result in words.
    pub text: String,
    /// The figure that was searched by, at this load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Spread>,
    /// The figures of the trials at this load; none where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FoundFigure>,
    /// The cores of each component of the path at this load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentSummary>,
    /// How the load compares with the baseline's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<LoadComparison>,
    /// How the throughput at a knee compares with that at the baseline's knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_comparison: Option<LoadComparison>,
    /// The steps of a knee on which the result rests though they were not decided: then it is
    /// doubtful.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Why the load above was too high, where the figure that was searched by does not say it;
    /// empty else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub too_high: String,
    /// Trials of the search.
    pub trials: usize,
    /// The length of their windows with warm-up, s.
    pub trials_s: f64,
    /// Whether the load generator was the limit of a trial at the load that was found or above:
    /// what was found may be the generator's.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub generator_limited: bool,
    /// Every trial, in order.
    pub trace: Vec<TraceStep>,
}

/// A trial of a search.
#[derive(Debug, Clone, Serialize)]
pub struct TraceStep {
    /// Its number in the search of its cell, from 1.
    pub step: u32,
    /// The session of the run, from 1.
    pub session: u32,
    /// The load: arrivals a second, or a number.
    pub load: f64,
    /// Why this load: `scan`, `raise`, `narrow`, `again`, `confirm`.
    pub why: String,
    /// The figure that is searched by; absent where the trial has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether all else was within bounds.
    pub within: bool,
    /// What else was out of bounds, and who else kept the CPU busy that was searched by; empty
    /// where there is nothing to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// The limit of the trial.
    pub limited_by: String,
    /// Why its record is in no figure; empty where it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unusable: String,
}

impl SearchSummary {
    /// The unit of its loads.
    pub fn unit(&self) -> LoadUnit<'_> {
        LoadUnit { parameter: self.parameter, datagram_bits: self.datagram_bits }
    }

    /// All its trials, those at equal load, too.
    pub fn trials(&self) -> usize {
        let equal = self.equal_load.iter().flat_map(|load| &load.paths).map(|path| path.trials);
        self.paths.iter().map(|path| path.trials).chain(equal).sum()
    }

    /// The name of the load that was found, as a figure: `found_rate_per_s`, `found_connections`.
    pub fn found_name(&self) -> String {
        format!("found_{}{}", self.parameter, if self.parameter == "rate" { "_per_s" } else { "" })
    }

    /// The name of a figure at that load: `at_found_rate_response_p99_ns`.
    pub fn name_there(&self, figure: &str) -> String {
        format!("at_found_{}_{figure}", self.parameter)
    }

    /// The figure that was searched by, as other figures are called: `response_p99_ns` for
    /// `response_ns p99`.
    pub fn figure_name(&self) -> String {
        match self.figure.split_once(' ') {
            Some((name, percentile)) => {
                format!("{}_{}_ns", name.trim_end_matches("_ns"), percentile.replace('.', ""))
            }
            None => self.figure.clone(),
        }
    }

    /// Whether a load was found that keeps what was asked for, on a path; `None` while the search
    /// has not ended.
    pub fn is_met(&self, path: &SearchedPath) -> Option<bool> {
        Some(match path.outcome? {
            SearchOutcome::Found { .. } => true,
            // Of a knee that is no load beyond which throughput stops growing.
            SearchOutcome::AboveHighest => self.goal != "knee",
            SearchOutcome::BelowLowest => false,
            SearchOutcome::GaveUp { low, .. } => self.goal != "knee" && low.is_some(),
        })
    }

    /// Its name among the searches of a run: `web size=64`.
    pub fn name(&self) -> String {
        [self.workload.as_str(), &point_label(&self.point)].join(" ").trim_end().to_owned()
    }
}

impl SearchedPath {
    /// How the search ended, as JSON has it; empty while it has not.
    pub fn ended(&self) -> &'static str {
        match self.outcome {
            Some(SearchOutcome::Found { .. }) => "found",
            Some(SearchOutcome::AboveHighest) => "above_highest",
            Some(SearchOutcome::BelowLowest) => "below_lowest",
            Some(SearchOutcome::GaveUp { .. }) => "gave_up",
            None => "",
        }
    }

    /// The load that was found.
    pub fn found(&self) -> Option<f64> {
        match self.outcome {
            Some(SearchOutcome::Found { load, .. }) => Some(load),
            _ => None,
        }
    }

    /// A figure at the load that was found.
    pub fn figure(&self, name: &str) -> Option<&FoundFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// Whether what was found may be something else.
    pub fn is_doubtful(&self) -> bool {
        !self.undecided.is_empty() || self.generator_limited
    }
}
