//! Secret headers of a plan: where their values come from when a trial is sent to the agents.

use hopbench_model::secret::SecretHeaders;
use hopbench_model::{Fault, Plan};

/// The value of an environment variable of the conductor, which headers like `Authorization:
/// env:TOKEN` name.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Refuses a plan with a header whose value is not known: before anything is started, and not in
/// the first trial.
///
/// # Errors
/// A value that was redacted when the run began and is not in `secrets`, or a variable that is not
/// set (input).
pub fn headers_known(plan: &Plan, secrets: &SecretHeaders) -> Result<(), Fault> {
    plan.points
        .iter()
        .try_for_each(|point| secrets.restored(&point.workload, &point.job, variable).map(drop))
}
