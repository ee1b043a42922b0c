//! The arguments of commands that take a scenario, and the plan that they make.

use std::path::Path;

use clap::Args;
use hopbench_model::Fault;
use hopbench_model::units::Span;
use hopbench_scenario::{Overrides, Resolved, SHIPPED, read, shipped};

use super::testbed_arguments::{TestbedArguments, told};
use super::text_file;
use crate::testbeds::vocabularies;

/// What is said on the command line instead of in the scenario.
#[derive(Debug, Args)]
pub(super) struct ScenarioArguments {
    /// Only cells that this selects, like path=overlay*,workload=rr,size=64; may be given several times
    #[arg(long, value_name = "FILTER")]
    only: Vec<String>,
    /// Passes over all cells, instead of the scenario's rounds or stop
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

    /// Reads a file, or a built-in scenario by its name: what became of it, and the scenario as it was written.
    pub(super) fn read(&self, name: &str, testbed: &TestbedArguments) -> Result<(Resolved, String), Fault> {
        self.read_with(name, testbed, rand::random())
    }

    /// The same; the seed of the plan is this one where neither the scenario nor the command line says one.
    pub(super) fn read_with(
        &self,
        name: &str,
        testbed: &TestbedArguments,
        new_seed: u64,
    ) -> Result<(Resolved, String), Fault> {
        let text = match shipped(name) {
            Some(scenario) if !Path::new(name).is_file() => scenario.text.to_owned(),
            _ => text_file::read("SCENARIO", name, &SHIPPED.iter().map(|scenario| scenario.name).collect::<Vec<_>>())?,
        };
        let (only, time) = (self.only.clone(), self.duration);
        let own = Overrides { rounds: self.rounds, time, only, seed: self.seed, new_seed, ..Overrides::default() };
        match read(name, &text, &vocabularies(), &testbed.over(own)?) {
            Ok(resolved) => Ok((resolved, text)),
            Err(problems) => Err(told(&problems)),
        }
    }
}
