//! `hopbench plan`: what a scenario would measure, how long it takes, what is missing.

mod page;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use hopbench_model::{Fault, Plan, SECOND};
use hopbench_testbed::{Need, Testbed};
use serde_json::json;

use super::Subcommand;
use super::scenario_arguments::ScenarioArguments;
use crate::output::{print, say};
use crate::testbeds::open;

pub(super) struct PlanCommand;

/// What a trial takes besides its load, ns.
const OVERHEAD_NS: u64 = SECOND * 15 / 100;

/// A plan, and what of it cannot be measured here.
pub(super) struct Outlook {
    pub(super) plan: Plan,
    /// What is missing here.
    pub(super) needs: Vec<Need>,
    /// Cells that the testbed cannot measure, by path and workload, with the reason.
    pub(super) unsupported: Vec<(String, String, String)>,
}

impl Subcommand for PlanCommand {
    fn command(&self) -> Command {
        let scenario = Arg::new("scenario")
            .value_name("SCENARIO")
            .required(true)
            .help("A file, or the name of a built-in scenario (`hopbench list scenarios`)");
        let json = Arg::new("json").long("json").action(ArgAction::SetTrue).help("One JSON document instead of text");
        ScenarioArguments::augment_args(Command::new("plan").arg(scenario))
            .arg(json)
            .about("Shows what a scenario would measure, how long it takes and what is missing; starts nothing")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let arguments = ScenarioArguments::from_arg_matches(matches).map_err(Fault::input)?;
        let name = matches.get_one::<String>("scenario").map_or("", String::as_str);
        let (plan, _) = arguments.read(name)?;
        let mut testbed = open(&plan.testbed, None);
        let outlook = Outlook::new(plan, testbed.as_mut());
        if matches.get_flag("json") {
            say(format_args!("{:#}", outlook.json()))?;
        } else {
            print(outlook.page())?;
        }
        Ok(())
    }
}

impl Outlook {
    fn new(plan: Plan, testbed: &mut dyn Testbed) -> Self {
        let needs = testbed.missing(&plan);
        let mut unsupported: Vec<(String, String, String)> = Vec::new();
        for cell in &plan.cells {
            let (path, point) = plan.at(*cell);
            if let Some(reason) = testbed.unsupported(path, point) {
                unsupported.push((path.name.clone(), point.workload.clone(), reason));
            }
        }
        unsupported.dedup();
        Self { plan, needs, unsupported }
    }

    /// Cells times rounds.
    pub(super) fn trials(&self) -> u64 {
        self.plan.cells.len() as u64 * u64::from(self.plan.rounds)
    }

    /// How long all of it takes, ns.
    pub(super) fn estimated_ns(&self) -> u64 {
        self.plan.least_ns().saturating_add(self.trials().saturating_mul(OVERHEAD_NS))
    }

    fn json(&self) -> serde_json::Value {
        let need = |need: &Need| json!({"path": need.path, "what": need.what, "why": need.why, "remedy": need.remedy});
        json!({
            "plan": self.plan,
            "trials": self.trials(),
            "estimated_s": self.estimated_ns() as f64 / SECOND as f64,
            "missing": self.needs.iter().map(need).collect::<Vec<_>>(),
            "unsupported": self.unsupported.iter().map(|(path, workload, reason)| json!({
                "path": path, "workload": workload, "reason": reason,
            })).collect::<Vec<_>>(),
        })
    }
}
