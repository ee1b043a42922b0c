//! The arguments of commands that take a scenario, and the plan that they make.

use std::path::Path;

use clap::Args;
use hopbench_model::secret::Secrets;
use hopbench_model::units::Span;
use hopbench_model::{ClusterSpec, Fault, Plan, Point, RunFile, TestbedSpec};
use hopbench_scenario::{Overrides, Resolved, SHIPPED, TestbedChoice, read, shipped};

use super::testbed::{TestbedArguments, told};
use super::text_file;
use crate::testbeds::vocabularies;

/// What is said on the command line instead of in the scenario.
#[derive(Debug, Args)]
pub(in crate::cmd) struct ScenarioArguments {
    /// Only cells that this selects, like path=overlay*,workload=rr,size=64; may be given several
    /// times
    #[arg(long, value_name = "FILTER")]
    only: Vec<String>,
    /// A set-up to compare on every path, like `new` or `new=mtu: 1400`, instead of the scenario's
    /// subjects. The others are compared with the first one. One alone is compared with `old`,
    /// which changes nothing
    #[arg(long, value_name = "NAME=CHANGES")]
    subject: Vec<String>,
    /// Time for the rounds, or for the searches where there are no rounds, instead of the
    /// scenario's budget, rounds or stop. Trials are then short and many
    #[arg(long, value_name = "TIME", conflicts_with = "rounds")]
    budget: Option<Span>,
    /// Passes over all cells, instead of the scenario's budget, rounds or stop
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Length of the measured windows, instead of the scenario's; a ping with a count keeps its own
    #[arg(short, long, alias = "duration", value_name = "TIME")]
    time: Option<Span>,
    /// Seed of the order and of everything random, instead of the scenario's [default: a new one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl ScenarioArguments {
    /// The selection of cells and subjects, as arguments for another process that reads the same
    /// scenario.
    pub(in crate::cmd) fn selection(&self) -> Vec<String> {
        let all = |flag: &str, values: &[String]| -> Vec<String> {
            values.iter().flat_map(|value| [flag.to_owned(), value.clone()]).collect()
        };
        [all("--only", &self.only), all("--subject", &self.subject)].concat()
    }

    /// Reads a file, or a built-in scenario by its name.
    pub(in crate::cmd) fn read(
        &self,
        name: &str,
        testbed: &TestbedArguments,
    ) -> Result<Resolved, Fault> {
        self.read_with(name, testbed, rand::random())
    }

    /// The same; the seed of the plan is this one where neither the scenario nor the command line
    /// says one.
    pub(in crate::cmd) fn read_with(
        &self,
        name: &str,
        testbed: &TestbedArguments,
        new_seed: u64,
    ) -> Result<Resolved, Fault> {
        let text = text(name)?;
        let (only, time) = (self.only.clone(), self.time);
        let own = Overrides {
            rounds: self.rounds,
            budget: self.budget,
            time,
            only,
            subjects: self.subject.clone(),
            seed: self.seed,
            new_seed,
            ..Overrides::default()
        };
        read(name, &text, &vocabularies(), &testbed.over(own)?).map_err(|problems| told(&problems))
    }
}

/// A scenario of which the command line says nothing but its testbed.
#[derive(Debug)]
pub(in crate::cmd) struct Alone {
    pub(in crate::cmd) text: String,
    /// The text of the file that holds in place of its testbed; absent: none was named.
    pub(in crate::cmd) testbed: Option<String>,
    pub(in crate::cmd) plan: Plan,
}

impl Alone {
    /// Reads a file, or a built-in scenario by its name.
    pub(in crate::cmd) fn read(name: &str, testbed: &TestbedArguments) -> Result<Self, Fault> {
        let (text, asked) = (text(name)?, testbed.over(Overrides::default())?);
        let read =
            read(name, &text, &vocabularies(), &asked).map_err(|problems| told(&problems))?;
        let testbed = match asked.testbed {
            Some(TestbedChoice::File { text, .. }) => Some(text),
            _ => None,
        };
        Ok(Self { text, testbed, plan: read.plan })
    }
}

