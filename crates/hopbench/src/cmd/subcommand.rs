//! The trait of a command of the program.

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use hopbench_model::Fault;

/// A subcommand.
pub(crate) trait Subcommand: Sync {
    /// Its name, flags and help.
    fn command(&self) -> Command;

    /// Does it.
    fn run(&self, matches: &ArgMatches) -> Result<(), Fault>;

    /// Does it, and says the exit code where nothing went wrong in this process: that of the
    /// process inside a lab.
    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        self.run(matches).map(|()| ExitCode::SUCCESS)
    }
}
