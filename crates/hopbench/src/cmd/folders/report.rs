//! `hopbench report`: what a results folder says.

mod trials;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{
    Details, RunData, SUMMARY_FORMATS, Screen, Summary, summary_format,
};
use hopbench_report::export::{TRIAL_FORMATS, trial_format};
use hopbench_run::results;

use crate::cmd::arguments::output::{Output, arguments};
use crate::cmd::arguments::{UnitsArgument, in_unit};
use crate::cmd::run::profiles;
use crate::cmd::subcommand::Subcommand;
use crate::output::{screen, tell};

/// The formats that a terminal's size matters to: the answer, and the tables.
const SCREEN: &str = "screen";
const TABLE: &str = "table";

pub(in crate::cmd) struct Report;

impl Subcommand for Report {
    fn command(&self) -> Command {
        let command = Command::new("report")
            .arg(
                Arg::new("dir")
                    .value_name("DIR")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("A folder that `hopbench run` left"),
            )
            .args(arguments(
                names(),
                "How; `hopbench list reports` says more [default: screen]",
                "Where to write it; for fortio's files, one a trial, a folder: DIR/; - is standard \
                 output [default: -]",
            ))
            .arg(
                Arg::new("details")
                    .long("details")
                    .action(ArgAction::SetTrue)
                    .conflicts_with_all(["format", "json"])
                    .help("All tables instead of the answer; the same as --format table"),
            )
            .arg(
                Arg::new("workload")
                    .long("workload")
                    .value_name("NAME")
                    .conflicts_with_all(["format", "json"])
                    .help("The tables of one workload"),
            );
        // The arguments bring a description of their own, so that of the command comes last.
        UnitsArgument::augment_args(command).about("Reports on a results folder")
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Some(dir) = matches.get_one::<PathBuf>("dir") else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let workload = matches.get_one::<String>("workload").map(String::as_str);
        let has_tables = matches.get_flag("details") || workload.is_some();
        let output = Output::of(matches, if has_tables { TABLE } else { SCREEN })?;
        let (run, mut records) = results::open(dir)?;
        if let Some(format) = trial_format(output.format) {
            trials::write(format, &run, records.by_ref(), output.file)?;
            records.notes().iter().for_each(tell);
            return Ok(());
        }
        let mut campaign = RunData::new(&run).with_profiles(profiles::of(dir));
        for record in records.by_ref() {
            campaign.add(&record?);
        }
        records.notes().iter().for_each(tell);
        let units = UnitsArgument::from_arg_matches(matches).map_err(Fault::input)?;
        let summary = in_unit(campaign.into_summary(), units.unit());
        let text = match output.format {
            SCREEN => Some(answer(&summary, dir, output)),
            TABLE => Some(tables(&summary, workload, output)?),
            other => summary_format(other).map(|format| (format.render)(&summary)),
        };
        output.write(&text.ok_or_else(|| output.unknown())?)
    }
}

/// The room that the output has: a file is as wide as a page.
fn room<'a>(folder: &'a str, has_report: bool, output: Output<'_>) -> Screen<'a> {
    match output.file {
        None => screen(folder, has_report),
        Some(_) => Screen { folder, has_report, ..Screen::default() },
    }
}

/// The answer on one screen.
fn answer(summary: &Summary, dir: &Path, output: Output<'_>) -> String {
    let folder = dir.to_string_lossy();
    room(&folder, dir.join("report.html").is_file(), output).text(summary)
}

/// All tables, or those of one workload.
fn tables(summary: &Summary, workload: Option<&str>, output: Output<'_>) -> Result<String, Fault> {
    let details = Details { width: room("", false, output).width, workload };
    details.text(summary).ok_or_else(|| {
        let known = Details::workloads(summary).join(", ");
        Fault::input(format!(
            "--workload: found `{}`, expected one of {known}",
            workload.unwrap_or_default()
        ))
    })
}

/// Every format: of whole runs, then of trials.
fn names() -> Vec<&'static str> {
    let trials = TRIAL_FORMATS.iter().map(|format| format.name);
    SUMMARY_FORMATS.iter().map(|format| format.name).chain(trials).collect()
}
