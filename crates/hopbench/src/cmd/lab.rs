//! `hopbench lab`: a lab by hand, to walk around in.

use std::convert::Infallible;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hopbench_lab::by_hand::{self, StandingLab};
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::Fault;

use super::arguments::{EnvoyArgument, ScenarioArguments, TestbedArguments};
use super::subcommand::Subcommand;
use crate::output::{say, tell};

pub(super) struct Lab;

impl Subcommand for Lab {
    fn command(&self) -> Command {
        let name = Arg::new("name")
            .long("name")
            .value_name("NAME")
            .default_value(by_hand::USUAL_NAME)
            .help("What the lab is called");
        let scenario = Arg::new("scenario")
            .value_name("SCENARIO")
            .default_value("quickstart")
            .help("A file, or the name of a built-in scenario (`hopbench list scenarios`)");
        let place = Arg::new("place")
            .value_name("PLACE")
            .required(true)
            .help("A node or a pod, as `lab ls` lists them");
        let command = Arg::new("command")
            .value_name("COMMAND")
            .required(true)
            .action(ArgAction::Append)
            .num_args(1..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .value_parser(value_parser!(OsString))
            .help("The command and its arguments");
        let of_both = |command| {
            let command: Command =
                EnvoyArgument::augment_args(ScenarioArguments::augment_args(command));
            // They are about measuring, which nobody does here.
            ["rounds", "time", "seed"]
                .into_iter()
                .fold(command, |command, name| command.mut_arg(name, |arg| arg.hide(true)))
        };
        let up = of_both(Command::new("up").arg(scenario.clone()).arg(name.clone()));
        let hold = of_both(Command::new("hold").arg(scenario)).hide(true);
        Command::new("lab")
            .about("Builds the network of a scenario, to walk around in")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(up.about("Builds a lab in the background").long_about(None))
            .subcommand(
                Command::new("exec")
                    .args([name.clone(), place, command])
                    .about("Runs a command in a place: `hopbench lab exec b -- ss -tn`"),
            )
            .subcommand(Command::new("ls").about("Lists the labs that stand, and their places"))
            .subcommand(Command::new("down").arg(name).about("Takes a lab down"))
            .subcommand(hold.about("Holds a lab; `lab up` starts it").long_about(None))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        let Some((action, matches)) = matches.subcommand() else {
            return Err(Fault::input(
                "expected one of up, exec, ls, down; see `hopbench lab --help`",
            ));
        };
        match action {
            "up" => up(matches),
            "exec" => return exec(matches),
            "ls" => list(),
            "down" => down(text(matches, "name")),
            _ => return hold(matches),
        }
        .map(|()| ExitCode::SUCCESS)
    }
}

fn text<'a>(matches: &'a ArgMatches, argument: &str) -> &'a str {
    matches.get_one::<String>(argument).map_or("", String::as_str)
}

fn up(matches: &ArgMatches) -> Result<(), Fault> {
    // What is wrong with the scenario is said here; the holder reads it once more.
    let arguments = ScenarioArguments::from_arg_matches(matches).map_err(Fault::input)?;
    let envoy = EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?;
    envoy.apply()?;
    arguments.read(text(matches, "scenario"), &TestbedArguments::lab())?;
    let mut holder = std::process::Command::new("/proc/self/exe");
    holder
        .args(["lab", "hold", text(matches, "scenario")])
        .args(arguments.selection())
        .args(envoy.for_another());
    show(&by_hand::up(text(matches, "name"), holder)?)?;
    Ok(())
}

fn down(name: &str) -> Result<(), Fault> {
    by_hand::down(name)?;
    tell(format_args!("lab `{name}` is down"));
    Ok(())
}

fn list() -> Result<(), Fault> {
    let (labs, unreadable) = by_hand::list()?;
    if labs.is_empty() && unreadable.is_empty() {
        // For people: programs read an empty list.
        tell("no lab stands; `hopbench lab up` makes one");
    }
    labs.iter().try_for_each(show)?;
    unreadable.into_iter().next().map_or(Ok(()), Err)
}

fn hold(matches: &ArgMatches) -> Result<ExitCode, Fault> {
    let arguments = ScenarioArguments::from_arg_matches(matches).map_err(Fault::input)?;
    EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?.apply()?;
    let resolved = arguments.read(text(matches, "scenario"), &TestbedArguments::lab())?;
    if !sandbox::is_inside() {
        by_hand::detach()?;
    }
    match sandbox::enter()? {
        Entered::Outside(code) => Ok(code),
        Entered::Inside => {
            by_hand::hold(&resolved.plan, std::io::stdout(), std::io::stdin().lock())
                .map(|never: Infallible| match never {})
        }
    }
}

fn exec(matches: &ArgMatches) -> Result<ExitCode, Fault> {
    let lab = by_hand::find(text(matches, "name"))?;
    let command: Vec<OsString> = matches.get_many("command").unwrap_or_default().cloned().collect();
    let status = by_hand::run_in(&lab, text(matches, "place"), &command)?;
    // Ended by a signal, it has no code; shells say 128 and the signal then.
    let signal =
        std::os::unix::process::ExitStatusExt::signal(&status).map_or(1, |signal| 128 + signal);
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(signal)).unwrap_or(u8::MAX)))
}

fn show(lab: &StandingLab) -> Result<(), Fault> {
    say(format_args!("{} (process {})", lab.name, lab.holder.pid))?;
    let width = lab.places.iter().map(|place| place.name.len()).max().unwrap_or(0);
    for place in &lab.places {
        say(format_args!("  {:width$}  {}", place.name, place.address))?;
    }
    Ok(())
}
