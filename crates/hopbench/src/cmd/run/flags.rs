//! What was asked for.

use std::path::{Path, PathBuf};

use clap::Args;
use hopbench_model::units::Span;
use hopbench_model::{Fault, Plan, TestbedSpec};
use hopbench_run::results;
use hopbench_scenario::{MOST_BYTES, Overrides, SHIPPED, read, shipped};

use crate::testbeds;

/// The flags of `run`.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// A file, or the name of a scenario that comes with hopbench (see `hopbench list scenarios`)
    #[arg(value_name = "SCENARIO", required_unless_present = "resume", conflicts_with = "resume")]
    scenario: Option<String>,
    /// Folder for the results, which must be empty [default: results/TIME-NAME]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Measure what is missing in this results folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rounds", "duration", "only", "seed"])]
    resume: Option<PathBuf>,
    /// Passes over all cells, instead of the scenario's
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Length of every measured window, like 2s, instead of the scenario's
    #[arg(long, value_name = "TIME")]
    duration: Option<Span>,
    /// Only these cells, like 'path=overlay*,workload=rr'; several times: what any of them selects
    #[arg(long, value_name = "FILTER")]
    only: Vec<String>,
    /// Seed of the order and of everything random, instead of the scenario's or a new one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// One JSON object a line for everything that happens, instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Leave no report in the folder and print no table
    #[arg(long)]
    pub(super) no_report: bool,
}

/// What is to be done, checked.
#[derive(Debug)]
pub(super) enum Wanted {
    /// A new run.
    New {
        /// The scenario, resolved.
        plan: Box<Plan>,
        /// The scenario as it was written.
        text: String,
        /// Where the results go.
        dir: PathBuf,
    },
    /// The rest of a run.
    Old {
        /// Where its results are.
        dir: PathBuf,
        /// Where it ran.
        testbed: TestbedSpec,
    },
}

impl Wanted {
    /// Where it runs.
    pub(super) fn testbed(&self) -> &TestbedSpec {
        match self {
            Self::New { plan, .. } => &plan.testbed,
            Self::Old { testbed, .. } => testbed,
        }
    }
}

impl Flags {
    /// Reads and checks what the flags name.
    ///
    /// # Errors
    /// A scenario that is not there or has problems, a folder that cannot be used.
    pub(super) fn wanted(&self) -> Result<Wanted, Fault> {
        if let Some(dir) = &self.resume {
            let (run, _) = results::open(dir)?;
            return Ok(Wanted::Old { dir: dir.clone(), testbed: run.plan.testbed });
        }
        let name = self.scenario.as_deref().unwrap_or_default();
        let text = scenario(name)?;
        let overrides = Overrides {
            rounds: self.rounds,
            time: self.duration,
            only: self.only.clone(),
            seed: self.seed,
            new_seed: rand::random(),
        };
        let plan = read(name, &text, &testbeds::vocabulary(), &overrides).map_err(|problems| {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Fault::input(lines.join("\n"))
        })?;
        let dir = self.out.clone().unwrap_or_else(|| results::fresh_name(&plan.name));
        results::vacant(&dir)?;
        Ok(Wanted::New { plan: Box::new(plan), text, dir })
    }
}

/// The text of a scenario: a file's, or that of one that is shipped.
fn scenario(name: &str) -> Result<String, Fault> {
    let path = Path::new(name);
    match (path.is_file(), shipped(name)) {
        (false, Some(shipped)) => return Ok(shipped.text.to_owned()),
        (false, None) if !path.exists() => {
            let known: Vec<_> = SHIPPED.iter().map(|s| s.name).collect();
            return Err(Fault::input(format!(
                "SCENARIO: found `{name}`, expected a file that exists, or one of {}",
                known.join(", ")
            )));
        }
        _ => {}
    }
    let cannot = |error: &dyn std::fmt::Display| Fault::input(format!("cannot read scenario {name}: {error}"));
    let length = std::fs::metadata(path).map_err(|e| cannot(&e))?.len();
    if length > MOST_BYTES as u64 {
        return Err(cannot(&format!("it has {length} bytes, at most {MOST_BYTES} are read")));
    }
    std::fs::read_to_string(path).map_err(|e| cannot(&e))
}
