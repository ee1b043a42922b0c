//! The trials of a search, as their records tell them.

use std::borrow::Cow;

use hopbench_model::{EQUAL_LOAD, Point, Record, SCAN, SearchStep};

use crate::figures::{Component, Figure, Kind, RecordedJob, is_mostly_late, kinds, unusable};
use crate::summary::{Bracket, ComponentSummary, FoundFigure, Spread};

/// Loads that differ by less than this share are one: they were written and read as text.
const SAME_LOAD: f64 = 1e-9;

/// A trial of a search.
#[derive(Clone)]
pub(crate) struct SearchTrial<'a> {
    pub(crate) record: &'a Record,
    pub(crate) step: &'a SearchStep,
    /// Why it is in no figure; empty where it is.
    pub(crate) unusable: String,
}

impl<'a> SearchTrial<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        Some(Self {
            record,
            step: record.search.as_ref()?,
            unusable: unusable(record).unwrap_or_default(),
        })
    }

    /// Whether it is of a scan, which decides nothing.
    pub(crate) fn is_scan(&self) -> bool {
        self.step.why == SCAN
    }

    /// Whether its figures can be used.
    pub(crate) fn is_usable(&self) -> bool {
        self.unusable.is_empty()
    }

    pub(crate) fn is_at(&self, load: f64) -> bool {
        is_same(self.step.load, load)
    }

    /// Its window with warm-up, s.
    pub(crate) fn length_s(&self) -> f64 {
        self.record.window_s + RecordedJob(&self.record.job).warmup_ns().unwrap_or(0) as f64 / 1e9
    }
}

/// The trials of one load whose figures count. They can be used, and the testbed did not change in
/// them. Without such they are all that can be used.
pub(crate) fn counted<'t, 'a>(
    trials: impl Iterator<Item = &'t SearchTrial<'a>>,
) -> Vec<&'t SearchTrial<'a>>
where
    'a: 't,
{
    let mut out: Vec<&SearchTrial<'_>> = trials.filter(|trial| trial.is_usable()).collect();
    if out.iter().any(|trial| !trial.record.is_disturbed()) {
        out.retain(|trial| !trial.record.is_disturbed());
    }
    out
}

/// Whether the generator was the limit of half of the trials or more that either end of what was
/// found rests on. They are those up to the load that was found (`at`), or those beyond it.
pub(crate) fn is_generator_limited(
    trials: &[SearchTrial<'_>],
    bracket: Bracket,
    at: Option<f64>,
) -> bool {
    let behind = || trials.iter().filter(|trial| bracket.contains(trial.step.load));
    let is_above =
        |trial: &SearchTrial<'_>| at.is_some_and(|at| trial.step.load > at && !trial.is_at(at));
    [false, true].into_iter().any(|above| {
        let side = counted(behind().filter(|trial| is_above(trial) == above));
        is_mostly_late(side.iter().map(|trial| trial.record.is_generator_limited()))
    })
}

/// Whether two loads are one.
pub(crate) fn is_same(load: f64, other: f64) -> bool {
    (load - other).abs() <= SAME_LOAD * other.abs()
}

/// Whether a record is of a trial of this point: it has the point's values and the load.
pub(crate) fn is_of(record: &Record, point: &Point) -> bool {
    let Some(step) = &record.search else {
        return false;
    };
    let same = |(name, value): (&String, _)| {
        *name == step.parameter || record.point.get(name) == Some(value)
    };
    record.workload == point.workload && point.point.iter().all(same)
}

/// The trials of a path's search over a parameter, in order. Of two with one number the later
/// record is the valid one.
pub(crate) fn of_search<'a>(
    records: &[&'a Record],
    path: &str,
    parameter: &str,
) -> Vec<SearchTrial<'a>> {
    let mut out: Vec<SearchTrial<'a>> = Vec::new();
    for trial in records.iter().filter_map(|record| SearchTrial::of(record)) {
        let step = trial.step;
        if trial.record.path != path || step.parameter != parameter || step.goal == EQUAL_LOAD {
            continue;
        }
        match out.iter_mut().find(|known| known.step.step == step.step) {
            Some(known) => *known = trial,
            None => out.push(trial),
        }
    }
    out.sort_by_key(|trial| trial.step.step);
    out
}

/// The trials of all paths at loads that were found on one.
pub(crate) fn of_equal_load<'a>(
    records: &[&'a Record],
    parameter: &str,
    found_on: &str,
) -> Vec<SearchTrial<'a>> {
    let mut out: Vec<SearchTrial<'a>> = Vec::new();
    for trial in records.iter().filter_map(|record| SearchTrial::of(record)) {
        let step = trial.step;
        if step.parameter != parameter || step.goal != EQUAL_LOAD || step.why != found_on {
            continue;
        }
        let same = |known: &SearchTrial<'_>| {
            known.record.path == trial.record.path
                && known.step.step == step.step
                && known.step.load == step.load
        };
        match out.iter_mut().find(|known| same(known)) {
            Some(known) => *known = trial,
            None => out.push(trial),
        }
    }
    out
}

/// The figures of several trials, in the kind's order, and the mean of its latency. `proxied`:
/// proxies carry their traffic.
pub(crate) fn figures(kind: &Kind, records: &[&Record], proxied: bool) -> Vec<FoundFigure> {
    let one = |figure: &Figure| {
        let values = records.iter().filter_map(|record| figure.of(record, proxied));
        Some(FoundFigure {
            name: figure.name,
            label: figure.label,
            spread: figure.over(values.collect(), None)?,
        })
    };
    kind.figures.iter().chain(kinds::mean(kind)).filter_map(one).collect()
}

/// The cores of each component over several trials.
pub(crate) fn components(records: &[&Record]) -> Vec<ComponentSummary> {
    let mut all: Vec<(Cow<'static, str>, Vec<f64>)> = Vec::new();
    for one in records.iter().flat_map(|record| Component::all(&record.cost)) {
        match all.iter_mut().find(|(name, _)| *name == one.name) {
            Some((_, values)) => values.push(one.cores),
            None => all.push((one.name, vec![one.cores])),
        }
    }
    let summary = |(name, values)| Some(ComponentSummary { name, cores: Spread::of(values)? });
    all.into_iter().filter_map(summary).collect()
}
