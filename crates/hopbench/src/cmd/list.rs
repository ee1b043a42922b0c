//! `hopbench list`: what this build knows.

use clap::{Arg, ArgMatches, Command};
use hopbench_load::WORKLOADS;
use hopbench_load::engines::ENGINES;
use hopbench_meter::METERS;
use hopbench_model::Fault;

use super::Subcommand;

pub(super) struct List;

impl Subcommand for List {
    fn command(&self) -> Command {
        Command::new("list")
            .about("Lists workloads, engines, meters and formats")
            .arg(Arg::new("kind").value_parser(["workloads", "engines", "meters", "formats"]).help("Only these"))
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let only = matches.get_one::<String>("kind").map(String::as_str);
        let mut first = true;
        for (kind, rows) in [
            ("workloads", WORKLOADS.iter().map(|w| (w.name(), w.summary())).collect::<Vec<_>>()),
            ("engines", ENGINES.iter().map(|(kind, summary)| (kind.name(), *summary)).collect()),
            ("meters", METERS.iter().map(|m| (m.name(), m.summary())).collect()),
            ("formats", hopbench_report::FORMATS.iter().map(|f| (f.name(), f.summary())).collect()),
        ] {
            if only.is_some_and(|only| only != kind) {
                continue;
            }
            if only.is_none() {
                println!("{}{kind}:", if first { "" } else { "\n" });
                first = false;
            }
            for (name, summary) in rows {
                println!("  {name:<10} {summary}");
            }
        }
        Ok(())
    }
}
