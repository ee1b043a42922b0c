//! `--testbed` and `--context`: where a scenario runs.

use clap::Args;
use hopbench_model::Fault;
use hopbench_scenario::{Overrides, TestbedChoice};

use super::text_file;
use crate::testbeds::TESTBEDS;

/// Where a scenario runs, instead of where it says.
#[derive(Debug, Default, Args)]
pub(super) struct TestbedArguments {
    /// Where it runs: lab, kubernetes or hosts, as the scenario says it or as usual; or a YAML file with what would be
    /// under `testbed:`, in place of that [default: the scenario's first]
    #[arg(long, value_name = "NAME|FILE")]
    testbed: Option<String>,
    /// Context of the kubeconfig, instead of the scenario's; for the testbed kubernetes. Which kubeconfig, KUBECONFIG
    /// says, as to kubectl
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl TestbedArguments {
    /// `--testbed lab`.
    pub(super) fn lab() -> Self {
        Self { testbed: Some("lab".to_owned()), context: None }
    }

    /// Adds what was asked for.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(super) fn over(&self, overrides: Overrides) -> Result<Overrides, Fault> {
        let known: Vec<&str> = TESTBEDS.iter().map(|(name, _)| *name).collect();
        let choice = |name: &String| match known.contains(&name.as_str()) {
            true => Ok(TestbedChoice::Named(name.clone())),
            false => {
                let text = text_file::read("--testbed", name, &known)?;
                Ok(TestbedChoice::File { name: name.clone(), text })
            }
        };
        let testbed = self.testbed.as_ref().map(choice).transpose()?;
        Ok(Overrides { testbed, context: self.context.clone(), ..overrides })
    }
}
