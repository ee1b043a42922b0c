//! The cells that two sides have in common.

use std::collections::BTreeMap;

use hopbench_model::{MeshMode, Path, Plan, Point, Via, point_label};
use serde::Serialize;

use super::difference::jobs;
use super::measure::Measure;
use super::values::{self, Far, Kept, Values};
use crate::figures::mostly_saturated;
use crate::text::cell_name::{cell_text, key as point_key};

/// A cell that both sides measured.
pub(crate) struct Pair<'a> {
    /// In the runs of the baseline that have it; at least one.
    pub(crate) a: Vec<CellOfRun<'a>>,
    /// In those of the candidate; at least one.
    pub(crate) b: Vec<CellOfRun<'a>>,
}

/// A cell in one run.
#[derive(Clone, Copy)]
pub(crate) struct CellOfRun<'a> {
    pub(crate) of: &'a Values,
    pub(crate) path: &'a Path,
    /// Index of the path in the run's plan.
    path_index: usize,
    pub(crate) point: &'a Point,
    /// Index of the point in the run's plan.
    pub(crate) at: usize,
    kept: Option<&'a Kept>,
}

/// A cell that the baseline measured, and the candidate could not.
pub(crate) struct Gone<'a> {
    /// In the runs of the baseline that have it; at least one.
    pub(crate) a: Vec<CellOfRun<'a>>,
    /// Why the candidate has no usable trial of it.
    pub(crate) reason: String,
}

/// A cell that is not compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCompared {
    /// Path, workload and point.
    pub cell: String,
    /// Why not.
    pub reason: String,
    /// Whether no bound can say anything of it although the baseline planned it: the candidate did
    /// not, or otherwise.
    #[serde(skip)]
    pub(crate) is_unbound: bool,
    /// Whether only one side has it.
    #[serde(skip)]
    pub(crate) is_one_sided: bool,
}

impl NotCompared {
    /// A cell that only the baseline has.
    pub(crate) fn of_baseline(cell: String) -> Self {
        Self {
            cell,
            reason: "only the baseline has it".to_owned(),
            is_unbound: true,
            is_one_sided: true,
        }
    }

    /// A cell that only the candidate has.
    pub(crate) fn of_candidate(cell: String) -> Self {
        Self {
            cell,
            reason: "only the candidate has it".to_owned(),
            is_unbound: false,
            is_one_sided: true,
        }
    }
}

/// The key of a cell: path, workload, point.
type Key = (String, String, String);

/// The cells of a run that take part, in the plan's order. None that is searched, and none of the
/// A/A pair's second half, which is there for its noise.
fn cells(values: &Values) -> impl Iterator<Item = (Key, CellOfRun<'_>)> {
    let plan: &Plan = &values.run.plan;
    plan.cells.iter().filter_map(move |cell| {
        let (path, point) = plan.at(*cell);
        if point.search.is_some() || values.references().is_twin(cell.path) {
            return None;
        }
        let kept = values.cells.get(&(cell.path, cell.point));
        let key = (path.name.clone(), point.workload.clone(), point_key(&point.point));
        let path_index = cell.path;
        Some((key, CellOfRun { of: values, path, path_index, point, at: cell.point, kept }))
    })
}

/// The cells of each side's runs, in the order in which they are met.
fn side<'a>(runs: &'a [Values]) -> (Vec<Key>, BTreeMap<Key, Vec<CellOfRun<'a>>>) {
    let mut order = Vec::new();
    let mut all: BTreeMap<Key, Vec<CellOfRun<'a>>> = BTreeMap::new();
    for (key, found) in runs.iter().flat_map(cells) {
        let known = all.entry(key.clone()).or_default();
        if known.is_empty() {
            order.push(key);
        }
        known.push(found);
    }
    (order, all)
}

/// The cells of two sides.
pub(crate) struct CellPairs<'a> {
    pub(crate) pairs: Vec<Pair<'a>>,
    /// Those of the baseline that failed in the candidate; they are among those that are not
    /// compared, too.
    pub(crate) gone: Vec<Gone<'a>>,
    pub(crate) not_compared: Vec<NotCompared>,
}

/// The cells of both sides, and those that cannot be compared.
pub(crate) fn all<'a>(a: &'a [Values], b: &'a [Values]) -> CellPairs<'a> {
    let ((order, ones), (later, mut others)) = (side(a), side(b));
    let (mut pairs, mut gone, mut apart) = (Vec::new(), Vec::new(), Vec::new());
    let measured = |found: &[CellOfRun<'a>]| -> Vec<_> {
        found.iter().filter(|f| f.kept.is_some()).copied().collect()
    };
    for key in &order {
        let one = &ones[key];
        let Some(other) = others.remove(key) else {
            apart.push(NotCompared::of_baseline(one[0].cell()));
            continue;
        };
        let (a, b) = (measured(one), measured(&other));
        let Some(reason) = reason(one, &other) else {
            pairs.push(Pair { a, b });
            continue;
        };
        let is_gone = !a.is_empty() && b.is_empty() && other_job(one, &other).is_none();
        if is_gone {
            gone.push(Gone { a, reason: other[0].why_unused() });
        }
        apart.push(NotCompared {
            cell: one[0].cell(),
            reason,
            is_unbound: !is_gone,
            is_one_sided: false,
        });
    }
    let left = later.iter().filter_map(|key| others.get(key));
    apart.extend(left.map(|found| NotCompared::of_candidate(found[0].cell())));
    CellPairs { pairs, gone, not_compared: apart }
}

