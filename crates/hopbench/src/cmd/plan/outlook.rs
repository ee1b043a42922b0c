//! A plan, and what of it can be measured here.

use std::collections::BTreeMap;

use hopbench_model::{Cell, Path, Plan, SECOND, Skipped, point_label};
use hopbench_run::{Profiling, uncompared};
use hopbench_testbed::{Need, Testbed};
use serde_json::{Value, json};

use super::estimate::Estimate;
use super::queue::too_short;

/// A plan, and what of it cannot be measured here.
pub(super) struct Outlook {
    pub(super) plan: Plan,
    /// What the scenario says that does not hold on its testbed.
    pub(super) notes: Vec<String>,
    /// The seed, where the scenario or the command line says one.
    pub(super) seed: Option<u64>,
    /// Cells that can be measured here.
    pub(super) measurable: Vec<Cell>,
    /// Those that could be if nothing were missing; the same where nothing is.
    pub(super) possible: Vec<Cell>,
    /// Those of the possible ones that are profiled when all is measured.
    profiled: Vec<Cell>,
    /// What is missing here.
    pub(super) needs: Vec<Need>,
    /// The machines that its nodes would be, by their names, as far as that is known.
    pub(super) nodes: BTreeMap<String, String>,
    /// Cells that the testbed cannot measure, by path and workload, with the reason.
    pub(super) unsupported: Vec<(String, String, String)>,
    /// Paths that are compared with nothing here, a sentence each.
    pub(super) uncompared: Vec<String>,
}

impl Outlook {
    pub(super) fn new(
        plan: Plan,
        mut notes: Vec<String>,
        seed: Option<u64>,
        testbed: &mut dyn Testbed,
        profiling: Option<&Profiling>,
    ) -> Self {
        let needs = testbed.missing(&plan);
        let nodes = testbed.nodes();
        let nothing = needs.iter().any(|need| need.path.is_none());
        let mut unsupported: Vec<(String, String, String)> = Vec::new();
        let (mut measurable, mut possible, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        for cell in &plan.cells {
            let (path, point) = plan.at(*cell);
            let mut of_path =
                needs.iter().filter(|need| need.path.as_deref() == Some(&path.name)).peekable();
            let need = of_path.peek().copied();
            let reason = testbed.unsupported(path, point);
            if let Some(reason) = need.map(Need::to_string).or_else(|| reason.clone()) {
                skipped.push(Skipped {
                    path: path.name.clone(),
                    workload: point.workload.clone(),
                    point: point_label(&point.point),
                    reason,
                });
            } else if !nothing {
                measurable.push(*cell);
            }
            match reason {
                Some(reason) => {
                    unsupported.push((path.name.clone(), point.workload.clone(), reason));
                }
                None if of_path.any(|need| need.what == Need::IMPOSSIBLE) => {}
                None => possible.push(*cell),
            }
        }
        unsupported.dedup();
        let uncompared = uncompared(&plan, &skipped);
        notes.extend(profiling.and_then(Profiling::bounded));
        let mut profiled = profiling.map(|all| all.cells(&plan)).unwrap_or_default();
        profiled.retain(|cell| possible.contains(cell));
        Self {
            plan,
            notes,
            seed,
            measurable,
            possible,
            profiled,
            needs,
            nodes,
            unsupported,
            uncompared,
        }
    }

    /// How many trials the cells take that can be measured, and how long.
    pub(super) fn estimate(&self) -> Estimate {
        self.estimate_of(&self.measurable)
    }

    /// The same if nothing were missing.
    pub(super) fn estimate_if_nothing_missing(&self) -> Estimate {
        self.estimate_of(&self.possible)
    }

    fn estimate_of(&self, cells: &[Cell]) -> Estimate {
        Estimate::of(&self.plan, cells).with_profiles(&self.plan, &self.profiled_of(cells))
    }

    /// Those of these cells that are profiled.
    pub(super) fn profiled_of(&self, cells: &[Cell]) -> Vec<Cell> {
        self.profiled.iter().filter(|cell| cells.contains(cell)).copied().collect()
    }

    /// Settings of variants that change nothing on their path: the path, the setting, and why.
    pub(super) fn without_effect(
        &self,
    ) -> impl Iterator<Item = (&str, &'static str, &'static str)> {
        let idle = |path| {
            Path::without_effect(path)
                .into_iter()
                .map(|(setting, why)| (path.name.as_str(), setting, why))
        };
        self.plan.paths.iter().flat_map(idle)
    }

    pub(super) fn json(&self) -> Value {
        let need = |need: &Need| {
            let Need { path, what, why, remedy } = need;
            json!({"path": path, "what": what, "why": why, "remedy": remedy})
        };
        let here = self.estimate();
        let profiled = |cell: &Cell| {
            let (path, point) = self.plan.at(*cell);
            json!({
                "path": path.name,
                "workload": point.workload,
                "point": point_label(&point.point),
            })
        };
        let mut out = json!({
            "plan": self.plan,
            "notes": self.notes,
            "looked_at_instead": hopbench_run::looked_at_instead(&self.plan),
            "too_short": too_short(&self.plan),
            "seed": self.seed,
            "nodes": self.nodes,
            "profiles": self.profiled_of(&self.measurable).iter().map(profiled).collect::<Vec<_>>(),
            "profiles_s": seconds(here.profile_ns),
            "if_nothing_missing": extent(&self.estimate_if_nothing_missing()),
            "missing": self.needs.iter().map(need).collect::<Vec<_>>(),
            "unsupported": self.unsupported.iter().map(|(path, workload, reason)| json!({
                "path": path, "workload": workload, "reason": reason,
            })).collect::<Vec<_>>(),
            "uncompared": self.uncompared,
            "without_effect": self.without_effect().map(|(path, setting, why)| json!({
                "path": path, "setting": setting, "why": why,
            })).collect::<Vec<_>>(),
        });
        if let (Value::Object(all), Value::Object(here)) = (&mut out, extent(&here)) {
            all.extend(here);
        }
        out
    }
}

/// How much is measured, and how long it takes.
fn extent(estimate: &Estimate) -> Value {
    let Estimate { cells, searches, rounds, trials, search_trials, time_ns, .. } = *estimate;
    json!({
        "cells": cells,
        "searches": searches,
        "rounds": rounds.most,
        "least_rounds": rounds.least,
        "trials": trials.most + search_trials.most,
        "least_trials": trials.least + search_trials.least,
        "estimated_s": seconds(time_ns.most),
        "least_estimated_s": seconds(time_ns.least),
    })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND as f64
}
