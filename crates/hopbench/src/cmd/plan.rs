//! `hopbench plan`: what a scenario would measure, how long it takes, what is missing.

mod estimate;
mod outlook;
mod page;
mod queue;
mod searches;
mod testbed;
mod words;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use hopbench_meter::profile::Access;
use hopbench_model::Fault;
use hopbench_scenario::Resolved;

use self::outlook::Outlook;
pub(super) use self::queue::too_short;
use super::arguments::{
    EnvoyArgument, FormatArgument, ProfileArgument, ScenarioArguments, TestbedArguments,
};
use super::subcommand::Subcommand;
use crate::output::{print, say};
use crate::testbeds::to_look_at;

pub(super) struct PlanCommand;

impl Subcommand for PlanCommand {
    fn command(&self) -> Command {
        let scenario = Arg::new("scenario")
            .value_name("SCENARIO")
            .required(true)
            .help("A file, or the name of a built-in scenario (`hopbench list scenarios`)");
        let command = ScenarioArguments::augment_args(Command::new("plan").arg(scenario));
        let command = EnvoyArgument::augment_args(TestbedArguments::augment_args(command));
        FormatArgument::augment_args(ProfileArgument::augment_args(command))
            .about(
                "Shows what a scenario would measure, how long it takes and what is missing; \
                 starts nothing",
            )
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let arguments = ScenarioArguments::from_arg_matches(matches).map_err(Fault::input)?;
        EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?.apply()?;
        let name = matches.get_one::<String>("scenario").map_or("", String::as_str);
        // A seed that a run would choose anew says nothing here.
        let new_seed = rand::random();
        let wanted = TestbedArguments::from_arg_matches(matches).map_err(Fault::input)?;
        let Resolved { plan, mut notes, .. } = arguments.read_with(name, &wanted, new_seed)?;
        let profile = ProfileArgument::from_arg_matches(matches).map_err(Fault::input)?;
        // What the kernel forbids ends a run, and not a plan.
        let profiling = profile.of(&plan, || Ok(Access::Machine))?;
        if let Some(Err(lack)) = profiling.as_ref().map(|_| Access::now()) {
            notes.push(format!("--profile: {lack}"));
        }
        let seed = Some(plan.seed).filter(|seed| *seed != new_seed);
        let mut testbed = to_look_at(&plan.testbed);
        let outlook = Outlook::new(plan, notes, seed, testbed.as_mut(), profiling.as_ref());
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
