//! The runs of a side: whether they are runs of the same thing, each of them once.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::Fault;
use hopbench_model::number::counted;
use serde::Serialize;

use super::difference::{self, Difference};
use super::values::Values;
use crate::text::cell_name::key;
use crate::text::listing::listing;

/// The names of the sides.
const BASELINE: &str = "baseline";
const CANDIDATE: &str = "candidate";

/// More differences than this are counted in a message, not named.
const MOST_NAMED: usize = 5;

/// Something that is not the same in two runs of one side, and can change figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unlike {
    /// `baseline` or `candidate`.
    pub side: &'static str,
    /// The folder of the run that differs from the side's first one.
    pub folder: String,
    /// `environment`, `testbed` or `plan`.
    pub of: &'static str,
    /// Names of facts that have the same two values.
    pub names: Vec<String>,
    /// The value in the side's first run.
    pub first: String,
    /// The value in this one.
    pub here: String,
}

/// Refuses a run that stands there several times: its rounds would count as often, and intervals
/// come out too narrow. One that is compared with itself and nothing else harms nobody.
pub(crate) fn once(a: &[Values], b: &[Values]) -> Result<(), Fault> {
    if a.len() == 1 && b.len() == 1 {
        return Ok(());
    }
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, values) in
        a.iter().map(|values| (BASELINE, values)).chain(b.iter().map(|values| (CANDIDATE, values)))
    {
        places.entry(&values.run.run_id).or_default().push(format!("{} as {name}", values.label));
    }
    let Some((id, found)) = places.into_iter().find(|(_, found)| found.len() > 1) else {
        return Ok(());
    };
    Err(Fault::input(format!(
        "found run {id} {} times ({}), expected each run once. Its rounds would count as often, \
         and say more than was measured. Leave out all but one of these folders, or measure the \
         scenario again and give that run's folder",
        found.len(),
        found.join(", "),
    )))
}

/// In what the runs of each side differ: where they were measured, which adds to what differs from
/// run to run. A run whose plan differs from that of its side's first run is refused.
pub(crate) fn unlike(a: &[Values], b: &[Values]) -> Result<Vec<Unlike>, Fault> {
    let mut out = Vec::new();
    for (side, flag, runs) in [(BASELINE, "--more-a", a), (CANDIDATE, "--more-b", b)] {
        let Some((first, others)) = runs.split_first() else { continue };
        for other in others {
            let refused = |why: String| {
                Fault::input(format!(
                    "{flag}: found {}, which is no further run of the {side} {}: {why}; expected \
                     results of the same scenario. Compare what was changed as A and B, or leave \
                     the folder out",
                    other.label, first.label,
                ))
            };
            let (ones, here) = (cells(first), cells(other));
            let (one, two) = (&first.run.plan.name, &other.run.plan.name);
            if ones.is_disjoint(&here) {
                return Err(refused(format!("no cell of `{two}` is one of `{one}`")));
            }
            let telling = difference::between(&first.run, &other.run)
                .into_iter()
                .filter(|found| found.matters);
            let (plans, facts): (Vec<_>, Vec<_>) = telling.partition(|found| found.of == "plan");
            if !plans.is_empty() {
                let scenario = if one == two {
                    String::new()
                } else {
                    format!("scenario `{two}` and not `{one}`; ")
                };
                return Err(refused(format!("{scenario}{}", named(&plans))));
            }
            let add = |of, names, first, here| Unlike {
                side,
                folder: other.label.clone(),
                of,
                names,
                first,
                here,
            };
            if one != two {
                out.push(add("plan", vec!["name".to_owned()], one.clone(), two.clone()));
            }
            if ones != here {
                let common = counted(ones.intersection(&here).count() as u64, "cell", "cells");
                let has = |cells: &BTreeSet<_>| format!("{} with {common} in common", cells.len());
                out.push(add("plan", vec!["cells".to_owned()], has(&ones), has(&here)));
            }
            out.extend(
                facts
                    .into_iter()
                    .map(|fact| add(fact.of, fact.names, fact.baseline, fact.candidate)),
            );
        }
    }
    Ok(out)
}

/// The cells of a run's plan: path, workload and point.
fn cells(values: &Values) -> BTreeSet<(&str, &str, String)> {
    let plan = &values.run.plan;
    let at = plan.cells.iter().map(|cell| plan.at(*cell));
    at.map(|(path, point)| (path.name.as_str(), point.workload.as_str(), key(&point.point)))
        .collect()
}

/// The first few differences, and how many more there are.
fn named(all: &[Difference]) -> String {
    let mut texts: Vec<_> = all.iter().take(MOST_NAMED).map(Difference::text).collect();
    let more = all.len().saturating_sub(MOST_NAMED);
    texts.extend((more > 0).then(|| format!("and {more} more")));
    texts.join("; ")
}

impl Unlike {
    /// The difference in words: `baseline results/3: environment: kernel: 6.1 in the first run of
    /// the side, 6.2 here`.
    pub fn text(&self) -> String {
        let Self { side, folder, of, names, first, here } = self;
        format!(
            "{side} {folder}: {of}: {}: {first} in the first run of the side, {here} here",
            listing(names)
        )
    }
}
