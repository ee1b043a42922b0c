//! `--only`: part of a plan.

use std::collections::BTreeSet;

use hopbench_model::units::{Bytes, Span};
use hopbench_model::{Cell, Plan};
use serde_json::Value;
use wildmatch::WildMatch;

use super::twin;
use crate::document::node::{At, quoted};
use crate::document::problem::{Problems, shortened};

const FLAG: &str = "--only";

/// `path=overlay*`: a key and a pattern.
struct Term<'f> {
    key: &'f str,
    pattern: &'f str,
    matcher: WildMatch,
}

/// The cells that at least one of the filters selects, and of the paths and points those that they
/// need. The twin goes with what it is compared with: no filter names it.
pub(crate) fn keep(plan: Plan, filters: &[String], problems: &mut Problems) -> Option<Plan> {
    if filters.is_empty() {
        return Some(plan);
    }
    let mut kept = vec![false; plan.cells.len()];
    let twin = twin::index(&plan);
    for filter in filters {
        let Some(terms) = terms(filter, &plan, problems) else {
            continue;
        };
        let mut any = false;
        for (cell, kept) in plan.cells.iter().zip(&mut kept) {
            if twin != Some(cell.path) && terms.iter().all(|term| term.matches(&plan, *cell)) {
                (*kept, any) = (true, true);
            }
        }
        if !any {
            problems.add(
                At::default(),
                FLAG,
                format!("{}, which selects no cell", quoted(filter)),
                what_there_is(&plan),
            );
        }
    }
    twin::follow(&plan, &mut kept);
    Some(reduced(plan, &kept))
}

/// What is to be said if the filters left this plan without the scenario's baseline. Subjects need
/// none.
pub(crate) fn without(baseline: Option<&str>, plan: &Plan) -> Option<String> {
    let name = baseline.filter(|_| plan.baseline.is_none() && plan.subjects.is_empty())?;
    Some(format!(
        "baseline {name}: {FLAG} does not select it, so nothing is compared; add {FLAG} path={name}"
    ))
}

/// The same of a plan without filters: every workload that the baseline could have is searched, and
/// not there.
pub(crate) fn unsearched(baseline: Option<&str>, plan: &Plan) -> Option<String> {
    let name = baseline.filter(|_| plan.baseline.is_none() && plan.subjects.is_empty())?;
    Some(format!("baseline {name}: nothing is searched on it, so nothing is compared"))
}

/// The parts of a filter, all of which must hold.
fn terms<'f>(filter: &'f str, plan: &Plan, problems: &mut Problems) -> Option<Vec<Term<'f>>> {
    let keys = keys(plan);
    let mut out = Some(Vec::new());
    for part in filter.split(',') {
        let Some((key, pattern)) = part.split_once('=') else {
            problems.add(
                At::default(),
                FLAG,
                quoted(part),
                "KEY=PATTERN, like path=overlay* or workload=rr,size=64",
            );
            out = None;
            continue;
        };
        let (key, pattern) = (key.trim(), pattern.trim());
        if !keys.contains(key) {
            problems.unknown(At::default(), FLAG, key, &keys.iter().collect::<Vec<_>>());
            out = None;
        }
        if let Some(out) = &mut out {
            out.push(Term { key, pattern, matcher: WildMatch::new(pattern) });
        }
    }
    out
}

/// The names that filters can have.
fn keys(plan: &Plan) -> BTreeSet<&str> {
    let swept = plan.points.iter().flat_map(|point| point.point.keys().map(String::as_str));
    ["path", "workload"].into_iter().chain(swept).collect()
}

impl Term<'_> {
    fn matches(&self, plan: &Plan, cell: Cell) -> bool {
        let (path, point) = plan.at(cell);
        match self.key {
            "path" => self.matcher.matches(&path.name),
            "workload" => {
                let of = point.peer.as_ref().map_or(&point.job.workload, |peer| &peer.of);
                self.matcher.matches(&point.workload) || self.matcher.matches(of)
            }
            key => point.point.get(key).is_some_and(|value| self.is(&text(value))),
        }
    }

    /// The same text, or the same quantity in other words: 64 is 64B.
    fn is(&self, value: &str) -> bool {
        let same_size =
            || Some(value.parse::<Bytes>().ok()? == self.pattern.parse::<Bytes>().ok()?);
        let same_time = || Some(value.parse::<Span>().ok()? == self.pattern.parse::<Span>().ok()?);
        self.matcher.matches(value) || same_size().unwrap_or(false) || same_time().unwrap_or(false)
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Every key with its values.
fn what_there_is(plan: &Plan) -> String {
    let mut out = Vec::new();
    for key in keys(plan) {
        let mut values: Vec<String> = Vec::new();
        let mut add = |value: String| {
            if !values.contains(&value) && values.len() <= 100 {
                values.push(value);
            }
        };
        match key {
            "path" => {
                let named = plan.paths.iter().filter(|path| plan.twin.as_ref() != Some(&path.name));
                named.for_each(|path| add(path.name.clone()));
            }
            "workload" => plan.points.iter().for_each(|point| add(point.workload.clone())),
            key => plan
                .points
                .iter()
                .filter_map(|point| point.point.get(key))
                .for_each(|value| add(text(value))),
        }
        out.push(format!("{key} of {}", shortened(&values)));
    }
    out.join("; ")
}

/// The plan with only these cells.
pub(crate) fn reduced(plan: Plan, kept: &[bool]) -> Plan {
    let cells: Vec<Cell> =
        plan.cells.iter().zip(kept).filter(|(_, kept)| **kept).map(|(cell, _)| *cell).collect();
    let paths: BTreeSet<usize> = cells.iter().map(|cell| cell.path).collect();
    let points: BTreeSet<usize> = cells.iter().map(|cell| cell.point).collect();
    let place = |all: &BTreeSet<usize>, length: usize| {
        let mut at = vec![0; length];
        for (new, old) in all.iter().enumerate() {
            at[*old] = new;
        }
        at
    };
    let (new_path, new_point) =
        (place(&paths, plan.paths.len()), place(&points, plan.points.len()));
    let cells = cells
        .iter()
        .map(|cell| Cell { path: new_path[cell.path], point: new_point[cell.point] })
        .collect();
    let paths: Vec<_> = paths.into_iter().map(|index| plan.paths[index].clone()).collect();
    let points = points.into_iter().map(|index| plan.points[index].clone()).collect();
    let there = |name: &String| paths.iter().any(|path| path.name == *name);
    let (baseline, twin) = (plan.baseline.filter(there), plan.twin.filter(there));
    Plan { paths, points, cells, baseline, twin, ..plan }
}
