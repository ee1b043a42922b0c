//! A plan, and what of it can be measured here.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Cell, Path, Plan, SECOND};
use hopbench_testbed::{Need, Testbed};
use serde_json::json;

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
    /// What is missing here.
    pub(super) needs: Vec<Need>,
    /// The machines that its nodes would be, by their names, as far as that is known.
    pub(super) nodes: BTreeMap<String, String>,
    /// Cells that the testbed cannot measure, by path and workload, with the reason.
    pub(super) unsupported: Vec<(String, String, String)>,
}

impl Outlook {
    pub(super) fn new(
        plan: Plan,
        notes: Vec<String>,
        seed: Option<u64>,
        testbed: &mut dyn Testbed,
    ) -> Self {
        let needs = testbed.missing(&plan);
        let nodes = testbed.nodes();
        let nothing = needs.iter().any(|need| need.path.is_none());
        let lacking: BTreeSet<&str> =
            needs.iter().filter_map(|need| need.path.as_deref()).collect();
        let mut unsupported: Vec<(String, String, String)> = Vec::new();
        let mut measurable = Vec::new();
        for cell in &plan.cells {
            let (path, point) = plan.at(*cell);
            if let Some(reason) = testbed.unsupported(path, point) {
                unsupported.push((path.name.clone(), point.workload.clone(), reason));
            } else if !nothing && !lacking.contains(path.name.as_str()) {
                measurable.push(*cell);
            }
        }
        unsupported.dedup();
        Self { plan, notes, seed, measurable, needs, nodes, unsupported }
    }

    /// How many trials the cells take that can be measured, and how long.
    pub(super) fn estimate(&self) -> Estimate {
        Estimate::of(&self.plan, &self.measurable)
    }

    /// What variants say that changes nothing on their path: the path, the setting, and why.
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

    pub(super) fn json(&self) -> serde_json::Value {
        let need = |need: &Need| json!({"path": need.path, "what": need.what, "why": need.why, "remedy": need.remedy});
        let Estimate { cells, searches, trials, search_trials, time_ns, .. } = self.estimate();
        let seconds = |ns: u64| ns as f64 / SECOND as f64;
        json!({
            "plan": self.plan,
            "notes": self.notes,
            "looked_at_instead": hopbench_run::looked_at_instead(&self.plan),
            "too_short": too_short(&self.plan),
            "seed": self.seed,
            "nodes": self.nodes,
            "cells": cells,
            "searches": searches,
            "trials": trials.most + search_trials.most,
            "least_trials": trials.least + search_trials.least,
            "estimated_s": seconds(time_ns.most),
            "least_estimated_s": seconds(time_ns.least),
            "missing": self.needs.iter().map(need).collect::<Vec<_>>(),
            "unsupported": self.unsupported.iter().map(|(path, workload, reason)| json!({
                "path": path, "workload": workload, "reason": reason,
            })).collect::<Vec<_>>(),
            "without_effect": self.without_effect().map(|(path, setting, why)| json!({
                "path": path, "setting": setting, "why": why,
            })).collect::<Vec<_>>(),
        })
    }
}
