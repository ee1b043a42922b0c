//! `hopbench completions`.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use hopbench_model::Fault;

use super::Subcommand;
use crate::output::print;

pub(super) struct Completions;

impl Subcommand for Completions {
    fn command(&self) -> Command {
        Command::new("completions")
            .about("Prints a completion script for a shell")
            .arg(Arg::new("shell").required(true).value_parser(value_parser!(Shell)))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        if let Some(shell) = matches.get_one::<Shell>("shell") {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut super::command(), "hopbench", &mut script);
            return print(String::from_utf8_lossy(&script));
        }
        Ok(())
    }
}
