//! `hopbench plan`: what a scenario would measure, how long it takes, what is missing.

mod estimate;
mod page;
mod queue;
mod searches;
mod testbed;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use hopbench_model::{Cell, Fault, Path, Plan, SECOND};
use hopbench_scenario::Resolved;
use hopbench_testbed::{Need, Testbed};
use serde_json::json;

use super::Subcommand;
use super::envoy_argument::EnvoyArgument;
use super::format_argument::FormatArgument;
use super::scenario_arguments::ScenarioArguments;
use super::testbed_arguments::TestbedArguments;
use crate::output::{print, say};
use crate::testbeds::open;
use estimate::Estimate;
pub(super) use queue::too_short;

pub(super) struct PlanCommand;

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

impl Subcommand for PlanCommand {
    fn command(&self) -> Command {
        let scenario = Arg::new("scenario")
            .value_name("SCENARIO")
            .required(true)
            .help("A file, or the name of a built-in scenario (`hopbench list scenarios`)");
        let command = ScenarioArguments::augment_args(Command::new("plan").arg(scenario));
        FormatArgument::augment_args(EnvoyArgument::augment_args(TestbedArguments::augment_args(command)))
            .about("Shows what a scenario would measure, how long it takes and what is missing; starts nothing")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let arguments = ScenarioArguments::from_arg_matches(matches).map_err(Fault::input)?;
        EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?.apply()?;
        let name = matches.get_one::<String>("scenario").map_or("", String::as_str);
        // A seed that a run would choose anew says nothing here.
        let new_seed = rand::random();
        let wanted = TestbedArguments::from_arg_matches(matches).map_err(Fault::input)?;
        let Resolved { plan, notes, .. } = arguments.read_with(name, &wanted, new_seed)?;
        let seed = Some(plan.seed).filter(|seed| *seed != new_seed);
        let mut testbed = open(&plan.testbed, None, || false, |_| ());
        let outlook = Outlook::new(plan, notes, seed, testbed.as_mut());
        if FormatArgument::from_arg_matches(matches).map_err(Fault::input)?.is_json() {
            say(format_args!("{:#}", outlook.json()))?;
        } else {
            print(outlook.page())?;
        }
        if outlook.measurable.is_empty() {
            return Err(Fault::environment("no cell can be measured here; the reasons are above"));
        }
        Ok(())
    }
}

impl Outlook {
    fn new(plan: Plan, notes: Vec<String>, seed: Option<u64>, testbed: &mut dyn Testbed) -> Self {
        let needs = testbed.missing(&plan);
        let nodes = testbed.nodes();
        let nothing = needs.iter().any(|need| need.path.is_none());
        let lacking: BTreeSet<&str> = needs.iter().filter_map(|need| need.path.as_deref()).collect();
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
    fn estimate(&self) -> Estimate {
        Estimate::of(&self.plan, &self.measurable)
    }

    /// What variants say that changes nothing on their path: the path, the setting, and why.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = (&str, &'static str, &'static str)> {
        let idle =
            |path| Path::without_effect(path).into_iter().map(|(setting, why)| (path.name.as_str(), setting, why));
        self.plan.paths.iter().flat_map(idle)
    }

    fn json(&self) -> serde_json::Value {
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
