//! The allocation of the time that a budget gives: more rounds for what is open.
//!
//! After some rounds a look says which cells are settled: their comparisons are clear, or out of
//! reach (see [`hopbench_stats::is_settled`]). Settled cells are in one round of four. The others
//! are in each round, and there are more rounds. Once all cells are settled, all are in each round:
//! no other cell needs the time. What a look says follows from the plan and from
//! the records of the rounds before it, never from a clock. So a run that goes on makes the trials
//! that it would have made.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_analysis::RunData;
use hopbench_model::{Cell, Plan, Record, References, RunFile};
use hopbench_stats::is_look;

/// A settled cell is in one of so many rounds.
const EVERY: u32 = 4;

/// Which cells are settled, as far as the rounds before this one say.
#[derive(Debug)]
pub(in crate::campaign) struct Allocation {
    /// The records that a look has seen; absent if the run has no budget, or nothing to compare.
    /// Then every cell is in each round.
    data: Option<Box<RunData>>,
    references: References,
    /// The records of the rounds that no look has seen, by round.
    unseen: BTreeMap<u32, Vec<Record>>,
    /// Path and point of each cell that the last look found settled.
    settled: BTreeSet<(usize, usize)>,
}

impl Allocation {
    /// For a run with a budget and something to compare; `records` were measured before.
    pub(in crate::campaign) fn of(run: &RunFile, records: impl Iterator<Item = Record>) -> Self {
        let plan = &run.plan;
        let references = plan.references();
        let compares = (0..plan.paths.len()).any(|path| references.is_reference(path));
        let allocates = plan.budget_ns.is_some() && compares;
        let data = allocates.then(|| Box::new(RunData::new(run).without_distributions()));
        let (unseen, settled) = (BTreeMap::new(), BTreeSet::new());
        let mut out = Self { data, references, unseen, settled };
        records.for_each(|record| out.take(record));
        out
    }

    /// Takes the record of a trial.
    pub(in crate::campaign) fn take(&mut self, record: Record) {
        if self.data.is_some() && record.search.is_none() {
            self.unseen.entry(record.round).or_default().push(record);
        }
    }

    /// A round is about to begin: looks, if it is time to.
    pub(in crate::campaign) fn look(&mut self, plan: &Plan, round: u32) {
        let Some(data) = &mut self.data else { return };
        let later = self.unseen.split_off(&round);
        let before = std::mem::replace(&mut self.unseen, later);
        before.values().flatten().for_each(|record| data.add(record));
        if is_look(round) {
            self.settled = data.settled();
            let in_rounds = |cell: &&Cell| plan.points[cell.point].search.is_none();
            if !plan.cells.iter().filter(in_rounds).any(|cell| self.is_open(plan, *cell)) {
                self.settled.clear();
            }
        }
    }

    /// Whether a cell is in a round. All settled cells of a point are in the same rounds. What
    /// others are compared with, and its twin, are where any of those is at their point.
    pub(in crate::campaign) fn has(&self, plan: &Plan, cell: Cell, round: u32) -> bool {
        // Points rest in different rounds, so that rounds take about equally long.
        let at = u64::from(round) + cell.point as u64;
        at.is_multiple_of(u64::from(EVERY)) || self.is_open(plan, cell)
    }

    fn is_open(&self, plan: &Plan, cell: Cell) -> bool {
        let references = &self.references;
        let Some(base) = references.base_of(cell.path) else {
            return !self.settled.contains(&(cell.path, cell.point));
        };
        let is_compared =
            |path: usize| references.of(path) == Some(base) && !references.is_twin(path);
        let others: Vec<&Cell> = plan
            .cells
            .iter()
            .filter(|other| other.point == cell.point && is_compared(other.path))
            .collect();
        let is_settled = |other: &&Cell| self.settled.contains(&(other.path, other.point));
        others.is_empty() || !others.iter().all(is_settled)
    }
}

#[cfg(test)]
mod tests;
