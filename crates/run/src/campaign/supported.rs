//! The part of a plan that a testbed can measure.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Cell, Fault, Plan, RunFile, Skipped};
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
        match need.map(sentence).or_else(|| testbed.unsupported(path, point)) {
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
        }
    }
    (skipped, lost)
}

/// What is to be said when the baseline is among what was skipped: without it there are no ratios.
pub(super) fn without_baseline(plan: &Plan, skipped: &[Skipped]) -> Option<String> {
    let baseline = plan.baseline.as_ref()?;
    let of_it = || skipped.iter().filter(|cell| cell.path == *baseline);
    let reason = &of_it().next()?.reason;
    let planned = plan.cells.iter().filter(|cell| plan.at(**cell).0.name == *baseline).count();
    let what = if of_it().count() == planned {
        "nothing is compared with it".to_owned()
    } else {
        let workloads: BTreeSet<&str> = of_it().map(|cell| cell.workload.as_str()).collect();
        format!(
            "cells of {} are not compared with it",
            workloads.into_iter().collect::<Vec<_>>().join(", ")
        )
    };
    Some(format!("the baseline {baseline} was skipped ({reason}): {what}"))
}

fn sentence(need: &Need) -> String {
    // What no installation brings is not missing.
    let is_missing = if need.what == Need::IMPOSSIBLE { "" } else { " is missing" };
    format!("{}{is_missing}: {}; {}", need.what, need.why, need.remedy)
}

fn lacking(needs: &[Need]) -> Fault {
    let line = |need: &Need| match &need.path {
        Some(path) if need.what == Need::IMPOSSIBLE => {
            format!("path {path} cannot exist: {}; {}", need.why, need.remedy)
        }
        Some(path) => format!("{path}: {}", sentence(need)),
        None => sentence(need),
    };
    Fault::environment(needs.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// The plan with these of its cells, and only the paths and points that they need.
fn only(plan: &Plan, cells: &[Cell]) -> Plan {
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
