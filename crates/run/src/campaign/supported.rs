//! What of a plan a testbed can measure.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Cell, Fault, Plan, RunFile, Skipped, point_label};
use hopbench_testbed::{Need, Testbed};

use super::searches;
use crate::results::{Searched, TrialId};

/// The plan without what cannot be measured, and what that is. The order of what stays is the order it had.
///
/// # Errors
/// The whole testbed lacks something, or nothing is left to be measured: what is missing, with what to do about it.
pub(super) fn supported(plan: &Plan, testbed: &mut dyn Testbed) -> Result<(Plan, Vec<Skipped>), Fault> {
    let needs = testbed.missing(plan);
    if needs.iter().any(|need| need.path.is_none()) {
        return Err(lacking(&needs));
    }
    let mut skipped = Vec::new();
    let mut cells = Vec::new();
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        let need = needs.iter().find(|need| need.path.as_deref() == Some(&path.name));
        match need.map(sentence).or_else(|| testbed.unsupported(path, point)) {
            None => cells.push(*cell),
            Some(reason) => skipped.push(Skipped {
                path: path.name.clone(),
                workload: point.workload.clone(),
                point: point_label(&point.point),
                reason,
            }),
        }
    }
    if cells.is_empty() {
        return Err(if needs.is_empty() {
            let reasons: Vec<_> = skipped.iter().map(|s| format!("{} {}: {}", s.path, s.workload, s.reason)).collect();
            Fault::environment(format!("no cell can be measured here:\n{}", reasons.join("\n")))
        } else {
            lacking(&needs)
        });
    }
    Ok((only(plan, &cells), skipped))
}

/// Whether a testbed can measure any cell of a plan; changes nothing.
///
/// # Errors
/// The whole testbed lacks something, or no cell can be measured: what is missing, with what to do about it.
pub fn measurable(plan: &Plan, testbed: &mut dyn Testbed) -> Result<(), Fault> {
    supported(plan, testbed).map(drop)
}

/// Takes the cells out of `skipped` that an earlier session measured, in part or whole: their records count. What of them
/// is missing, with the reason: trials that have failed now. A cell whose rounds had ended before is not missing those that
/// were not to come, and a search that came to an end is whole.
pub(super) fn lost(
    skipped: &mut Vec<Skipped>,
    run: &RunFile,
    done: &BTreeSet<TrialId>,
    searched: &[Searched],
) -> Vec<(TrialId, String)> {
    let measured: BTreeSet<_> = done.iter().map(|trial| (&trial.path, &trial.workload, &trial.point)).collect();
    let mut out = Vec::new();
    skipped.retain(|cell| {
        let Skipped { path, workload, point, reason } = cell;
        if let Some((last, is_whole)) = begun(cell, &run.plan, searched) {
            let (path, workload, point) = (path.clone(), workload.clone(), point.clone());
            let next = TrialId { path, workload, point, round: last + 1 };
            out.extend((!is_whole).then(|| (next, format!("the search is not finished: {reason}"))));
            return false;
        }
        if !measured.contains(&(path, workload, point)) {
            return true;
        }
        let ended = run.stopped.iter().find(|s| (&s.path, &s.workload, &s.point) == (path, workload, point));
        let rounds = ended.map_or(run.plan.rounds, |ended| ended.rounds);
        let trials = (1..=rounds).map(|round| {
            let (path, workload, point) = (path.clone(), workload.clone(), point.clone());
            TrialId { path, workload, point, round }
        });
        let missing = trials.filter(|trial| !done.contains(trial));
        out.extend(missing.map(|trial| (trial, format!("it cannot be measured any more: {reason}"))));
        false
    });
    out
}

/// What was measured of a skipped cell that is searched, as [`searches::begun`] says.
fn begun(skipped: &Skipped, plan: &Plan, searched: &[Searched]) -> Option<(u32, bool)> {
    let is_it = |cell: &&Cell| {
        let (path, point) = plan.at(**cell);
        (&path.name, &point.workload, &point_label(&point.point)) == (&skipped.path, &skipped.workload, &skipped.point)
    };
    searches::begun(plan, *plan.cells.iter().find(is_it)?, searched)
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
        format!("cells of {} are not compared with it", workloads.into_iter().collect::<Vec<_>>().join(", "))
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
        cells: cells.iter().map(|c| Cell { path: paths[&c.path], point: points[&c.point] }).collect(),
        ..plan.clone()
    }
}