/// The text of a file, or of a built-in scenario by its name.
fn text(name: &str) -> Result<String, Fault> {
    match shipped(name) {
        Some(scenario) if !Path::new(name).is_file() => Ok(scenario.text.to_owned()),
        _ => text_file::read(
            "SCENARIO",
            name,
            &SHIPPED.iter().map(|scenario| scenario.name).collect::<Vec<_>>(),
        ),
    }
}

/// The secrets of a run that is resumed, from the scenario that began it.
/// `testbed` is what the command line says beside it.
pub(in crate::cmd) fn secrets_of(
    name: &str,
    testbed: &TestbedArguments,
    run: &RunFile,
) -> Result<Secrets, Fault> {
    let asked = testbed.over(Overrides::default())?;
    let same = || TestbedChoice::Named(run.plan.testbed.name().to_owned());
    let mut overrides = Overrides { testbed: Some(asked.testbed.unwrap_or_else(same)), ..asked };
    // A run stays in its namespace, and some testbeds need one. Others have none.
    let is_other =
        matches!(&overrides.testbed, Some(TestbedChoice::Named(name)) if name != "kubernetes");
    if let TestbedSpec::Kubernetes(folder) = &run.plan.testbed
        && overrides.cluster.namespace.is_none()
        && !is_other
    {
        overrides.cluster.namespace.clone_from(&folder.namespace);
    }
    let resolved = read(name, &text(name)?, &vocabularies(), &overrides)
        .map_err(|problems| told(&problems))?;
    if resolved.text != run.scenario {
        return Err(Fault::input(format!(
            "SCENARIO: found `{name}`, expected the scenario with which this run began, unchanged; \
             without it a new run measures the changed one"
        )));
    }
    match sends_elsewhere(&run.plan, &resolved.plan, testbed) {
        Some(what)
            if !resolved.secrets.is_empty() || testbed.has_testbed() || testbed.has_cluster() =>
        {
            Err(Fault::input(format!(
                "--resume: found {what} in the folder, expected what `{name}` says (with the same \
                 --testbed): its secrets go nowhere else, and a folder keeps its testbed; measure \
                 in a new run"
            )))
        }
        _ => Ok(resolved.secrets),
    }
}

/// The first difference by which the folder's plan would send a header elsewhere. The scenario's
/// text can be the same while the plan differs.
fn sends_elsewhere(folder: &Plan, own: &Plan, asked: &TestbedArguments) -> Option<&'static str> {
    let testbed = match (&folder.testbed, &own.testbed) {
        // No packet of a lab leaves it.
        (TestbedSpec::Lab(_), TestbedSpec::Lab(_)) if !asked.has_testbed() => true,
        // Whichever context, it is one of this user's.
        (TestbedSpec::Kubernetes(folder), TestbedSpec::Kubernetes(own)) if !asked.has_cluster() => {
            let (context, kubeconfig) = (folder.context.clone(), folder.kubeconfig.clone());
            let namespace = folder.namespace.clone();
            **folder == ClusterSpec { context, kubeconfig, namespace, ..(**own).clone() }
        }
        (folder, own) => folder == own,
    };
    let is_own = |point: &Point| {
        own.points.iter().any(|other| {
            (&point.workload, &point.server, &point.job.workload, &point.job.params)
                == (&other.workload, &other.server, &other.job.workload, &other.job.params)
        })
    };
    if !testbed {
        Some("another testbed")
    } else if folder.paths.iter().any(|path| !own.paths.contains(path)) {
        Some("another path")
    } else if folder.subjects != own.subjects {
        Some("another subject")
    } else if !folder.points.iter().all(is_own) {
        Some("another request")
    } else {
        None
    }
}
