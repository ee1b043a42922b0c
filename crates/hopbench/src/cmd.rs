//! The commands, and what they share.

mod about;
mod arguments;
mod doctor;
mod folders;
mod kube;
mod lab;
mod measure;
mod plan;
mod run;
mod serving;
mod subcommand;

use std::process::ExitCode;

use clap::Command;
use hopbench_load::WORKLOADS;
use hopbench_model::Fault;

use self::about::{completions, habits, list, schema, version};
use self::folders::{compare, import, report};
use self::serving::{agent, policy, relay, serve, telemetry};
use self::subcommand::Subcommand;
use crate::invocation;
use crate::output::{print, usage};

/// Every command that is not a workload, in the order of the help.
const COMMANDS: &[&dyn Subcommand] = &[
    &run::Run,
    &plan::PlanCommand,
    &report::Report,
    &compare::Compare,
    &import::Import,
    &lab::Lab,
    &kube::Kube,
    &doctor::Doctor,
    &list::List,
    &schema::Schema,
    &serve::Serve,
    &agent::Agent,
    &relay::Relay,
    &policy::Policy,
    &telemetry::Telemetry,
    &completions::Completions(command),
];

/// Parses the command line and does what it says.
pub(crate) fn run() -> Result<ExitCode, Fault> {
    let asked = std::env::args_os().nth(1).unwrap_or_default();
    // To clap these are names of commands.
    if asked == "help"
        && std::env::args_os().nth(2).is_some_and(|next| next == "--help" || next == "-h")
    {
        return print(command().render_help()).map(|()| ExitCode::SUCCESS);
    }
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            return Ok(ExitCode::from(usage(&habits::with_tip(error, &asked.to_string_lossy()))));
        }
    };
    let Some((name, matches)) = matches.subcommand() else {
        return Err(Fault::input("a command is needed; see `hopbench --help`"));
    };
    if let Some(workload) = hopbench_load::workload(name) {
        return measure::run(workload, matches).map(|()| ExitCode::SUCCESS);
    }
    match COMMANDS.iter().find(|c| c.command().get_name() == name) {
        Some(command) => command.exit_code(matches),
        None => Err(Fault::input(format!("no command `{name}`"))),
    }
}

/// The whole command line.
pub(crate) fn command() -> Command {
    Command::new("hopbench")
        .bin_name(invocation::words())
        .version(version::SHORT)
        .long_version(version::long())
        .about("Measures what each hop of a network path costs")
        .after_help(
            "Start `hopbench serve` at the other end, then measure with one of the workloads.\n\
             Exit codes: 0 measured, 1 a comparison or limit failed, 2 the input is wrong,\n\
             3 the environment cannot do it, 4 something failed while measuring. It is 4,\n\
             too, if more than half of the exchanges failed, or none ended.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(80)
        .subcommands(WORKLOADS.iter().map(|w| measure::command(*w)))
        .subcommands(COMMANDS.iter().map(|c| c.command()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_sound() {
        super::command().debug_assert();
    }
}
