//! `hopbench completions`.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use hopbench_model::Fault;

use crate::cmd::subcommand::Subcommand;
use crate::output::print;

/// The command, with the way to all commands: their names and flags go into the script.
pub(in crate::cmd) struct Completions(pub(in crate::cmd) fn() -> Command);

impl Subcommand for Completions {
    fn command(&self) -> Command {
        Command::new("completions")
            .about("Prints a completion script for a shell")
            .arg(Arg::new("shell").required(true).value_parser(value_parser!(Shell)))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        if let Some(shell) = matches.get_one::<Shell>("shell") {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut (self.0)(), "hopbench", &mut script);
            return print(String::from_utf8_lossy(&script));
        }
        Ok(())
    }
}
