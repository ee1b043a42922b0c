//! The part of a plan that a testbed can measure.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Cell, Fault, Plan, References, RunFile, Skipped};
use hopbench_testbed::{Need, Testbed};

use super::rounds::earlier;
use super::searches::search_driver;
use crate::results::{CellName, Searched, TrialId};

/// What cannot be measured any more of cells that an earlier session measured, in part or whole,
/// with the reasons.
#[derive(Default)]
pub(super) struct Lost {
    /// Trials of rounds that are missing.
    pub(super) trials: Vec<(TrialId, String)>,
    /// Cells of the whole plan that later rounds will not have.
    pub(super) cells: Vec<(Cell, String)>,
    /// Cells of the whole plan that are searched, finished or not.
    pub(super) searches: Vec<(Cell, String)>,
}

/// The plan without what cannot be measured, and what that is, with the reasons. The order of what
/// stays is the order it had.
pub(super) fn supported(
    plan: &Plan,
    testbed: &mut dyn Testbed,
) -> Result<(Plan, Vec<(Cell, String)>), Fault> {
    let needs = testbed.missing(plan);
    if needs.iter().any(|need| need.path.is_none()) {
        return Err(lacking(&needs));
    }
    let (mut cells, mut unmeasurable) = (Vec::new(), Vec::new());
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        let need = needs.iter().find(|need| need.path.as_deref() == Some(&path.name));
        match need.map(Need::to_string).or_else(|| testbed.unsupported(path, point)) {
            None => cells.push(*cell),
            Some(reason) => unmeasurable.push((*cell, reason)),
        }
    }
    if cells.is_empty() {
        return Err(if needs.is_empty() {
            let said = |(cell, reason): &(Cell, String)| {
                let (path, point) = plan.at(*cell);
                format!("{} {}: {reason}", path.name, point.workload)
            };
            let reasons: Vec<String> = unmeasurable.iter().map(said).collect();
            Fault::environment(format!("no cell can be measured here:\n{}", reasons.join("\n")))
        } else {
            lacking(&needs)
        });
    }
    Ok((only(plan, &cells), unmeasurable))
}

/// Whether a testbed can measure any cell of a plan; changes nothing.
///
/// # Errors
/// The whole testbed lacks something, or no cell can be measured: what is missing, with what to do
/// about it.
pub fn measurable(plan: &Plan, testbed: &mut dyn Testbed) -> Result<(), Fault> {
    supported(plan, testbed).map(drop)
}

/// The cells that are skipped, of those that cannot be measured, and what is lost of the others:
/// the records of an earlier session count. A cell whose rounds had ended before is not missing
/// those that were not to come.
pub(super) fn lost(
    unmeasurable: Vec<(Cell, String)>,
    run: &RunFile,
    done: &BTreeSet<TrialId>,
    searched: &[Searched],
) -> (Vec<Skipped>, Lost) {
    let ended: BTreeMap<CellName, u32> =
        run.stopped.iter().map(|s| (CellName::of_stopped(s), s.rounds)).collect();
    let (mut skipped, mut lost) = (Vec::new(), Lost::default());
    for (cell, reason) in unmeasurable {
        let name = CellName::of(&run.plan, cell);
        let measured = earlier::rounds(done, name.clone());
        if search_driver::is_begun(&run.plan, cell, searched) {
            lost.searches.push((cell, reason));
        } else if measured.is_empty() {
            skipped.push(name.skipped(reason));
        } else {
            let rounds = 1..=ended.get(&name).copied().unwrap_or(run.plan.rounds);
            let missing = rounds.filter(|round| measured.binary_search(round).is_err());
            let why = format!("it cannot be measured any more: {reason}");
            lost.trials.extend(missing.map(|round| (name.clone().trial(round), why.clone())));
            lost.cells.push((cell, reason));
        }
    }
    (skipped, lost)
}

/// What is to be said of paths that the rounds of a budget go on without, in part or whole. No
/// failure says it: a budget promises no number of rounds. A sentence for each such path, with the
/// reason.
pub(super) fn without_them(plan: &Plan, lost: &[(Cell, String)]) -> Vec<String> {
    let mut paths: BTreeMap<usize, (BTreeSet<usize>, &str)> = BTreeMap::new();
    for (cell, reason) in lost.iter().filter(|_| plan.budget_ns.is_some()) {
        let first = || (BTreeSet::new(), reason.as_str());
        paths.entry(cell.path).or_insert_with(first).0.insert(cell.point);
    }
    let references = plan.references();
    let sentence = |(path, (points, reason)): (usize, (BTreeSet<usize>, &str))| {
        let workloads: BTreeSet<&str> =
            points.iter().map(|point| plan.points[*point].workload.as_str()).collect();
        let planned = plan.cells.iter().filter(|cell| cell.path == path).count();
        let (of, there) = if points.len() == planned {
            (String::new(), "")
        } else {
            (format!(" in {}", workloads.into_iter().collect::<Vec<_>>().join(", ")), " there")
        };
        let compared =
            if references.is_reference(path) { ", and compare nothing with it" } else { "" };
        let name = &plan.paths[path].name;
        format!(
            "`{name}` cannot be measured any more{of}, so the rounds of this session are without \
             it{there}{compared}: {reason}"
        )
    };
    paths.into_iter().map(sentence).collect()
}

