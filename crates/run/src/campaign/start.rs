//! The facts of a run at its start: build, time, differences to earlier sessions.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_control::secret::random_bytes;
use hopbench_model::{Fault, Plan, RUN_SCHEMA, RunFile, RunStatus};
use hopbench_sys::clock;
use hopbench_wire::Hello;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Facts whose change between a run and its resumption makes the rounds less alike.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "hostname", "boot_id", "kernel", "cpu_model", "cpu_count", "cpu_governor", "version", "commit",
];
/// Of a testbed that changed, so many facts are told.
const MOST_FACTS: usize = 5;

/// The moment, UTC, RFC 3339.
pub(super) fn now() -> String {
    (OffsetDateTime::UNIX_EPOCH + clock::wall()).format(&Rfc3339).unwrap_or_default()
}

/// A new run of `plan`, whose scenario was written as `scenario`, on the machine that `ours`
/// describes.
///
/// # Errors
/// A kernel without random numbers.
pub fn new_run(plan: Plan, scenario: String, ours: &Hello) -> Result<RunFile, Fault> {
    let random =
        random_bytes().map_err(|e| Fault::environment(format!("no random numbers: {e}")))?;
    let run_id = random[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(RunFile {
        schema: RUN_SCHEMA.to_owned(),
        run_id,
        status: RunStatus::Running,
        session: 1,
        started_at: now(),
        ended_at: None,
        plan,
        scenario,
        environment: environment(ours),
        testbed: BTreeMap::new(),
        failures: Vec::new(),
        skipped: Vec::new(),
        spent_ns: 0,
        shared: Default::default(),
        spared_trials: 0,
        notes: Vec::new(),
        stopped: Vec::new(),
    })
}

fn environment(ours: &Hello) -> BTreeMap<String, String> {
    let mut facts = ours.machine.clone();
    // This process is nobody's end.
    facts.remove("pid");
    facts.remove("netns");
    facts.insert("boot_id".to_owned(), ours.boot_id.clone());
    facts.insert("version".to_owned(), ours.version.clone());
    facts.insert("commit".to_owned(), ours.commit.clone());
    facts
}

/// Refuses to go on with a run that another build of hopbench began: its figures may differ for
/// that reason alone.
///
/// # Errors
/// Another version, or another commit (input).
pub fn same_build(run: &RunFile, ours: &Hello) -> Result<(), Fault> {
    let of = |name| run.environment.get(name).map_or("unknown", String::as_str);
    let (version, commit) = (of("version"), of("commit"));
    if (version, commit) == (&*ours.version, &*ours.commit) {
        return Ok(());
    }
    Err(Fault::input(format!(
        "--resume: hopbench {version} (commit {commit}) began this run, and this is hopbench {} \
         (commit {}). What was changed between them may change figures. Use the one that began it, \
         start a new run, or mix them with --resume-anyway",
        ours.version, ours.commit
    )))
}

/// The differences from when the run began, in sentences.
pub(super) fn differences(run: &RunFile, ours: &Hello) -> Vec<String> {
    let here = environment(ours);
    let changed = TELLING.iter().filter_map(|name| change(name, &run.environment, &here));
    changed.map(|change| format!("resumed with another {change}")).collect()
}

/// The difference of a testbed from when it was built before, as a sentence; `None`:
/// nothing, or it never was.
pub(super) fn rebuilt(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Option<String> {
    if before.is_empty() {
        return None;
    }
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let changed: Vec<String> =
        names.into_iter().filter_map(|name| change(name, before, now)).collect();
    let told = changed.get(..MOST_FACTS).unwrap_or(&changed).join(", ");
    let more = match changed.len().saturating_sub(MOST_FACTS) {
        0 => String::new(),
        more => format!(", and {more} facts more"),
    };
    (!changed.is_empty())
        .then(|| format!("resumed on a testbed that is not as it was: {told}{more}"))
}

/// `kernel (it was 6.1, now it is 6.2)`.
fn change(
    name: &str,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Option<String> {
    let of = |facts: &BTreeMap<String, String>| {
        facts.get(name).map_or("unknown", String::as_str).to_owned()
    };
    let (before, now) = (of(before), of(now));
    (before != now).then(|| format!("{name} (it was {before}, now it is {now})"))
}
