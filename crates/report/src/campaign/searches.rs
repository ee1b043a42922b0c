//! What searches came to, from the records of their trials alone: the load that was found on each path, the figures there,
//! how paths compare, and the whole trace.
//!
//! - a rate is *higher* or *lower* than the baseline's where a test of the results of several searches says so, a level where
//!   what is known of the two does not overlap;
//! - what was measured at a load that was found on another path is a table of its own.

mod asked;
mod beside;
mod bracket;
pub(crate) mod doubt;
mod equal;
pub(crate) mod findings;
mod judge;
mod reason;
mod runs;
mod side;
pub(crate) mod texts;
mod trials;
mod unit;
pub(crate) mod words;

use std::collections::BTreeMap;

use hopbench_model::{EQUAL_LOAD, Point, Record, SearchGoal, SearchOutcome, SearchSpec, point_label};
use serde::Serialize;
use serde_json::Value;

pub(crate) use self::beside::Said;
pub use self::doubt::Undecided;
pub use self::equal::{EqualLoad, EqualLoadPath};
pub(crate) use self::judge::What;
pub use self::judge::{LoadComparison, Standing};
pub(crate) use self::runs::{ENOUGH_RUNS, Runs};
pub(crate) use self::unit::Unit;
pub use self::unit::rate_text;

use self::bracket::Bracket;
use self::trials::{Trial, figures, kind_of, of_search};
use super::Campaign;
use super::kind::{Kind, Percentile};
use super::kinds;
use super::spread::Spread;

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
    /// What was varied: `rate` (arrivals a second), `connections`, `threads`.
    pub parameter: &'static str,
    /// What was searched, in words.
    pub asked: String,
    /// The figure that was searched by, as records call it: `response_ns p99`; empty without a trial.
    pub figure: String,
    /// Its limit, in the figure's unit; absent where the goal has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Of datagrams, whose rates people ask for in bits: the payload of one, bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagram_bits: Option<f64>,
    /// The figures that tables show beside the load, by name: throughput, a latency, CPU.
    pub shown: Vec<&'static str>,
    /// What it came to on each path, in the scenario's order.
    pub paths: Vec<SearchedPath>,
    /// Every path at the loads that were found on each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal_load: Vec<EqualLoad>,
    /// Why that was asked for and there is none; empty else.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub no_equal_load: &'static str,
}

/// What a search came to on one path.
#[derive(Debug, Clone, Serialize)]
pub struct SearchedPath {
    /// The path's name.
    pub path: String,
    /// Index of the path in [`Summary::paths`](super::Summary::paths).
    #[serde(skip)]
    pub path_index: usize,
    /// What it came to; absent while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<SearchOutcome>,
    /// The load that `value` and `figures` are of: the one that was found, or the highest where even that is not too high.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The load lies between this and `high`. Of `cpu` the two are from where it was found to where CPU would be at the
    /// ceiling, by the nearest other load; of `lossless` with repeats the interval of the results, as wide as the precision at
    /// least; else what the search came to. Absent while it has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// See `low`; absent also where nothing is known from above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    #[serde(skip)]
    bracket: Option<Bracket>,
    /// What each of several searches for a rate found, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<f64>,
    /// The share by which these can differ only because of a search's steps; `None` of levels, which are searched once.
    #[serde(skip)]
    resolution: Option<f64>,
    /// What it came to, in words.
    pub text: String,
    /// The figure that was searched by, at this load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Spread>,
    /// The figures of the trials at this load; none where there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FoundFigure>,
    /// How the load compares with the baseline's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<LoadComparison>,
    /// How the throughput at a knee compares with that at the baseline's knee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_comparison: Option<LoadComparison>,
    /// The steps of a knee on which the result rests though they were not decided: then it is doubtful.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Why the load above was too high, where the figure that was searched by does not say it; empty else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub too_high: String,
    /// Trials of the search.
    pub trials: usize,
    /// The length of their windows with warm-up, s.
    pub trials_s: f64,
    /// Whether the load generator was the limit of a trial at the load that was found or above: what was found may be the
    /// generator's.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub generator_limited: bool,
    /// Every trial, in order.
    pub trace: Vec<TraceStep>,
}

/// A figure of several trials at one load.
#[derive(Debug, Clone, Serialize)]
pub struct FoundFigure {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// What it was over the trials.
    #[serde(flatten)]
    pub spread: Spread,
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
    /// Why this load: `raise`, `narrow`, `again`, `confirm`.
    pub why: String,
    /// The figure that is searched by; absent where the trial has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether all else was within bounds.
    pub within: bool,
    /// What else was out of bounds, and who else kept the CPU busy that was searched by; empty where there is nothing to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub because: String,
    /// What limited the trial.
    pub limited_by: String,
    /// Why its record is in no figure; empty where it is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unusable: String,
}

