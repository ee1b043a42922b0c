//! `hopbench doctor`: what this machine can do, why not, and what to do about it.

use std::process::ExitCode;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width};
use hopbench_lab::doctor::{Line, forbidden, inside, outside};
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::Fault;

use super::Subcommand;
use super::envoy_argument::EnvoyArgument;
use crate::output::say;

/// The command.
pub(super) struct Doctor;

impl Subcommand for Doctor {
    fn command(&self) -> Command {
        EnvoyArgument::augment_args(Command::new("doctor"))
            .about("What this machine can do, why not, and what to do about it")
            .long_about(None)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        EnvoyArgument::from_arg_matches(matches).map_err(Fault::input)?.apply()?;
        // The namespaces are entered by starting this program again, which then does the first half only.
        match sandbox::enter() {
            Ok(Entered::Outside(code)) => {
                say(table(&outside()))?;
                Ok(code)
            }
            Ok(Entered::Inside) => {
                say(table(&inside()))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(fault) => {
                say(table(&forbidden(&fault)))?;
                say(table(&outside()))?;
                Err(Fault::environment("no lab can be built here; see `namespaces` above"))
            }
        }
    }
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
    // Both halves have the same columns.
    table.set_constraints([ColumnConstraint::Absolute(Width::Fixed(14)), ColumnConstraint::Absolute(Width::Fixed(9))]);
    for (name, needed_for, finding) in lines {
        let mut text = finding.found.clone();
        if !finding.remedy.is_empty() {
            text = format!("{text}\n-> {}", finding.remedy);
        }
        table.add_row([*name, finding.state.name(), &format!("{text}\n(for {needed_for})")]);
    }
    table.trim_fmt()
}
