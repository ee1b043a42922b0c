//! The load of a path, or the figure there, as far as it is known.

use std::collections::BTreeSet;

use hopbench_model::SCAN;

use super::trials::is_same;
use crate::summary::{Bracket, SearchedPath, TraceStep};

/// The steps of a search but those of its scan.
fn decided(path: &SearchedPath) -> impl Iterator<Item = &TraceStep> {
    path.trace.iter().filter(|step| step.why != SCAN)
}

/// The load of a path, or the figure there, as far as it is known, and when it was measured.
#[derive(Clone)]
pub(crate) struct KnownLoad {
    pub(crate) found: Option<f64>,
    pub(crate) bracket: Bracket,
    /// What each of several searches found; `None` of levels and of what was seen there, which are
    /// not searched several times.
    pub(crate) repeats: Option<Vec<f64>>,
    /// The share by which two searches of the same thing can come to differ only because of their
    /// steps.
    pub(crate) resolution: f64,
    pub(crate) sessions: BTreeSet<u32>,
    pub(crate) generator_limited: bool,
    /// Whether a step on which the load rests was not decided.
    pub(crate) undecided: bool,
}

impl KnownLoad {
    /// The load; `None` while the search has not ended.
    pub(crate) fn load(path: &SearchedPath) -> Option<Self> {
        let bracket = path.bracket?;
        let behind = decided(path).filter(|step| bracket.contains(step.load));
        Some(Self {
            found: path.found(),
            bracket,
            repeats: path.resolution.map(|_| path.results.clone()),
            resolution: path.resolution.unwrap_or(0.0),
            sessions: behind.map(|step| step.session).collect(),
            generator_limited: path.generator_limited,
            undecided: !path.undecided.is_empty(),
        })
    }

    /// The figure that was searched by, at the load that was found; `None` with one trial there.
    pub(crate) fn value(path: &SearchedPath) -> Option<Self> {
        let (load, value) = (path.at?, path.value?);
        let there = decided(path).filter(|step| is_same(step.load, load));
        Some(Self {
            found: Some(value.median),
            bracket: Bracket { low: value.low?, high: value.high? },
            repeats: None,
            resolution: 0.0,
            sessions: there.map(|step| step.session).collect(),
            generator_limited: path.generator_limited,
            // A level has the throughput that it has, whether it is the knee or not.
            undecided: false,
        })
    }

    /// The share by which the two can differ only because of their searches' steps.
    pub(crate) fn resolution_with(&self, other: &Self) -> f64 {
        self.resolution.max(other.resolution)
    }

    pub(crate) fn ratio(&self, other: &Self) -> Option<f64> {
        Some(self.found? / other.found.filter(|load| *load > 0.0)?)
    }
}
