//! The sides of the comparisons of a point: its cells, and what each is compared with.

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
    /// Index of the baseline's path.
    baseline: Option<usize>,
    /// The baseline with its twin, where it has one.
    both: Option<Cell>,
    floors: Vec<Option<Floor>>,
}

impl<'a> Sides<'a> {
    pub(super) fn of(data: &'a RunData, point: usize) -> Self {
        let kind = data.workloads[data.workload_of[point]].kind;
        let name = data.run.plan.baseline.as_ref();
        let baseline = name.and_then(|name| data.path_names.get(name)).copied();
        let mut out = Self { data, point, kind, baseline, both: None, floors: Vec::new() };
        let twin = data.twin.and_then(|twin| out.cell(twin));
        if let Some((base, twin)) = out.base().zip(twin) {
            out.floors = floors(kind, twin.cell, base.cell);
            out.both = Some(base.cell.with_twin(twin.cell));
        }
        out
    }

    /// The cell of a path; `None` where it is not in the plan.
    pub(super) fn cell(&self, path: usize) -> Option<PathCell<'a>> {
        let cell = self.data.cells.get(&(path, self.point))?;
        Some(PathCell { path: &self.data.run.plan.paths[path], cell })
    }

    /// The cell of the baseline, without its twin.
    pub(super) fn base(&self) -> Option<PathCell<'a>> {
        self.cell(self.baseline?)
    }

    /// What the cell of a path is compared with; `None` for the baseline, and where there is none.
    /// The twin itself is compared with the baseline alone.
    pub(super) fn against(&self, path: usize) -> Option<Against<'_>> {
        let base = self.base().filter(|_| self.baseline != Some(path))?;
        let is_twin = self.data.twin == Some(path);
        let cell = self.both.as_ref().filter(|_| !is_twin).unwrap_or(base.cell);
        Some(Against {
            base: PathCell { cell, ..base },
            rested: self.data.rested.get(&(path, self.point)),
            floors: &self.floors,
            is_twin,
            minimum_effect: self.data.run.plan.minimum_effect,
        })
    }

    /// The questions about the figures of a path that are plotted, as far as verdicts are to come.
    /// `None` for the baseline and its twin.
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
