//! `hopbench list`: what this build knows.

use clap::{Arg, ArgMatches, Command};
use hopbench_load::WORKLOADS;
use hopbench_load::engines::ENGINES;
use hopbench_meter::METERS;
use hopbench_model::{Fault, MeshMode, Variant};
use hopbench_report::FORMATS;
use hopbench_report::campaign::SUMMARY_FORMATS;
use hopbench_report::export::TRIAL_FORMATS;
use hopbench_scenario::SHIPPED;

use super::Subcommand;
use crate::output::say;

pub(super) struct List;

impl Subcommand for List {
    fn command(&self) -> Command {
        Command::new("list").about("Lists workloads, scenarios, engines, mesh modes, variants, meters and formats").arg(
            Arg::new("kind")
                .value_parser(["workloads", "scenarios", "engines", "mesh", "variants", "meters", "formats", "reports"])
                .help("Only these"),
        )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let only = matches.get_one::<String>("kind").map(String::as_str);
        let mut first = true;
        for (kind, rows) in [
            ("workloads", rows(WORKLOADS.iter().map(|w| (w.name(), w.summary())))),
            ("scenarios", rows(SHIPPED.iter().map(|s| (s.name, s.summary())))),
            ("engines", rows(ENGINES.iter().map(|(kind, summary)| (kind.name(), *summary)))),
            ("mesh", rows(MeshMode::ALL.iter().map(|mode| (mode.name(), mode.summary())))),
            ("variants", rows(Variant::known().iter().map(|v| (v.name.as_str(), v.summary())))),
            ("meters", rows(METERS.iter().map(|m| (m.name(), m.summary())))),
            ("formats", rows(FORMATS.iter().map(|f| (f.name(), f.summary())))),
            ("reports", reports()),
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

fn rows<N: ToString, S: ToString>(of: impl Iterator<Item = (N, S)>) -> Vec<(String, String)> {
    of.map(|(name, summary)| (name.to_string(), summary.to_string())).collect()
}

/// Formats of whole runs, then of their trials.
fn reports() -> Vec<(String, String)> {
    let trials = TRIAL_FORMATS.iter().map(|format| (format.name(), format.summary()));
    rows(SUMMARY_FORMATS.iter().map(|format| (format.name(), format.summary())).chain(trials))
}
