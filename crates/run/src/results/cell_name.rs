//! What a cell is called.

use std::collections::BTreeMap;

use hopbench_model::{Cell, Plan, Skipped, Stopped, point_label};
use serde_json::Value;

use super::TrialId;

/// A cell by its names, as records and `run.json` have them; a plan's numbers change with what a testbed can measure.
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
