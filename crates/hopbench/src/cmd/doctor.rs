//! `hopbench doctor`: what this machine can do, why not, and what to do about it.

use clap::{ArgMatches, Command};
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use hopbench_lab::doctor::{State, examine};
use hopbench_lab::sandbox::{self, Entered};
use hopbench_model::Fault;

use super::Subcommand;

/// The command.
pub(super) struct Doctor;

impl Subcommand for Doctor {
    fn command(&self) -> Command {
        Command::new("doctor").about("What this machine can do, why not, and what to do about it")
    }

    fn run(&self, _matches: &ArgMatches) -> Result<(), Fault> {
        // What needs namespaces is tried in namespaces of its own, so that nothing is left behind.
        let entered = match sandbox::enter() {
            Ok(Entered::Outside(code)) => return finished(code),
            Ok(Entered::Inside) => Ok(()),
            Err(fault) => Err(fault),
        };
        let findings = examine(entered.as_ref().map(|()| ()));
        let mut table = Table::new();
        table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(80);
        for (name, needed_for, finding) in &findings {
            let mut text = finding.found.clone();
            if !finding.remedy.is_empty() {
                text = format!("{text}\n-> {}", finding.remedy);
            }
            table.add_row([*name, finding.state.name(), &format!("{text}\n(for {needed_for})")]);
        }
        println!("{}", table.trim_fmt());
        let missing = findings.iter().filter(|(_, _, f)| f.state == State::Missing).count();
        let limited = findings.iter().filter(|(_, _, f)| f.state == State::Limited).count();
        println!("\n{} work, {limited} limited, {missing} missing", findings.len() - limited - missing);
        match entered {
            // Without namespaces there is no lab.
            Err(_) => Err(Fault::environment("no lab can be built here; see `namespaces` above")),
            Ok(()) => Ok(()),
        }
    }
}
