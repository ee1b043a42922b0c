//! `hopbench report`: what a results folder says.
#![allow(clippy::print_stderr)]

mod trials;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{Asked, Campaign, CapacitySummary, SUMMARY_FORMATS};
use hopbench_report::export::{TRIAL_FORMATS, trial_format};
use hopbench_run::results;

use super::Subcommand;
use crate::output::print;

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
            .arg(
                Arg::new("format")
                    .long("format")
                    .short('f')
                    .value_name("FORMAT")
                    .default_value("table")
                    .value_parser(names())
                    .help("How; `hopbench list reports` says more"),
            )
            .arg(
                Arg::new("output")
                    .long("output")
                    .short('o')
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .help(
                        "Where to write it; for fortio's files, one a trial, a folder: DIR/ [default: standard output]",
                    ),
            )
            .arg(Arg::new("capacity").long("capacity").value_name("LOAD").help(
                "What the proxies would take at a load, instead of the report: rps=20000, connections=5000, or both \
                 with a comma between; as table, markdown or json",
            ))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let (Some(dir), Some(format)) = (matches.get_one::<PathBuf>("dir"), matches.get_one::<String>("format")) else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let output = matches.get_one::<PathBuf>("output");
        output.map_or(Ok(()), |file| spare(file))?;
        let asked = matches.get_one::<String>("capacity").map(|text| asked(text, format)).transpose()?;
        let (run, mut records) = results::open(dir)?;
        if let Some(format) = trial_format(format) {
            trials::write(format, &run, records.by_ref(), output.map(PathBuf::as_path))?;
            records.notes().iter().for_each(|note| eprintln!("hopbench: {note}"));
            return Ok(());
        }
        let mut campaign = Campaign::new(&run);
        for record in records.by_ref() {
            campaign.add(&record?);
        }
        records.notes().iter().for_each(|note| eprintln!("hopbench: {note}"));
        let text = match asked {
            Some(asked) => campaign.capacity(asked).render(format),
            None => campaign.render(format),
        };
        let text = text.ok_or_else(|| Fault::input(format!("there is no format `{format}`")))?;
        match output {
            Some(file) => write(file, &text),
            None => print(&text),
        }
    }
}

/// Refuses to write over what a results folder holds of its run: no report brings it back.
///
/// # Errors
/// `file` is such a file, or a link to one.
pub(super) fn spare(file: &Path) -> Result<(), Fault> {
    // Of a file that is not there yet, the folder is.
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let resolved = file
        .canonicalize()
        .or_else(|_| std::io::Result::Ok(parent.canonicalize()?.join(file.file_name().unwrap_or_default())));
    let original = |file: &Path| {
        let name = file.file_name().and_then(|name| name.to_str());
        let beside = file.parent().is_some_and(|dir| dir.join("run.json").is_file());
        beside && name.is_some_and(|name| results::ORIGINALS.contains(&name))
    };
    if original(file) || resolved.is_ok_and(|file: PathBuf| original(&file)) {
        let text = format!(
            "--output: {} is part of what was measured, and a report would take its place; choose another file",
            file.display()
        );
        return Err(Fault::input(text));
    }
    Ok(())
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

/// Every format: of whole runs, then of trials.
fn names() -> Vec<&'static str> {
    let trials = TRIAL_FORMATS.iter().map(|format| format.name());
    SUMMARY_FORMATS.iter().map(|format| format.name()).chain(trials).collect()
}

/// Writes a file as a whole or not at all: who looks at it meanwhile sees the old one.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Fault> {
    replace(file, |part| std::fs::write(part, text).map_err(|error| refused(file, &error)))
}

/// Puts what `write` leaves at the path that it is given in the place of `file`, or nothing.
fn replace(file: &Path, write: impl FnOnce(&Path) -> Result<(), Fault>) -> Result<(), Fault> {
    // A device or a pipe is not replaced by a file.
    if file.exists() && !file.is_file() {
        return write(file);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let written = write(&part).and_then(|()| std::fs::rename(&part, file).map_err(|error| refused(file, &error)));
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

fn refused(file: &Path, error: &std::io::Error) -> Fault {
    Fault::environment(format!("cannot write {}: {error}; choose another --output", file.display()))
}
