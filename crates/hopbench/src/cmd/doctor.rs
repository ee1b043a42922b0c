//! `hopbench doctor`: what this machine or a cluster can do, why not, and what to do about it; with
//! `--noise` how much it differs from itself.

mod noise;

use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width};
use hopbench_kube::Access;
use hopbench_kube::doctor::{examine, unreachable};
use hopbench_lab::doctor::{forbidden, inside, outside};
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::{ClusterSpec, Fault, TestbedSpec};

use self::noise::NoiseArguments;
use super::arguments::{EnvoyArgument, TestbedArguments};
use super::subcommand::Subcommand;
use crate::output::say;

/// The command.
pub(super) struct Doctor;

impl Subcommand for Doctor {
    fn command(&self) -> Command {
        NoiseArguments::of_noise(EnvoyArgument::augment_args(TestbedArguments::alone(
            Command::new("doctor"),
        )))
        .about("What this machine or a cluster can do, why not, and what to do about it")
        .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        let testbed = TestbedArguments::from_arg_matches(matches).map_err(Fault::input)?;
        EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?.apply()?;
        let noise = NoiseArguments::from_arg_matches(matches).map_err(Fault::input)?;
        match testbed.spec()? {
            TestbedSpec::Lab(_) | TestbedSpec::Kubernetes(_) if noise.wanted() => {
                noise.run(&testbed)
            }
            TestbedSpec::Lab(_) => lab(),
            TestbedSpec::Kubernetes(spec) => cluster(&spec).map(|()| ExitCode::SUCCESS),
            TestbedSpec::Hosts(_) => {
                let known =
                    "lab or kubernetes; what hosts can do `hopbench plan` asks their agents";
                Err(Fault::input(format!("--testbed: found hosts, expected {known}")))
            }
        }
    }
}

fn lab() -> Result<ExitCode, Fault> {
    // The namespaces are entered by starting this program again, which then does the first half
    // only.
    match sandbox::enter() {
        Ok(Entered::Outside(code)) => {
            say(of_lab(&outside()))?;
            Ok(code)
        }
        Ok(Entered::Inside) => {
            say(of_lab(&inside()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            say(of_lab(&forbidden(&fault)))?;
            say(of_lab(&outside()))?;
            Err(Fault::environment("no lab can be built here; see `namespaces` above"))
        }
    }
}

fn cluster(spec: &ClusterSpec) -> Result<(), Fault> {
    let access = Access::of(spec);
    let lines = access.as_ref().map_or_else(unreachable, |access| examine(access, spec));
    let rows = lines.iter().map(|(name, needed_for, finding)| Row {
        name,
        needed_for,
        state: finding.state.name(),
        found: &finding.found,
        remedy: &finding.remedy,
    });
    say(table(rows))?;
    // Nothing but that there is none.
    if lines.len() == 1 {
        return Err(Fault::environment("no cluster can be reached; see above"));
    }
    Ok(())
}

/// A line of the table.
struct Row<'a> {
    name: &'a str,
    needed_for: &'a str,
    state: &'a str,
    found: &'a str,
    remedy: &'a str,
}

fn of_lab(lines: &[hopbench_lab::doctor::Line]) -> String {
    table(lines.iter().map(|(name, needed_for, finding)| Row {
        name,
        needed_for,
        state: finding.state.name(),
        found: &finding.found,
        remedy: &finding.remedy,
    }))
}

fn table<'a>(rows: impl Iterator<Item = Row<'a>>) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
    // All tables have the same columns.
    table.set_constraints([
        ColumnConstraint::Absolute(Width::Fixed(14)),
        ColumnConstraint::Absolute(Width::Fixed(9)),
    ]);
    for Row { name, needed_for, state, found, remedy } in rows {
        let mut text = found.to_owned();
        if !remedy.is_empty() {
            text = format!("{text}\n-> {remedy}");
        }
        table.add_row([name, state, &format!("{text}\n(for {needed_for})")]);
    }
    table.trim_fmt()
}
