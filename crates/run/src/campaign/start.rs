//! What a run says of itself.

use std::collections::BTreeMap;

use hopbench_control::secret::random_bytes;
use hopbench_model::{Fault, Plan, RUN_SCHEMA, RunFile, RunStatus};
use hopbench_sys::clock;
use hopbench_wire::Hello;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Facts whose change between a run and its resumption makes the rounds less alike.
const TELLING: &[&str] = &["hostname", "kernel", "cpu_model", "version", "commit"];

/// The moment, UTC, RFC 3339.
pub(super) fn now() -> String {
    (OffsetDateTime::UNIX_EPOCH + clock::wall()).format(&Rfc3339).unwrap_or_default()
}

/// A new run of `plan`, whose scenario was written as `scenario`, on the machine that `ours` describes.
///
/// # Errors
/// A kernel without random numbers.
pub fn new_run(plan: Plan, scenario: String, ours: &Hello) -> Result<RunFile, Fault> {
    let random = random_bytes().map_err(|e| Fault::environment(format!("no random numbers: {e}")))?;
    let run_id = random[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(RunFile {
        schema: RUN_SCHEMA.to_owned(),
        run_id,
        status: RunStatus::Running,
        started_at: now(),
        ended_at: None,
        plan,
        scenario,
        environment: environment(ours),
        testbed: BTreeMap::new(),
        failures: Vec::new(),
        skipped: Vec::new(),
    })
}

fn environment(ours: &Hello) -> BTreeMap<String, String> {
    let mut facts = ours.machine.clone();
    // This process is nobody's end.
    facts.remove("pid");
    facts.remove("netns");
    facts.insert("version".to_owned(), ours.version.clone());
    facts.insert("commit".to_owned(), ours.commit.clone());
    facts
}

/// What is different now from when the run began, in sentences.
pub(super) fn differences(run: &RunFile, ours: &Hello) -> Vec<String> {
    let here = environment(ours);
    let unknown = String::from("unknown");
    let of = |facts: &BTreeMap<String, String>, name: &str| facts.get(name).unwrap_or(&unknown).clone();
    TELLING
        .iter()
        .map(|name| (name, of(&run.environment, name), of(&here, name)))
        .filter(|(_, then, now)| then != now)
        .map(|(name, then, now)| format!("resumed with another {name}: it was {then}, now it is {now}"))
        .collect()
}
