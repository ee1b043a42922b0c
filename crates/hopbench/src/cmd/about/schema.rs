//! `hopbench schema`: the format of scenarios, for editors.

use clap::{ArgMatches, Command};
use hopbench_model::Fault;

use crate::cmd::subcommand::Subcommand;
use crate::output::say;
use crate::testbeds::vocabularies;

pub(in crate::cmd) struct Schema;

impl Subcommand for Schema {
    fn command(&self) -> Command {
        Command::new("schema")
            .about("Prints the JSON Schema of scenarios; editors complete from it")
            .after_help(
                "In an editor with a YAML language server: save it as hopbench.schema.json and\n\
             begin the scenario with `# yaml-language-server: $schema=hopbench.schema.json`.",
            )
    }

    fn run(&self, _matches: &ArgMatches) -> Result<(), Fault> {
        say(format_args!("{:#}", hopbench_scenario::schema(&vocabularies())))?;
        Ok(())
    }
}