/// In what the jobs of a cell differ, in words.
fn other_job(one: &[CellOfRun<'_>], other: &[CellOfRun<'_>]) -> Option<String> {
    let job = &one[0].point.job;
    one.iter().chain(other).map(|found| jobs(job, &found.point.job)).find(|text| !text.is_empty())
}

/// Why a cell that both sides planned is not compared.
fn reason(one: &[CellOfRun<'_>], other: &[CellOfRun<'_>]) -> Option<String> {
    if let Some(text) = other_job(one, other) {
        return Some(format!("another job: {text}"));
    }
    let missing = |found: &[CellOfRun<'_>]| found.iter().all(|found| found.kept.is_none());
    match (missing(one), missing(other)) {
        (false, false) => None,
        (true, true) => Some("no usable trial on either side".to_owned()),
        (true, false) => Some(format!("no usable trial in the baseline: {}", one[0].why_unused())),
        (false, true) => {
            Some(format!("no usable trial in the candidate: {}", other[0].why_unused()))
        }
    }
}

impl CellOfRun<'_> {
    pub(crate) fn cell(&self) -> String {
        cell_text(&self.path.name, &self.point.workload, &self.point.point)
    }

    /// Why no trial of it can be used.
    fn why_unused(&self) -> String {
        let label = point_label(&self.point.point);
        let (path, workload) = (&self.path.name, &self.point.workload);
        let run = &self.of.run;
        let mut skipped = run.skipped.iter();
        let skipped =
            skipped.find(|s| s.path == *path && s.workload == *workload && s.point == label);
        let mut failed = run.failures.iter();
        let failed =
            failed.find(|f| f.path == *path && f.workload == *workload && f.point == label);
        let unused = || {
            let at = run.plan.paths.iter().position(|known| known.name == *path)?;
            self.of.unused.get(&(at, self.at))
        };
        let reason = skipped.map(|skipped| &skipped.reason).or_else(unused);
        let reason = reason.or_else(|| failed.map(|failure| &failure.reason));
        reason.map_or_else(|| "it has no record".to_owned(), String::clone)
    }

    /// The proxies that its traffic passes.
    fn proxies(&self) -> (MeshMode, bool) {
        if !self.path.proxies_carry(&self.point.job) {
            return (MeshMode::None, false);
        }
        (self.path.mesh, matches!(self.path.via, Via::Gateway(_)))
    }
}

impl<'a> Pair<'a> {
    pub(crate) fn all(&self) -> impl Iterator<Item = &CellOfRun<'a>> {
        self.a.iter().chain(&self.b)
    }

    /// Whether the generator was the limit of most trials of a run.
    pub(crate) fn is_generator_limited(&self) -> bool {
        self.all().any(|found| found.kept.is_some_and(Kept::is_generator_limited))
    }

    /// The rates at which the cell is saturated in the baseline and in the candidate, a second: in
    /// most trials of the side's runs.
    pub(crate) fn saturated_per_s(&self) -> [Option<f64>; 2] {
        let of = |side: &[CellOfRun<'_>]| {
            let kept = side.iter().filter_map(|found| found.kept);
            mostly_saturated(kept.flat_map(Kept::saturated))
        };
        [of(&self.a), of(&self.b)]
    }

    /// Whether the traffic passes the same proxies everywhere.
    pub(crate) fn has_the_same_proxies(&self) -> bool {
        self.all().all(|found| found.proxies() == self.a[0].proxies())
    }

    /// Whether connections end at the same kind of end everywhere.
    pub(crate) fn connects_alike(&self) -> bool {
        self.all().all(|found| found.path.ends_connections() == self.a[0].path.ends_connections())
    }

    /// How a figure of the cell is read if rounds have too few samples of it.
    pub(crate) fn far(&self, index: usize, measure: &Measure) -> Option<Far> {
        let runs: Vec<&Kept> = self.all().filter_map(|found| found.kept).collect();
        Far::of(&runs, index, measure)
    }

    /// The largest difference that the A/A pairs of the runs show for a figure.
    pub(crate) fn floor(&self, measure: usize, far: Option<Far>) -> Option<f64> {
        self.all()
            .filter_map(|found| found.of.floor((found.path_index, found.at), measure, far))
            .reduce(f64::max)
    }

    /// The same in the figure's unit.
    pub(crate) fn absolute_floor(&self, measure: usize) -> Option<f64> {
        self.all()
            .filter_map(|found| found.of.absolute_floor((found.path_index, found.at), measure))
            .reduce(f64::max)
    }
}

/// The values of a figure in the runs of a side, run by run; runs without any are left out.
pub(crate) fn values(side: &[CellOfRun<'_>], measure: usize, far: Option<Far>) -> Vec<Vec<f64>> {
    let of = |found: &CellOfRun<'_>| {
        found.kept.map_or_else(Vec::new, |kept| values::values(kept, measure, far))
    };
    side.iter().map(of).filter(|values| !values.is_empty()).collect()
}
