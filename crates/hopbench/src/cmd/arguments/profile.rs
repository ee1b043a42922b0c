//! `--profile`: the cells that are profiled.

use clap::Args;
use hopbench_meter::profile::Access;
use hopbench_model::{Fault, Plan, TestbedSpec};
use hopbench_run::Profiling;

/// Which cells.
#[derive(Debug, Args)]
pub(in crate::cmd) struct ProfileArgument {
    /// When all is measured, profile these cells in an extra trial each: flame graphs of the ends,
    /// proxies and softirqs. * is any name; without a value all paths and workloads, at most 16.
    /// Only in the lab
    #[arg(
        long,
        value_name = "PATH/WORKLOAD",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ','
    )]
    profile: Option<Vec<String>>,
}

impl ProfileArgument {
    /// Whether any are asked for.
    pub(in crate::cmd) fn is_given(&self) -> bool {
        self.profile.is_some()
    }

    /// The cells of a plan that are profiled, as far as the testbed allows it. `access` is what the
    /// kernel allows.
    pub(in crate::cmd) fn of(
        &self,
        plan: &Plan,
        access: impl FnOnce() -> Result<Access, String>,
    ) -> Result<Option<Profiling>, Fault> {
        let Some(cells) = &self.profile else { return Ok(None) };
        let testbed = plan.testbed.name();
        if !matches!(plan.testbed, TestbedSpec::Lab(_)) {
            return Err(Fault::input(format!(
                "--profile: found the testbed `{testbed}`, expected `lab`: only there are the ends \
                 and proxies processes of this machine"
            )));
        }
        Profiling::of(plan, cells, access).map(Some)
    }
}
