//! What was asked for.

use std::path::{Path, PathBuf};

use clap::Args;
use hopbench_agent::hello;
use hopbench_model::{Fault, Plan, TestbedSpec};
use hopbench_run::{results, same_build};
use hopbench_scenario::Resolved;

use crate::cmd::envoy_argument::EnvoyArgument;
use crate::cmd::scenario_arguments::ScenarioArguments;
use crate::cmd::testbed_arguments::TestbedArguments;

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
    #[arg(long, value_name = "DIR", conflicts_with_all = ["rounds", "duration", "only", "seed", "testbed", "context"])]
    resume: Option<PathBuf>,
    /// Resume although another version of hopbench began the run
    #[arg(long, requires = "resume")]
    resume_anyway: bool,
    #[command(flatten)]
    scenario_arguments: ScenarioArguments,
    #[command(flatten)]
    testbed: TestbedArguments,
    #[command(flatten)]
    envoy: EnvoyArgument,
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
        /// What it says that does not hold on its testbed.
        notes: Vec<String>,
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

    /// Where the results are, or will be.
    pub(super) fn dir(&self) -> &Path {
        match self {
            Self::New { dir, .. } | Self::Old { dir, .. } => dir,
        }
    }
}

impl Flags {
    /// The scenario, if it is a file.
    pub(super) fn file(&self) -> Option<&Path> {
        self.scenario.as_deref().map(Path::new).filter(|path| path.is_file())
    }

    /// Reads and checks what the flags name.
    ///
    /// # Errors
    /// A scenario that is not there or has problems, a folder that cannot be used, a run that another build began, an
    /// Envoy that is no program.
    pub(super) fn wanted(&self) -> Result<Wanted, Fault> {
        self.envoy.apply()?;
        if let Some(dir) = &self.resume {
            let (run, _) = results::open(dir)?;
            if !self.resume_anyway {
                same_build(&run, &hello())?;
            }
            return Ok(Wanted::Old { dir: dir.clone(), testbed: run.plan.testbed });
        }
        let name = self.scenario.as_deref().unwrap_or_default();
        let (Resolved { plan, notes }, text) = self.scenario_arguments.read(name, &self.testbed)?;
        let dir = self.out.clone().unwrap_or_else(|| results::fresh_name(&plan.name));
        results::vacant(&dir)?;
        Ok(Wanted::New { plan: Box::new(plan), notes, text, dir })
    }
}
