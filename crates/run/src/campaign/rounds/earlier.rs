//! The trials of rounds that earlier sessions measured.

use std::collections::{BTreeSet, HashMap};

use hopbench_model::{Cell, Plan};

use crate::results::{CellName, TrialId};

/// The rounds that each cell of a plan has, in ascending order. Names are compared once a cell, not
/// once a trial: there can be thousands of cells, each with a thousand rounds.
#[derive(Debug)]
pub(in crate::campaign) struct Earlier(HashMap<Cell, Vec<u32>>);

impl Earlier {
    /// The cells of `plan` among the trials that are done.
    pub(in crate::campaign) fn of(plan: &Plan, done: &BTreeSet<TrialId>) -> Self {
        let known = |cell: &Cell| (*cell, rounds(done, CellName::of(plan, *cell)));
        Self(plan.cells.iter().map(known).collect())
    }

    /// Whether a cell was measured in a round.
    pub(in crate::campaign) fn has(&self, cell: Cell, round: u32) -> bool {
        self.rounds(cell).binary_search(&round).is_ok()
    }

    /// Of so many rounds after a round, those in which a cell was not measured.
    pub(in crate::campaign) fn left(&self, cell: Cell, after: u32, count: u32) -> usize {
        let up_to = |last: u32| self.rounds(cell).partition_point(|round| *round <= last);
        count as usize - (up_to(after.saturating_add(count)) - up_to(after))
    }

    fn rounds(&self, cell: Cell) -> &[u32] {
        self.0.get(&cell).map_or(&[], Vec::as_slice)
    }
}

/// The rounds of a cell among trials, in ascending order.
pub(in crate::campaign) fn rounds(done: &BTreeSet<TrialId>, cell: CellName) -> Vec<u32> {
    let first = cell.trial(0);
    let last = TrialId { round: u32::MAX, ..first.clone() };
    done.range(first..=last).map(|trial| trial.round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::stopping::tests::plan;

    #[test]
    fn a_cell_has_its_own_rounds() {
        let plan = plan(2, 2, None);
        let (first, last) = (plan.cells[0], plan.cells[3]);
        let made = |cell, rounds: &[u32]| -> Vec<TrialId> {
            rounds.iter().map(|round| CellName::of(&plan, cell).trial(*round)).collect()
        };
        let done: BTreeSet<TrialId> =
            made(first, &[5, 1, 2]).into_iter().chain(made(last, &[20, 3])).collect();
        let earlier = Earlier::of(&plan, &done);
        let has = |cell| (0..=21).filter(|round| earlier.has(cell, *round)).collect::<Vec<_>>();
        assert_eq!(
            (has(first), has(plan.cells[1]), has(last)),
            (vec![1, 2, 5], Vec::new(), vec![3, 20])
        );
        assert_eq!(
            [(0, 20), (1, 4), (5, 15), (20, 0)]
                .map(|(after, count)| earlier.left(first, after, count)),
            [17, 2, 15, 0]
        );
        assert_eq!([earlier.left(last, 2, 1), earlier.left(plan.cells[1], 0, 20)], [0, 20]);
    }
}
