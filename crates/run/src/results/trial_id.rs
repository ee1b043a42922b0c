//! Which trial a record is of.

use hopbench_model::{Failure, Record};

use super::cell_name::CellName;

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
