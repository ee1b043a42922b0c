//! The names of cells and of their trials, as records and `run.json` have them.

use std::collections::BTreeMap;

use hopbench_model::{Cell, Failure, Plan, Record, Skipped, Stopped, point_label};
use serde_json::Value;

/// A cell by its names, as records and `run.json` have them; a plan's numbers change with what a
/// testbed can measure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CellName {
    /// The path's name.
    pub(crate) path: String,
    /// The workload's name.
    pub(crate) workload: String,
    /// The point, as [`point_label`] writes it.
    pub(crate) point: String,
}

impl CellName {
    pub(crate) fn new(path: &str, workload: &str, point: &BTreeMap<String, Value>) -> Self {
        Self { path: path.to_owned(), workload: workload.to_owned(), point: point_label(point) }
    }

    /// The name of a cell of a plan.
    pub(crate) fn of(plan: &Plan, cell: Cell) -> Self {
        let (path, point) = plan.at(cell);
        Self::new(&path.name, &point.workload, &point.point)
    }

    /// The cell whose rounds ended.
    pub(crate) fn of_stopped(stopped: &Stopped) -> Self {
        let Stopped { path, workload, point, .. } = stopped;
        Self { path: path.clone(), workload: workload.clone(), point: point.clone() }
    }

    /// The cell that was skipped.
    pub(crate) fn of_skipped(skipped: &Skipped) -> Self {
        let Skipped { path, workload, point, reason: _ } = skipped;
        Self { path: path.clone(), workload: workload.clone(), point: point.clone() }
    }

    /// The cell as one that is skipped.
    pub(crate) fn skipped(self, reason: String) -> Skipped {
        let Self { path, workload, point } = self;
        Skipped { path, workload, point, reason }
    }

    /// Its trial in a round.
    pub(crate) fn trial(self, round: u32) -> TrialId {
        let Self { path, workload, point } = self;
        TrialId { path, workload, point, round }
    }
}

/// One cell in one round: what no two complete records of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as [`point_label`](hopbench_model::point_label) writes it.
    pub point: String,
    /// The round, from 1; of a search the number of its trial.
    pub round: u32,
}

impl TrialId {
    /// The trial of a record.
    pub fn of(record: &Record) -> Self {
        CellName::new(&record.path, &record.workload, &record.point).trial(record.round)
    }

    /// The trial of a failure.
    pub fn of_failure(failure: &Failure) -> Self {
        let Failure { path, workload, point, round, reason: _ } = failure;
        Self { path: path.clone(), workload: workload.clone(), point: point.clone(), round: *round }
    }

    /// Whether a failure is one of this trial.
    pub(super) fn is_of(&self, failure: &Failure) -> bool {
        let Failure { path, workload, point, round, reason: _ } = failure;
        (self.round, &self.path, &self.workload, &self.point) == (*round, path, workload, point)
    }

    /// It failed.
    pub(crate) fn failed(self, reason: String) -> Failure {
        let Self { path, workload, point, round } = self;
        Failure { path, workload, point, round, reason }
    }

    /// Its cell.
    pub(crate) fn cell(self) -> CellName {
        let Self { path, workload, point, round: _ } = self;
        CellName { path, workload, point }
    }
}
