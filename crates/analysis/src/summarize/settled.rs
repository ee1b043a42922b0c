//! Settled cells: those whose comparisons are clear already, or out of reach.

use std::collections::BTreeSet;

use hopbench_stats::{FEWEST_TO_JUDGE, is_settled};

use super::sides::Sides;
use crate::cells::against::PathCell;
use crate::run_data::RunData;

/// The cells whose comparisons are settled, and those that have open ones, as indices of path and
/// point.
///
/// The baseline and its twin are in neither set. Nor is a cell without records, or a cell that is
/// compared with one without records: nothing can be said of them yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparisonState {
    /// Each of their comparisons is clear already, or out of reach ([`is_settled`]), or gets no
    /// verdict.
    pub settled: BTreeSet<(usize, usize)>,
    /// All others with records. Among them are cells that are compared with nothing.
    pub open: BTreeSet<(usize, usize)>,
}

impl RunData {
    /// How the comparisons of the cells stand. Only figures that are plotted count. A cell with
    /// fewer than 3 rounds that can be compared is open. So are a tool of others and what it
    /// stands beside: the two are compared with each other.
    pub fn comparison_state(&self) -> ComparisonState {
        let mut looked = self.clone();
        looked.pool();
        let all = &looked.run.plan.points;
        let beside: BTreeSet<&str> =
            all.iter().filter_map(|point| Some(point.peer.as_ref()?.of.as_str())).collect();
        let is_alone = |point: usize| {
            let point = &all[point];
            point.peer.is_none() && !beside.contains(point.workload.as_str())
        };
        let mut out = ComparisonState::default();
        for point in looked.workloads.iter().flat_map(|workload| &workload.points).copied() {
            let sides = Sides::of(&looked, point);
            let is_asked = |path: &usize| {
                looked.references.base_of(*path).is_none() && is_known(&sides, *path)
            };
            for path in (0..looked.run.plan.paths.len()).filter(is_asked) {
                let is_settled = is_alone(point) && is_clear(&sides, path);
                let cells = if is_settled { &mut out.settled } else { &mut out.open };
                cells.insert((path, point));
            }
        }
        out
    }
}

/// Whether a path has records, and what it is compared with has some, too.
fn is_known(sides: &Sides<'_>, path: usize) -> bool {
    let has_records = |of: PathCell<'_>| !of.cell.rounds.is_empty();
    sides.cell(path).is_some_and(has_records) && sides.base(path).is_none_or(has_records)
}

/// Whether a path was compared often enough, and no comparison of it is open.
fn is_clear(sides: &Sides<'_>, path: usize) -> bool {
    let Some((here, base)) = sides.cell(path).zip(sides.base(path)) else { return false };
    here.cell.comparable(base.cell) >= FEWEST_TO_JUDGE
        && sides.questions(path).is_some_and(|all| all.iter().all(is_settled))
}
