//! Which trial a record is of.

use hopbench_model::{Failure, Record, point_label};

/// One cell in one round: what no two complete records of a run share.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrialId {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as [`point_label`] writes it.
    pub point: String,
    /// The round, from 1.
    pub round: u32,
}

impl TrialId {
    /// The trial of a record.
    pub fn of(record: &Record) -> Self {
        Self {
            path: record.path.clone(),
            workload: record.workload.clone(),
            point: point_label(&record.point),
            round: record.round,
        }
    }

    /// The trial of a failure.
    pub fn of_failure(failure: &Failure) -> Self {
        let Failure { path, workload, point, round, reason: _ } = failure.clone();
        Self { path, workload, point, round }
    }
}
