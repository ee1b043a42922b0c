//! `hopbench kube`: what a cluster needs before and after runs.

mod clean;
mod image;
mod manifests;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use hopbench_model::Fault;

use super::subcommand::Subcommand;

pub(super) struct Kube;

/// What it does, in the order of the help.
const ACTIONS: &[&dyn Subcommand] = &[&image::ImageCommand, &manifests::Manifests, &clean::Clean];

impl Subcommand for Kube {
    fn command(&self) -> Command {
        Command::new("kube")
            .about("Prepares a Kubernetes cluster for runs, and cleans it up after them")
            .after_help(
                "In this order: write the image and load it into the nodes or a registry, give\n\
                 somebody the rights, look with `hopbench doctor --testbed kubernetes`, measure\n\
                 with `hopbench run SCENARIO --testbed kubernetes`. A run cleans up after itself.",
            )
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommands(ACTIONS.iter().map(|action| action.command()))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        self.exit_code(matches).map(drop)
    }

    fn exit_code(&self, matches: &ArgMatches) -> Result<ExitCode, Fault> {
        let action = matches.subcommand().and_then(|(name, matches)| {
            let action = ACTIONS.iter().find(|action| action.command().get_name() == name)?;
            Some((action, matches))
        });
        match action {
            Some((action, matches)) => action.exit_code(matches),
            None => Err(Fault::input(
                "expected one of image, manifests, clean; see `hopbench kube --help`",
            )),
        }
    }
}
