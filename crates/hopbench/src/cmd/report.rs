//! `hopbench report`: what a results folder says.

mod trials;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{Campaign, SUMMARY_FORMATS, render};
use hopbench_report::export::{TRIAL_FORMATS, trial_format};
use hopbench_run::results;

use super::Subcommand;
use super::output_arguments::{Output, arguments};
use crate::output::tell;

pub(super) struct Report;

impl Subcommand for Report {
    fn command(&self) -> Command {
        Command::new("report")
            .about("Reports on a results folder")
            .arg(
                Arg::new("dir")
                    .value_name("DIR")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("A folder that `hopbench run` left"),
            )
            .args(arguments(
                names(),
                "How; `hopbench list reports` says more",
                "Where to write it; for fortio's files, one a trial, a folder: DIR/; - is standard output [default: -]",
            ))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Some(dir) = matches.get_one::<PathBuf>("dir") else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let output = Output::of(matches)?;
        let (run, mut records) = results::open(dir)?;
        if let Some(format) = trial_format(output.format) {
            trials::write(format, &run, records.by_ref(), output.file)?;
            records.notes().iter().for_each(tell);
            return Ok(());
        }
        let mut campaign = Campaign::new(&run);
        for record in records.by_ref() {
            campaign.add(&record?);
        }
        records.notes().iter().for_each(tell);
        output.write(&render(&campaign, output.format).ok_or_else(|| output.unknown())?)
    }
}

/// Every format: of whole runs, then of trials.
fn names() -> Vec<&'static str> {
    let trials = TRIAL_FORMATS.iter().map(|format| format.name());
    SUMMARY_FORMATS.iter().map(|format| format.name()).chain(trials).collect()
}