/// The searches of a run: points in the scenario's order, of a knee connections before threads.
pub(crate) fn all(campaign: &Campaign) -> Vec<SearchSummary> {
    let points = campaign.run.plan.points.iter().enumerate();
    let searched = points.filter_map(|(at, point)| Some((at, point, point.search.as_ref()?)));
    let mut out: Vec<SearchSummary> = searched
        .flat_map(|(at, point, spec)| {
            let own: Vec<&Record> =
                campaign.searches().into_iter().filter(|record| trials::is_of(record, point)).collect();
            parameters(&spec.goal).into_iter().map(move |parameter| one(campaign, at, (point, spec), parameter, &own))
        })
        .collect();
    let plan = &campaign.run.plan;
    judge::compare(&mut out, plan.baseline.as_deref(), plan.minimum_effect);
    out
}

/// What a goal varies, in the order of the searches.
fn parameters(goal: &SearchGoal) -> Vec<&'static str> {
    match goal {
        SearchGoal::Knee { threads, .. } if threads.is_empty() => vec!["connections"],
        SearchGoal::Knee { .. } => vec!["connections", "threads"],
        SearchGoal::Slo { .. } | SearchGoal::Cpu { .. } | SearchGoal::Lossless { .. } => vec!["rate"],
    }
}

fn one(
    campaign: &Campaign,
    at: usize,
    (point, spec): (&Point, &SearchSpec),
    parameter: &'static str,
    records: &[&Record],
) -> SearchSummary {
    let plan = &campaign.run.plan;
    let first = records.iter().find(|record| record.search.as_ref().is_some_and(|step| step.parameter == parameter));
    let kind = first
        .and_then(|record| kind_of(record))
        .unwrap_or_else(|| kinds::of(&point.job.workload, parameter == "rate" || point.job.schedule.per_s().is_some()));
    let goal = &spec.goal;
    let unit = Unit::of(parameter, &point.job);
    let skipped = |path: usize| {
        let (name, label) = (&plan.paths[path].name, point_label(&point.point));
        campaign.run.skipped.iter().any(|s| s.path == *name && s.workload == point.workload && s.point == label)
    };
    let planned =
        |path: &usize| plan.cells.iter().any(|cell| cell.path == *path && cell.point == at) && !skipped(*path);
    let searched = |path: usize| {
        let trials = of_search(records, &plan.paths[path].name, parameter);
        (planned(&path) || !trials.is_empty()).then(|| on_path(campaign, path, spec, unit, kind, &trials))
    };
    let paths: Vec<SearchedPath> = (0..plan.paths.len()).filter_map(searched).collect();
    let figure = |record: &&Record| Some(record.search.as_ref()?.figure.clone());
    let equal_load = equal::all(campaign, point, unit, kind, records);
    let steps = records.iter().filter(|record| {
        record.search.as_ref().is_some_and(|step| step.parameter == parameter && step.goal != EQUAL_LOAD)
    });
    SearchSummary {
        workload: point.workload.clone(),
        kind: point.job.workload.clone(),
        point: point.point.clone(),
        goal: goal.name(),
        parameter,
        asked: asked::text(spec, unit),
        figure: steps.filter_map(figure).next().unwrap_or_default(),
        limit: goal.limit(),
        datagram_bits: unit.datagram_bits,
        shown: shown(kind),
        no_equal_load: equal::missing(spec, &paths, &equal_load),
        equal_load,
        paths,
    }
}

/// The figures of a kind that tables of searches have room for.
fn shown(kind: &Kind) -> Vec<&'static str> {
    let names = || kind.figures.iter().map(|figure| figure.name);
    let throughput = names().find(|name| name.ends_with("_per_s"));
    let latency = kind.latency(Percentile::P99).map(|index| kind.figures[index].name);
    let rest = names().filter(|name| *name == "lost_ratio" || name.starts_with("cpu_per_") || *name == "proxy_cores");
    throughput.into_iter().chain(latency).chain(rest).collect()
}

