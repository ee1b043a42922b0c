//! The arguments of commands that take a scenario, and the plan that they make.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use clap::Args;
use hopbench_model::units::Span;
use hopbench_model::{Fault, Plan};
use hopbench_scenario::{MOST_BYTES, Overrides, SHIPPED, read, shipped};

use crate::testbeds::vocabulary;

/// What is said on the command line instead of in the scenario.
#[derive(Debug, Args)]
pub(super) struct ScenarioArguments {
    /// Only cells that this selects, like path=overlay*,workload=rr,size=64; may be given several times
    #[arg(long, value_name = "FILTER")]
    only: Vec<String>,
    /// Passes over all cells, instead of the scenario's
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Length of the measured windows, instead of the scenario's; a ping with a count keeps its own
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Seed of the order and of everything random, instead of the scenario's [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl ScenarioArguments {
    /// What selects cells, as arguments for another process that reads the same scenario.
    pub(super) fn selection(&self) -> Vec<String> {
        self.only.iter().flat_map(|filter| ["--only".to_owned(), filter.clone()]).collect()
    }

    /// Reads a file, or a built-in scenario by its name: the plan, and the scenario as it was written.
    pub(super) fn read(&self, name: &str) -> Result<(Plan, String), Fault> {
        self.read_with(name, rand::random())
    }

    /// The same; the seed of the plan is this one where neither the scenario nor the command line says one.
    pub(super) fn read_with(&self, name: &str, new_seed: u64) -> Result<(Plan, String), Fault> {
        let text = match shipped(name) {
            Some(scenario) if !Path::new(name).is_file() => scenario.text.to_owned(),
            _ => file(name)?,
        };
        let overrides =
            Overrides { rounds: self.rounds, time: self.duration, only: self.only.clone(), seed: self.seed, new_seed };
        match read(name, &text, &vocabulary(), &overrides) {
            Ok(plan) => Ok((plan, text)),
            Err(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                Err(Fault::input(lines.join("\n")))
            }
        }
    }
}

fn file(name: &str) -> Result<String, Fault> {
    let refuse = |why: String| Fault::input(format!("SCENARIO: found `{name}`, {why}"));
    let unreadable = |error: std::io::Error| {
        let known: Vec<&str> = SHIPPED.iter().map(|scenario| scenario.name).collect();
        let nearest =
            known.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
        let nearest =
            nearest.filter(|known| error.kind() == ErrorKind::NotFound && strsim::jaro_winkler(known, name) > 0.85);
        let meant = nearest.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
        refuse(format!("expected a file that can be read ({error}), or one of {}{meant}", known.join(", ")))
    };
    let file = File::open(name).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte more, so that a file that is too long shows.
    file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MOST_BYTES {
        return Err(refuse("expected a file of at most 1MiB".to_owned()));
    }
    String::from_utf8(bytes)
        .map_err(|error| refuse(format!("expected UTF-8; byte {} is none", error.utf8_error().valid_up_to())))
}
