//! `hopbench list`: what this build knows.

use clap::{Arg, ArgMatches, Command};
use hopbench_load::WORKLOADS;
use hopbench_load::engines::ENGINES;
use hopbench_meter::METERS;
use hopbench_model::Fault;
use hopbench_scenario::SHIPPED;

use super::Subcommand;
use crate::output::say;

pub(super) struct List;

impl Subcommand for List {
    fn command(&self) -> Command {
        Command::new("list").about("Lists workloads, scenarios, engines, meters and formats").arg(
            Arg::new("kind")
                .value_parser(["workloads", "scenarios", "engines", "meters", "formats", "reports"])
                .help("Only these"),
        )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let only = matches.get_one::<String>("kind").map(String::as_str);
        let mut first = true;
        for (kind, rows) in [
            ("workloads", WORKLOADS.iter().map(|w| (w.name(), w.summary())).collect::<Vec<_>>()),
            ("scenarios", SHIPPED.iter().map(|s| (s.name, s.summary())).collect()),
            ("engines", ENGINES.iter().map(|(kind, summary)| (kind.name(), *summary)).collect()),
            ("meters", METERS.iter().map(|m| (m.name(), m.summary())).collect()),
            ("formats", hopbench_report::FORMATS.iter().map(|f| (f.name(), f.summary())).collect()),
            ("reports", hopbench_report::campaign::SUMMARY_FORMATS.iter().map(|f| (f.name(), f.summary())).collect()),
        ] {
            if only.is_some_and(|only| only != kind) {
                continue;
            }
            if only.is_none() {
                say(format_args!("{}{kind}:", if first { "" } else { "\n" }))?;
                first = false;
            }
            let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(10);
            for (name, summary) in rows {
                say(format_args!("  {name:<width$} {summary}"))?;
            }
        }
        Ok(())
    }
}