/// What is to be said of paths that cannot be measured here, in part or whole, although others are
/// compared with them: those have no ratios. A sentence for each such path, with the reason.
pub fn uncompared(plan: &Plan, skipped: &[Skipped]) -> Vec<String> {
    let reasons: BTreeMap<CellName, &str> =
        skipped.iter().map(|one| (CellName::of_skipped(one), one.reason.as_str())).collect();
    let gone = |cell: &Cell| {
        let reason = reasons.get(&CellName::of(plan, *cell))?;
        Some(((cell.path, cell.point), *reason))
    };
    let gone: Gone<'_> = plan.cells.iter().filter_map(gone).collect();
    let references = plan.references();
    let bases = (0..plan.paths.len()).filter(|path| references.is_reference(*path));
    bases.filter_map(|base| without(plan, &references, base, &gone)).collect()
}

/// The cells that are skipped, by path and point, with the reasons.
type Gone<'a> = BTreeMap<(usize, usize), &'a str>;

/// What is to be said of a path that others are compared with; `None`: nothing.
fn without(plan: &Plan, references: &References, base: usize, gone: &Gone<'_>) -> Option<String> {
    let of_base = || gone.iter().filter(|((path, _), _)| *path == base);
    let (_, reason) = of_base().next()?;
    let points: BTreeSet<usize> = of_base().map(|((_, point), _)| *point).collect();
    let planned = plan.cells.iter().filter(|cell| cell.path == base).count();
    let (what, there) = if points.len() == planned {
        ("cannot be measured here".to_owned(), "")
    } else {
        let workloads: BTreeSet<&str> =
            points.iter().map(|point| plan.points[*point].workload.as_str()).collect();
        let workloads: Vec<&str> = workloads.into_iter().collect();
        (format!("could not be measured in {}", workloads.join(", ")), " there")
    };
    let name = &plan.paths[base].name;
    if plan.baseline.as_ref() == Some(name) {
        return Some(format!(
            "the baseline `{name}` {what}, so nothing is compared with it{there}: {reason}"
        ));
    }
    let loses = |path: &usize| {
        let is_left = |cell: &Cell| {
            let Cell { path: of, point } = *cell;
            of == *path && points.contains(&point) && !gone.contains_key(&(of, point))
        };
        references.of(*path) == Some(base)
            && !references.is_twin(*path)
            && plan.cells.iter().any(is_left)
    };
    let others: Vec<String> = (0..plan.paths.len())
        .filter(loses)
        .map(|path| format!("`{}`", plan.paths[path].name))
        .collect();
    let are = if others.len() == 1 { "is" } else { "are" };
    (!others.is_empty()).then(|| {
        let others = others.join(", ");
        format!("`{name}` {what}, so {others} {are} compared with nothing{there}: {reason}")
    })
}

fn lacking(needs: &[Need]) -> Fault {
    let line = |need: &Need| match &need.path {
        Some(path) if need.what == Need::IMPOSSIBLE => {
            format!("path {path} cannot exist: {}; {}", need.why, need.remedy)
        }
        Some(path) => format!("{path}: {need}"),
        None => need.to_string(),
    };
    Fault::environment(needs.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The plan with these of its cells, and only the paths and points that they need.
pub(super) fn only(plan: &Plan, cells: &[Cell]) -> Plan {
    let used = |index: fn(&Cell) -> usize| -> BTreeMap<usize, usize> {
        let mut used: Vec<usize> = cells.iter().map(index).collect();
        used.sort_unstable();
        used.dedup();
        used.into_iter().zip(0..).collect()
    };
    let (paths, points) = (used(|c| c.path), used(|c| c.point));
    Plan {
        paths: paths.keys().map(|i| plan.paths[*i].clone()).collect(),
        points: points.keys().map(|i| plan.points[*i].clone()).collect(),
        cells: cells
            .iter()
            .map(|c| Cell { path: paths[&c.path], point: points[&c.point] })
            .collect(),
        ..plan.clone()
    }
}
