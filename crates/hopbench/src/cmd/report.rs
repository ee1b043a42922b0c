//! `hopbench report`: what a results folder says.
#![allow(clippy::print_stderr)]

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use hopbench_model::Fault;
use hopbench_report::campaign::{Campaign, SUMMARY_FORMATS};
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
                    .value_parser(SUMMARY_FORMATS.iter().map(|format| format.name()).collect::<Vec<_>>())
                    .help("How; `hopbench list reports` says more"),
            )
            .arg(
                Arg::new("output")
                    .long("output")
                    .short('o')
                    .value_name("FILE")
                    .value_parser(value_parser!(PathBuf))
                    .help("Where to write it [default: standard output]"),
            )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let (Some(dir), Some(format)) = (matches.get_one::<PathBuf>("dir"), matches.get_one::<String>("format")) else {
            return Err(Fault::input("a results folder is needed; see `hopbench report --help`"));
        };
        let (run, mut records) = results::open(dir)?;
        let mut campaign = Campaign::new(&run);
        for record in records.by_ref() {
            campaign.add(&record?);
        }
        records.notes().iter().for_each(|note| eprintln!("hopbench: {note}"));
        let text = campaign.render(format).ok_or_else(|| Fault::input(format!("there is no format `{format}`")))?;
        match matches.get_one::<PathBuf>("output") {
            Some(file) => write(file, &text),
            None => print(&text),
        }
    }
}

/// Writes a file as a whole or not at all: who looks at it meanwhile sees the old one.
fn write(file: &Path, text: &str) -> Result<(), Fault> {
    let refused = |error: std::io::Error| {
        Fault::environment(format!("cannot write {}: {error}; choose another --output", file.display()))
    };
    // A device or a pipe is not replaced by a file.
    if file.exists() && !file.is_file() {
        return std::fs::write(file, text).map_err(refused);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let written = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, file));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        refused(error)
    })
}
