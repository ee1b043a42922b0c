//! The flags of `hopbench run`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use hopbench_agent::hello;
use hopbench_meter::profile::Access;
use hopbench_model::secret::Secrets;
use hopbench_model::units::Span;
use hopbench_model::{Fault, Nanos, Plan, TestbedSpec, secret};
use hopbench_report::campaign::unknown_bound;
use hopbench_run::{Profiling, results, same_build, secrets_known};
use hopbench_scenario::Resolved;

use crate::cmd::arguments::{
    EnvoyArgument, FormatArgument, ProfileArgument, ScenarioArguments, TestbedArguments,
    UnitsArgument, secrets_of,
};
use crate::output::refuse_stdout;

/// The flags of `run`.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// A file, or the name of a scenario that comes with hopbench (see `hopbench list scenarios`).
    /// With --resume it is needed only if it has secret headers or a private key: no results folder
    /// keeps those
    #[arg(value_name = "SCENARIO", required_unless_present = "resume")]
    scenario: Option<String>,
    /// Folder for the results, which must be empty [default: results/TIME-NAME]
    #[arg(short, long, alias = "out", value_name = "DIR", conflicts_with = "resume")]
    output: Option<PathBuf>,
    /// Measure what is missing in this results folder
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["budget", "rounds", "time", "only", "seed"]
    )]
    resume: Option<PathBuf>,
    /// With --resume: this much time for more rounds, besides what is missing
    #[arg(long, value_name = "TIME", requires = "resume")]
    more: Option<Span>,
    /// Resume although another version of hopbench began the run
    #[arg(long, requires = "resume")]
    resume_anyway: bool,
    /// With --resume: headers of the folder's plan may take the value of this environment variable;
    /// may be given several times
    #[arg(long, value_name = "NAME", requires = "resume")]
    allow_env: Vec<String>,
    #[command(flatten)]
    profile: ProfileArgument,
    #[command(flatten)]
    scenario_arguments: ScenarioArguments,
    #[command(flatten)]
    testbed: TestbedArguments,
    #[command(flatten)]
    envoy: EnvoyArgument,
    #[command(flatten)]
    pub(super) format: FormatArgument,
    #[command(flatten)]
    pub(super) units: UnitsArgument,
    /// Tell every trial on standard error, too; `trials.log` in the folder has them in any case
    #[arg(short, long)]
    pub(super) verbose: bool,
    /// Exit code 1 also for a bound of a subject that no cell could judge
    #[arg(long)]
    pub(super) fail_unjudged: bool,
    /// Leave no report in the folder and print no answer
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
        /// The scenario as it was written, without secrets.
        text: String,
        /// Its secrets.
        secrets: Secrets,
        /// Where the results go.
        dir: PathBuf,
        /// The cells that are profiled.
        profiling: Option<Profiling>,
    },
    /// The rest of a run.
    Old {
        /// Where its results are.
        dir: PathBuf,
        /// Where it ran.
        testbed: TestbedSpec,
        /// Its secrets, where the scenario was given again.
        secrets: Secrets,
        /// Time for more rounds, ns.
        more_ns: Option<Nanos>,
        /// The cells that are profiled.
        profiling: Option<Profiling>,
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
    pub(super) fn wanted(&self) -> Result<Wanted, Fault> {
        self.envoy.apply()?;
        if let Some(dir) = &self.resume {
            if self.scenario.is_none() {
                self.testbed.unasked()?;
            }
            let (run, _) = results::open(dir)?;
            if run.plan.is_imported() {
                return Err(Fault::input(format!(
                    "--resume: found {}, which holds imported files, expected a folder of \
                     `hopbench run`; to add files, import all of them again",
                    dir.display()
                )));
            }
            if !self.resume_anyway {
                same_build(&run, &hello())?;
            }
            let secrets = match &self.scenario {
                Some(name) => secrets_of(name, &self.testbed, &run)?,
                None => Secrets::default(),
            };
            self.allowed(&run.plan, dir)?;
            self.own_programs(&run.plan, dir)?;
            self.something_to_judge(&run.plan)?;
            secrets_known(&run.plan, &secrets)?;
            let more_ns = self.more.map(|more| more_rounds(&run.plan, more)).transpose()?;
            if self.profile.is_given() {
                // Those that cannot be read are not overwritten.
                results::profile_file(dir)?;
            }
            let profiling = self.profiling(&run.plan)?;
            return Ok(Wanted::Old {
                dir: dir.clone(),
                testbed: run.plan.testbed,
                secrets,
                more_ns,
                profiling,
            });
        }
        let name = self.scenario.as_deref().unwrap_or_default();
        self.output.as_deref().map_or(Ok(()), refuse_stdout)?;
        let Resolved { plan, notes, secrets, text } =
            self.scenario_arguments.read(name, &self.testbed)?;
        secrets_known(&plan, &secrets)?;
        known_bounds(&plan)?;
        self.something_to_judge(&plan)?;
        let dir = self.output.clone().unwrap_or_else(|| results::fresh_name(&plan.name));
        results::vacant(&dir)?;
        let profiling = self.profiling(&plan)?;
        Ok(Wanted::New { plan: Box::new(plan), notes, text, dir, secrets, profiling })
    }

    /// Refuses to judge the bounds of a plan that has none.
    fn something_to_judge(&self, plan: &Plan) -> Result<(), Fault> {
        if !self.fail_unjudged || has_bounds(plan) {
            return Ok(());
        }
        Err(Fault::input(
            "--fail-unjudged: found no bound, expected a subject with some, like `new: {envoy: \
             ./envoy-new, bounds: {p99: 5%}}`",
        ))
    }

    /// The cells of a plan that are profiled, as far as the testbed and the kernel allow it.
    fn profiling(&self, plan: &Plan) -> Result<Option<Profiling>, Fault> {
        self.profile.of(plan, || Access::now().map_err(|lack| lack.to_string()))
    }
}

