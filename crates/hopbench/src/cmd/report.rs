//! `hopbench report`: what a results folder says.

mod trials;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{Asked, Campaign, CapacitySummary, Details, SUMMARY_FORMATS, Screen};
use hopbench_report::export::{TRIAL_FORMATS, trial_format};
use hopbench_run::results;

use super::arguments::output::{Output, arguments};
use super::subcommand::Subcommand;
use crate::output::{screen, tell};

/// The formats that a terminal's size matters to: the answer, and the tables.
const SCREEN: &str = "screen";
const TABLE: &str = "table";

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
                "How; `hopbench list reports` says more [default: screen]",
                "Where to write it; for fortio's files, one a trial, a folder: DIR/; - is standard output [default: -]",
            ))
            .arg(
                Arg::new("details")
                    .long("details")
                    .action(ArgAction::SetTrue)
                    .conflicts_with_all(["format", "json", "capacity"])
                    .help("All tables instead of the answer; the same as --format table"),
            )
            .arg(
                Arg::new("workload")
                    .long("workload")
                    .value_name("NAME")
                    .conflicts_with_all(["format", "json", "capacity"])
                    .help("The tables of one workload"),
            )
            .arg(Arg::new("capacity").long("capacity").value_name("LOAD").help(
                "What the proxies would take at a load, instead of the report: rps=20000, connections=5000, or both \
                 with a comma between; as table, markdown or json",
            ))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Some(dir) = matches.get_one::<PathBuf>("dir") else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let workload = matches.get_one::<String>("workload").map(String::as_str);
        let has_tables = matches.get_flag("details") || workload.is_some() || matches.contains_id("capacity");
        let output = Output::of(matches, if has_tables { TABLE } else { SCREEN })?;
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
            None if output.format == SCREEN => Some(answer(&campaign, dir, output)),
            None if output.format == TABLE => Some(tables(&campaign, workload, output)?),
            None => campaign.render(output.format),
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
fn answer(campaign: &Campaign, dir: &Path, output: Output<'_>) -> String {
    let folder = dir.to_string_lossy();
    room(&folder, dir.join("report.html").is_file(), output).text(&campaign.summary())
}

/// All tables, or those of one workload.
///
/// # Errors
/// The run has no such workload.
fn tables(campaign: &Campaign, workload: Option<&str>, output: Output<'_>) -> Result<String, Fault> {
    let summary = campaign.summary();
    let details = Details { width: room("", false, output).width, workload };
    details.text(&summary).ok_or_else(|| {
        let known = Details::workloads(&summary).join(", ");
        Fault::input(format!("--workload: found `{}`, expected one of {known}", workload.unwrap_or_default()))
    })
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