fn on_path(
    campaign: &Campaign,
    path_index: usize,
    spec: &SearchSpec,
    unit: Unit<'_>,
    kind: &Kind,
    trials: &[Trial<'_>],
) -> SearchedPath {
    let parameter = unit.parameter;
    let path = &campaign.run.plan.paths[path_index];
    let outcome = trials.iter().rev().find_map(|trial| trial.step.outcome);
    let at = match outcome {
        Some(SearchOutcome::Found { load, .. }) => Some(load),
        // The highest that there is stands for it.
        Some(SearchOutcome::AboveHighest) => trials.iter().map(|trial| trial.step.load).reduce(f64::max),
        _ => None,
    };
    let there = trials::counted(trials.iter().filter(|trial| at.is_some_and(|load| trial.is_at(load))));
    let records: Vec<&Record> = there.iter().map(|trial| trial.record).collect();
    let bracket = outcome.map(|outcome| Bracket::of(outcome, spec, parameter, trials));
    let knee = matches!(spec.goal, SearchGoal::Knee { .. });
    let ended = outcome.zip(bracket);
    let undecided = if ended.is_some() { doubt::of(&spec.goal, trials) } else { Vec::new() };
    let above = bracket.map(|bracket| bracket.high).filter(|high| !knee && high.is_finite());
    let seen = above.map(|load| reason::at(trials, spec, load)).unwrap_or_default();
    let text = words::outcome(ended, &spec.goal, unit, trials.len(), &doubt::text(&undecided, parameter), &seen);
    let too_high = at.filter(|_| !knee).map(|load| reason::beyond(trials, spec, unit, load)).unwrap_or_default();
    SearchedPath {
        path: path.name.clone(),
        path_index,
        outcome,
        at,
        low: bracket.map(|bracket| bracket.low),
        high: bracket.map(|bracket| bracket.high).filter(|high| high.is_finite()),
        bracket,
        results: trials.iter().filter_map(|trial| trial.step.found).collect(),
        resolution: bracket::resolution(&spec.goal),
        text,
        value: Spread::of(there.iter().filter_map(|trial| trial.step.value)),
        figures: figures(kind, &records, path.is_proxied()),
        comparison: None,
        value_comparison: None,
        undecided,
        too_high,
        trials: trials.len(),
        trials_s: trials.iter().map(Trial::length_s).sum(),
        generator_limited: bracket.is_some_and(|bracket| trials::is_generator_limited(trials, bracket, at)),
        trace: trials.iter().map(|trial| trial.trace(spec)).collect(),
    }
}

impl SearchSummary {
    /// What its loads are counted in.
    pub(crate) fn unit(&self) -> Unit<'_> {
        Unit { parameter: self.parameter, datagram_bits: self.datagram_bits }
    }

    /// All its trials, those at equal load, too.
    pub(crate) fn trials(&self) -> usize {
        let equal = self.equal_load.iter().flat_map(|load| &load.paths).map(|path| path.trials);
        self.paths.iter().map(|path| path.trials).chain(equal).sum()
    }

    /// What the load that was found is called among figures: `found_rate_per_s`, `found_connections`.
    pub(crate) fn found_name(&self) -> String {
        format!("found_{}{}", self.parameter, if self.parameter == "rate" { "_per_s" } else { "" })
    }

    /// What a figure at that load is called: `at_found_rate_response_p99_ns`.
    pub(crate) fn name_there(&self, figure: &str) -> String {
        format!("at_found_{}_{figure}", self.parameter)
    }

    /// The figure that was searched by, as other figures are called: `response_p99_ns` for `response_ns p99`.
    pub(crate) fn figure_name(&self) -> String {
        match self.figure.split_once(' ') {
            Some((name, percentile)) => {
                format!("{}_{}_ns", name.trim_end_matches("_ns"), percentile.replace('.', ""))
            }
            None => self.figure.clone(),
        }
    }

    /// Whether a load was found that keeps what was asked for, on a path; `None` while the search has not ended.
    pub(crate) fn is_met(&self, path: &SearchedPath) -> Option<bool> {
        Some(match path.outcome? {
            SearchOutcome::Found { .. } => true,
            // Of a knee that is no load beyond which throughput stops growing.
            SearchOutcome::AboveHighest => self.goal != "knee",
            SearchOutcome::BelowLowest => false,
            SearchOutcome::GaveUp { low, .. } => self.goal != "knee" && low.is_some(),
        })
    }

    /// Its name among the searches of a run: `web size=64`.
    pub(crate) fn name(&self) -> String {
        [self.workload.as_str(), &point_label(&self.point)].join(" ").trim_end().to_owned()
    }
}

impl SearchedPath {
    /// How the search ended, as JSON has it; empty while it has not.
    pub(crate) fn ended(&self) -> &'static str {
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
}
