//! Secrets of a plan: where they come from when a trial is sent to the agents.

use hopbench_model::secret::Secrets;
use hopbench_model::{Fault, Plan};

/// The value of an environment variable of the conductor, which headers like `Authorization:
/// env:TOKEN` name.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Refuses a plan with a secret that is not known: before anything is started, and not in the
/// first trial.
///
/// # Errors
/// A secret that was redacted when the run began and is not in `secrets`, or a variable that is not
/// set (input).
pub fn secrets_known(plan: &Plan, secrets: &Secrets) -> Result<(), Fault> {
    plan.points
        .iter()
        .try_for_each(|point| secrets.restored(&point.workload, &point.job, variable).map(drop))
}
