//! `hopbench list`: what this build knows.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use hopbench_load::WORKLOADS;
use hopbench_load::engines::ENGINES;
use hopbench_meter::METERS;
use hopbench_model::{Fault, MeshMode, MeshProvider, Variant};
use hopbench_report::FORMATS;
use hopbench_report::campaign::SUMMARY_FORMATS;
use hopbench_report::export::TRIAL_FORMATS;
use hopbench_scenario::{SHIPPED, VIAS, shipped};

use crate::cmd::subcommand::Subcommand;
use crate::output::{print, say};
use crate::testbeds::{TESTBEDS, vocabulary};

pub(in crate::cmd) struct List;

/// Names with a line about each.
type Rows = Vec<(String, String)>;

/// The kind whose entries are files that can be printed.
const SCENARIOS: &str = "scenarios";

/// Of what there are lists, in the order in which they are printed.
#[rustfmt::skip]
const KINDS: &[&str] = &[
    "workloads", SCENARIOS, "testbeds", "networks", "runtimes", "servers", "peers", "vias",
    "engines", "mesh", "providers", "variants", "meters", "formats", "reports",
];

impl Subcommand for List {
    fn command(&self) -> Command {
        let testbed = Arg::new("testbed")
            .long("testbed")
            .value_name("NAME")
            .value_parser(PossibleValuesParser::new(TESTBEDS.iter().map(|(name, _)| *name)))
            .help("Networks, runtimes and servers of this testbed only");
        let scenario = Arg::new("scenario")
            .value_name("SCENARIO")
            .value_parser(PossibleValuesParser::new(SHIPPED.iter().map(|scenario| scenario.name)))
            .hide_possible_values(true)
            .conflicts_with("testbed")
            .help("With `scenarios`: prints the file of this one, to change it");
        Command::new("list")
            .about(
                "Lists workloads, scenarios, testbeds with their words, engines, mesh modes, \
                 variants, meters and formats",
            )
            .arg(Arg::new("kind").value_parser(PossibleValuesParser::new(KINDS)).help("Only these"))
            .arg(scenario)
            .arg(testbed)
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let (only, testbed) = (text("kind"), text("testbed"));
        if let Some(scenario) = text("scenario").and_then(shipped) {
            let name = scenario.name;
            return match only {
                Some(SCENARIOS) => print(scenario.text),
                _ => Err(Fault::input(format!(
                    "SCENARIO: found `{name}`, expected it only as in `hopbench list {SCENARIOS} \
                     {name}`"
                ))),
            };
        }
        let lists: Vec<(String, Rows)> = KINDS
            .iter()
            .filter(|kind| only.is_none_or(|only| only == **kind))
            .flat_map(|kind| of_kind(kind, testbed))
            .collect();
        // Alone it needs no name: whoever asks knows it.
        let named = lists.len() > 1;
        for (index, (name, rows)) in lists.into_iter().enumerate() {
            if named {
                say(format_args!("{}{name}:", if index == 0 { "" } else { "\n" }))?;
            }
            let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(10);
            for (name, summary) in rows {
                say(format_args!("  {name:<width$} {summary}"))?;
            }
        }
        Ok(())
    }
}

/// The list of a kind; of what depends on the testbed, one for each that has any, or that of
/// `testbed`.
fn of_kind(kind: &str, testbed: Option<&str>) -> Vec<(String, Rows)> {
    let rows = match kind {
        "workloads" => rows(WORKLOADS.iter().map(|w| (w.name(), w.summary()))),
        SCENARIOS => rows(SHIPPED.iter().map(|s| (s.name, s.summary()))),
        "testbeds" => rows(TESTBEDS.iter().copied()),
        "vias" => rows(VIAS.iter().copied()),
        "engines" => rows(ENGINES.iter().map(|(kind, summary)| (kind.name(), *summary))),
        "mesh" => rows(MeshMode::ALL.iter().map(|mode| (mode.name(), mode.summary()))),
        "providers" => {
            rows(MeshProvider::ALL.iter().map(|provider| (provider.name(), provider.summary())))
        }
        "variants" => rows(Variant::known().iter().map(|v| (v.name.as_str(), v.summary()))),
        "meters" => rows(METERS.iter().map(|m| (m.name, m.summary))),
        "formats" => rows(FORMATS.iter().map(|f| (f.name, f.summary))),
        "reports" => reports(),
        _ => {
            let names = TESTBEDS
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| testbed.is_none_or(|only| only == *name));
            let of = |name: &str| (format!("{kind} of {name}"), words(kind, name));
            return names.map(of).filter(|(_, rows)| !rows.is_empty()).collect();
        }
    };
    vec![(kind.to_owned(), rows)]
}

fn rows<N: ToString, S: ToString>(of: impl Iterator<Item = (N, S)>) -> Rows {
    of.map(|(name, summary)| (name.to_string(), summary.to_string())).collect()
}

/// Words of a testbed.
fn words(kind: &str, testbed: &str) -> Rows {
    let vocabulary = vocabulary(testbed);
    match kind {
        "networks" => {
            vocabulary.networks.into_iter().map(|network| (network.name, network.summary)).collect()
        }
        "runtimes" => vocabulary.runtimes,
        "peers" => rows(vocabulary.peers.iter().map(|tool| (tool.name, tool.summary))),
        _ => vocabulary.servers.into_iter().map(|server| (server.name, server.summary)).collect(),
    }
}

/// Formats of whole runs, then of their trials.
fn reports() -> Rows {
    let trials = TRIAL_FORMATS.iter().map(|format| (format.name, format.summary));
    rows(SUMMARY_FORMATS.iter().map(|format| (format.name, format.summary)).chain(trials))
}
