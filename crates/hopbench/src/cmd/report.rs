//! `hopbench report`: what a results folder says.

mod trials;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{Asked, Campaign, CapacitySummary, SUMMARY_FORMATS};
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
            .arg(Arg::new("capacity").long("capacity").value_name("LOAD").help(
                "What the proxies would take at a load, instead of the report: rps=20000, connections=5000, or both \
                 with a comma between; as table, markdown or json",
            ))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Some(dir) = matches.get_one::<PathBuf>("dir") else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let output = Output::of(matches)?;
        let asked = matches.get_one::<String>("capacity").map(|text| asked(text, output.format)).transpose()?;
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
        let text = match asked {
            Some(asked) => capacity(&campaign, asked)?.render(output.format),
            None => campaign.render(output.format),
        };
        output.write(&text.ok_or_else(|| output.unknown())?)
    }
}

/// The load that `--capacity` names, where the format can say what it would take.
///
/// # Errors
/// It names none, or the format cannot.
fn asked(text: &str, format: &str) -> Result<Asked, Fault> {
    let formats = CapacitySummary::FORMATS;
    if !formats.contains(&format) {
        let text = format!("--capacity is not written as {format}; choose --format {}", formats.join(", "));
        return Err(Fault::input(text));
    }
    text.parse().map_err(|error| Fault::input(format!("--capacity: {error}")))
}

/// What the proxies would take at a load.
///
/// # Errors
/// The run has no proxies.
fn capacity(campaign: &Campaign, asked: Asked) -> Result<CapacitySummary, Fault> {
    let found = campaign.capacity(asked);
    if found.needs.is_empty() {
        return Err(Fault::input(format!(
            "--capacity: no path of `{}` has proxies; expected results with `mesh: client`, `server` or `both` on a path, or a \
             gateway, and a workload with several values of `rate` (for rps) or `connections`",
            found.name
        )));
    }
    Ok(found)
}

/// Every format: of whole runs, then of trials.
fn names() -> Vec<&'static str> {
    let trials = TRIAL_FORMATS.iter().map(|format| format.name());
    SUMMARY_FORMATS.iter().map(|format| format.name()).chain(trials).collect()
}
