//! `hopbench telemetry`: the telemetry service, which proxies tell of each request; a testbed
//! starts it.

use clap::{ArgMatches, Command};
use hopbench_model::Fault;

use super::policy::{command, options};
use crate::cmd::subcommand::Subcommand;

pub(in crate::cmd) struct Telemetry;

impl Subcommand for Telemetry {
    fn command(&self) -> Command {
        command(
            "telemetry",
            "Runs the telemetry service that proxies of a testbed tell of each request",
        )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        hopbench_policy::telemetry(&options(matches)?)
    }
}