impl Flags {
    /// Refuses a folder whose plan names programs, unless the scenario of one's own says the same:
    /// whoever made the folder chose them.
    fn own_programs(&self, plan: &Plan, dir: &Path) -> Result<(), Fault> {
        let Some(program) = plan.program() else { return Ok(()) };
        if let Some(name) = &self.scenario {
            let own = self.scenario_arguments.read(name, &self.testbed)?.plan;
            let is_own = |path: &hopbench_model::Path| own.paths.contains(path);
            let same = own.testbed == plan.testbed && own.subjects == plan.subjects;
            if same && plan.paths.iter().all(is_own) {
                return Ok(());
            }
        }
        let subject = if plan.subjects.is_empty() { "" } else { " --subject ..." };
        Err(Fault::input(format!(
            "--resume: the plan in {dir} runs programs: found {program}; if you trust this folder, \
             say the same as in its first run: hopbench run SCENARIO{subject} --resume {dir}",
            dir = dir.display(),
        )))
    }

    /// Refuses a folder whose plan sends variables of ours, unless they were allowed: whoever made
    /// the folder chose them, and where they go.
    fn allowed(&self, plan: &Plan, dir: &Path) -> Result<(), Fault> {
        let all = plan.points.iter().flat_map(|point| secret::references(&point.job));
        let other: BTreeSet<(&str, &str)> = all
            .filter(|(_, variable)| self.allow_env.iter().all(|name| name != variable))
            .collect();
        if other.is_empty() {
            return Ok(());
        }
        let found: Vec<String> =
            other.iter().map(|(header, variable)| format!("{header} takes {variable}")).collect();
        let variables: BTreeSet<&str> = other.iter().map(|(_, variable)| *variable).collect();
        let flags: Vec<String> =
            variables.iter().map(|variable| format!("--allow-env {variable}")).collect();
        Err(Fault::input(format!(
            "--resume: the plan in {} sends environment variables as headers: found {}; if you \
             trust this folder, add {}",
            dir.display(),
            found.join(", "),
            flags.join(" ")
        )))
    }
}

/// Whether a subject of a plan has bounds.
pub(super) fn has_bounds(plan: &Plan) -> bool {
    plan.subjects.iter().any(|subject| !subject.bounds.is_empty())
}

/// Refuses a bound on what no workload of the plan has.
fn known_bounds(plan: &Plan) -> Result<(), Fault> {
    let Some((metric, known)) = unknown_bound(plan) else { return Ok(()) };
    Err(Fault::input(format!(
        "subjects: bounds: found `{metric}`, which no workload has, expected throughput, a \
         percentile like p99, or one of {}",
        known.join(", ")
    )))
}

/// Time for more rounds of a plan, ns. A plan without rounds, or with a rule of its own to end
/// them, is refused.
fn more_rounds(plan: &Plan, more: Span) -> Result<Nanos, Fault> {
    let found = match &plan.stop {
        Some(_) => "a run whose rounds end by `stop`",
        None if !plan.has_rounds() => "a run of searches only, whose sessions each have the budget",
        None => return Ok(more.0),
    };
    Err(Fault::input(format!(
        "--more: found {found}, expected one with a budget or a number of rounds; without --more \
         it measures what is missing"
    )))
}
