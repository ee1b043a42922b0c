//! The allocation of the time that a budget gives: more rounds for what is open.
//!
//! After some rounds a look says which cells are settled: their comparisons are clear, or out of
//! reach (see [`hopbench_stats::is_settled`]). Settled cells are in one round of four. The others
//! are in each round, and there are more rounds. Once no cell is open, all are in each round: no
//! other cell needs the time. What a look says follows from the plan and from the records of the
//! rounds before it, never from a clock. So a run that goes on makes the trials that it would have
//! made.
//!
//! A session may be unable to measure cells that were measured before. Such a cell counts up to the
//! last round in which it was tried, so that the rounds before are read as they were made. Later
//! rounds are decided without it. A cell without records rests in no round, and no other rests for
//! it.

use std::collections::{BTreeMap, HashMap, HashSet};

use hopbench_analysis::{ComparisonState, RunData};
use hopbench_model::{Cell, Plan, Record, References, RunFile};
use hopbench_stats::is_look;

use crate::results::{CellName, TrialId};

/// A settled cell is in one of so many rounds.
const EVERY: u32 = 4;

/// Which cells are settled, as far as the rounds before this one say.
#[derive(Debug)]
pub(in crate::campaign) struct Allocation {
    /// The records that a look has seen; absent if the run has no budget, or nothing to compare.
    /// Then every cell is in each round.
    data: Option<Box<RunData>>,
    references: References,
    /// The cells of the run's plan that are in rounds, by name; none if the run has no budget.
    cells: BTreeMap<CellName, Cell>,
    /// The place of each cell of this session's plan in the run's plan. Each plan numbers its own
    /// paths and points.
    places: HashMap<Cell, Cell>,
    /// Those of the run's cells that this session measures.
    measured: HashSet<Cell>,
    /// The last round in which each of the run's cells was tried.
    last: HashMap<Cell, u32>,
    /// The records of the rounds that no look has seen, by round.
    unseen: BTreeMap<u32, Vec<Record>>,
    /// What the last look found, by places in the run's plan.
    found: ComparisonState,
    /// Whether any cell of the round was open then.
    is_any_open: bool,
}

impl Allocation {
    /// For a run with a budget and something to compare. `plan` is the part of its plan that this
    /// session measures; `records` were measured before.
    pub(in crate::campaign) fn of(
        run: &RunFile,
        plan: &Plan,
        records: impl Iterator<Item = Record>,
    ) -> Self {
        let whole = &run.plan;
        let references = whole.references();
        let compares = (0..whole.paths.len()).any(|path| references.is_reference(path));
        let has_budget = whole.budget_ns.is_some();
        let allocates = has_budget && compares;
        let data = allocates.then(|| Box::new(RunData::new(run).without_distributions()));
        let in_rounds = |cell: &&Cell| has_budget && whole.points[cell.point].search.is_none();
        let named = |cell: &Cell| (CellName::of(whole, *cell), *cell);
        let cells: BTreeMap<CellName, Cell> =
            whole.cells.iter().filter(in_rounds).map(named).collect();
        let place = |cell: &Cell| Some((*cell, *cells.get(&CellName::of(plan, *cell))?));
        let places: HashMap<Cell, Cell> = plan.cells.iter().filter_map(place).collect();
        let mut out = Self {
            data,
            references,
            measured: places.values().copied().collect(),
            cells,
            places,
            last: HashMap::new(),
            unseen: BTreeMap::new(),
            found: ComparisonState::default(),
            is_any_open: false,
        };
        run.failures.iter().for_each(|failure| out.tried(TrialId::of_failure(failure)));
        records.for_each(|record| out.take(record));
        out
    }

    /// Takes the record of a trial.
    pub(in crate::campaign) fn take(&mut self, record: Record) {
        if record.search.is_some() {
            return;
        }
        self.tried(TrialId::of(&record));
        if self.data.is_some() {
            self.unseen.entry(record.round).or_default().push(record);
        }
    }

    fn tried(&mut self, trial: TrialId) {
        let round = trial.round;
        if let Some(cell) = self.cells.get(&trial.cell()) {
            let last = self.last.entry(*cell).or_default();
            *last = round.max(*last);
        }
    }

    /// A round is about to begin: looks, if it is time to.
    pub(in crate::campaign) fn look(&mut self, round: u32) {
        let Some(data) = &mut self.data else { return };
        let later = self.unseen.split_off(&round);
        let before = std::mem::replace(&mut self.unseen, later);
        before.values().flatten().for_each(|record| data.add(record));
        if is_look(round) {
            self.found = data.comparison_state();
        }
        let mut open = self.found.open.iter().map(|(path, point)| (*path, *point));
        self.is_any_open = open.any(|(path, point)| self.counts(Cell { path, point }, round));
    }

    /// Whether a cell of this session's plan is in a round. All settled cells of a point are in the
    /// same rounds. What others are compared with, and its twin, are where any of those is at their
    /// point.
    pub(in crate::campaign) fn has(&self, cell: Cell, round: u32) -> bool {
        self.places.get(&cell).is_none_or(|cell| self.gets(*cell, round))
    }

    /// Whether the cell of an earlier trial was in that round: it was tried then or later, and did
    /// not rest. To be asked after the look of that round.
    pub(in crate::campaign) fn had(&self, trial: &TrialId) -> bool {
        let cell = self.cells.get(&trial.clone().cell());
        cell.is_some_and(|cell| self.counts(*cell, trial.round) && self.gets(*cell, trial.round))
    }

    /// Whether a cell of the run is in the question of a round: it is measured now, or was tried
    /// then or later.
    fn counts(&self, cell: Cell, round: u32) -> bool {
        self.measured.contains(&cell) || self.last.get(&cell).is_some_and(|last| round <= *last)
    }

    fn gets(&self, cell: Cell, round: u32) -> bool {
        // Points rest in different rounds, so that rounds take about equally long.
        let at = u64::from(round) + cell.point as u64;
        !self.is_any_open || at.is_multiple_of(u64::from(EVERY)) || self.needs(cell, round)
    }

    fn needs(&self, cell: Cell, round: u32) -> bool {
        let is_settled = |path: usize| self.found.settled.contains(&(path, cell.point));
        let references = &self.references;
        let Some(base) = references.base_of(cell.path) else { return !is_settled(cell.path) };
        let is_compared =
            |path: usize| references.of(path) == Some(base) && !references.is_twin(path);
        let others: Vec<usize> = self
            .cells
            .values()
            .filter(|other| other.point == cell.point && is_compared(other.path))
            .filter(|other| self.counts(**other, round))
            .map(|other| other.path)
            .collect();
        others.is_empty() || !others.into_iter().all(is_settled)
    }
}

#[cfg(test)]
mod tests;
