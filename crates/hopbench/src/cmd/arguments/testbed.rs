//! `--testbed`, `--context`, `--kubeconfig` and `--namespace`: where a scenario runs.

use clap::{Args, Command};
use hopbench_model::{Fault, TestbedSpec};
use hopbench_scenario::{
    ClusterOverrides, Overrides, ScenarioProblem, TestbedChoice, read_testbed,
};

use super::text_file;
use crate::testbeds::TESTBEDS;

/// Where a scenario runs, instead of where it says.
#[derive(Debug, Default, Args)]
pub(in crate::cmd) struct TestbedArguments {
    /// Where it runs: lab, kubernetes or hosts, with the scenario's settings for it, else with
    /// default ones. Or a YAML file with what would be under `testbed:`, in place of that [default:
    /// the scenario's first]
    #[arg(long, value_name = "NAME|FILE")]
    testbed: Option<String>,
    /// Context of the kubeconfig, instead of the scenario's; for the testbed kubernetes. The
    /// kubeconfig is that of kubectl: KUBECONFIG says which
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// File of the kubeconfig, in place of the usual one; for the testbed kubernetes
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<String>,
    /// Namespace that exists, for all objects of the run; for the testbed kubernetes. Without it a
    /// run makes one of its own
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
}

impl TestbedArguments {
    /// `--testbed lab`.
    pub(in crate::cmd) fn lab() -> Self {
        Self { testbed: Some("lab".to_owned()), ..Self::default() }
    }

    /// This `--testbed`, or `kubernetes`, and this `--namespace`.
    pub(in crate::cmd) fn cluster_of(testbed: Option<String>, namespace: Option<String>) -> Self {
        let testbed = testbed.unwrap_or_else(|| "kubernetes".to_owned());
        Self { testbed: Some(testbed), namespace, ..Self::default() }
    }

    /// The flags for a command that takes no scenario.
    pub(in crate::cmd) fn alone(command: Command) -> Command {
        Self::augment_args(command)
            .mut_arg("testbed", |arg| {
                arg.help(
                    "lab or kubernetes, or a YAML file with what would be under `testbed:` \
                     [default: lab]",
                )
            })
            .mut_arg("context", |arg| {
                arg.help("Context of the kubeconfig [default: its current one]")
            })
            .mut_arg("kubeconfig", |arg| {
                arg.help("File of the kubeconfig [default: as for kubectl]")
            })
            .mut_arg("namespace", |arg| {
                arg.help(
                    "Namespace that exists, for all objects of runs [default: one of each run's \
                     own]",
                )
            })
    }

    /// Adds what was asked for.
    pub(in crate::cmd) fn over(&self, overrides: Overrides) -> Result<Overrides, Fault> {
        Ok(Overrides { testbed: self.choice()?, cluster: self.cluster(), ..overrides })
    }

    /// The testbed that was asked for without a scenario; a lab where none was.
    pub(in crate::cmd) fn spec(&self) -> Result<TestbedSpec, Fault> {
        let choice = self.choice()?.unwrap_or_else(|| TestbedChoice::Named("lab".to_owned()));
        read_testbed(&choice, &self.cluster()).map_err(|problems| told(&problems))
    }

    /// Whether the command line names a testbed.
    pub(in crate::cmd) fn has_testbed(&self) -> bool {
        self.testbed.is_some()
    }

    /// Whether the command line says how to reach the cluster.
    pub(in crate::cmd) fn has_cluster(&self) -> bool {
        self.cluster() != ClusterOverrides::default()
    }

    fn cluster(&self) -> ClusterOverrides {
        ClusterOverrides {
            context: self.context.clone(),
            kubeconfig: self.kubeconfig.clone(),
            namespace: self.namespace.clone(),
        }
    }

    /// Refuses them all: a folder that is resumed has its testbed.
    pub(in crate::cmd) fn unasked(&self) -> Result<(), Fault> {
        let testbed = self.testbed.as_deref().map(|found| ("--testbed", found));
        let cluster = self.cluster();
        let of_cluster = cluster.said().map(|(flag, found, _)| (flag, found));
        match testbed.into_iter().chain(of_cluster).next() {
            None => Ok(()),
            Some((flag, found)) => Err(Fault::input(format!(
                "{flag}: found `{found}` with --resume, expected it only beside the SCENARIO: the \
                 folder has its testbed"
            ))),
        }
    }

    fn choice(&self) -> Result<Option<TestbedChoice>, Fault> {
        let known: Vec<&str> = TESTBEDS.iter().map(|(name, _)| *name).collect();
        let choice = |name: &String| {
            if known.contains(&name.as_str()) {
                return Ok(TestbedChoice::Named(name.clone()));
            }
            let text = text_file::read("--testbed", name, &known)?;
            Ok(TestbedChoice::File { name: name.clone(), text })
        };
        self.testbed.as_ref().map(choice).transpose()
    }
}

/// All that is wrong, a line each.
pub(in crate::cmd) fn told(problems: &[ScenarioProblem]) -> Fault {
    Fault::input(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
