//! The sides of the comparisons of a point: its cells, and what each is compared with.

use std::collections::BTreeMap;

use hopbench_stats::Question;

use crate::cells::Cell;
use crate::cells::against::{Against, Floor, PathCell, asked, floors};
use crate::figures::{Better, Kind};
use crate::run_data::RunData;

/// The sides of the comparisons of a point.
pub(super) struct Sides<'a> {
    data: &'a RunData,
    point: usize,
    kind: &'static Kind,
    /// The paths that have a twin, with what both say.
    twins: BTreeMap<usize, Twins>,
}

/// A path that others are compared with, and its twin.
struct Twins {
    /// The cells of both.
    both: Cell,
    floors: Vec<Option<Floor>>,
}

impl<'a> Sides<'a> {
    pub(super) fn of(data: &'a RunData, point: usize) -> Self {
        let kind = data.workloads[data.workload_of[point]].kind;
        let mut out = Self { data, point, kind, twins: BTreeMap::new() };
        for (path, twin) in data.references.twins() {
            if let Some((base, twin)) = out.cell(path).zip(out.cell(twin)) {
                let floors = floors(kind, twin.cell, base.cell);
                let both = base.cell.with_twin(twin.cell);
                out.twins.insert(path, Twins { both, floors });
            }
        }
        out
    }

    /// The cell of a path; `None` where it is not in the plan.
    pub(super) fn cell(&self, path: usize) -> Option<PathCell<'a>> {
        let cell = self.data.cells.get(&(path, self.point))?;
        Some(PathCell { path: &self.data.run.plan.paths[path], cell })
    }

    /// The cell that this path's is compared with, without its twin.
    pub(super) fn base(&self, path: usize) -> Option<PathCell<'a>> {
        self.cell(self.data.references.of(path)?)
    }

    /// The reference of a path's cell; `None` where there is none. A twin itself is
    /// compared with the other one alone.
    pub(super) fn against(&self, path: usize) -> Option<Against<'_>> {
        let references = &self.data.references;
        let (base, is_twin) = (self.base(path)?, references.is_twin(path));
        let twins = references.of(path).and_then(|of| self.twins.get(&of));
        let both = twins.map(|twins| &twins.both).filter(|_| !is_twin);
        Some(Against {
            base: PathCell { cell: both.unwrap_or(base.cell), ..base },
            rested: self.data.rested.get(&(path, self.point)),
            floors: twins.map_or(&[], |twins| &twins.floors),
            is_twin,
            minimum_effect: self.data.run.plan.minimum_effect,
        })
    }

    /// The questions about the figures of a path that are plotted, as far as verdicts are to come.
    /// `None` for what others are compared with, and for twins.
    pub(super) fn questions(&self, path: usize) -> Option<Vec<Question>> {
        let against = self.against(path).filter(|against| !against.is_twin)?;
        let here = self.cell(path)?;
        let plotted = self.kind.figures.iter().enumerate().take(self.kind.plots);
        let compared =
            plotted.filter(|(_, figure)| figure.is_compared() && figure.better != Better::Neither);
        let asked =
            compared.filter_map(|(index, figure)| asked(figure, index, here, Some(against), None));
        Some(asked.filter_map(|open| open.question).map(|(_, question)| question).collect())
    }
}
