//! Garbage collection: removal of the namespaces of runs that gave no sign of life for a while.
//!
//! Everything of a run is in its namespace, and goes with it. A namespace is taken for a run's only
//! if its labels and its name say so.

use std::fmt;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::iter;
use hopbench_model::Fault;
use hopbench_model::number::long_time;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use k8s_openapi::jiff::Timestamp;
use kube::api::ListParams;
use kube::{Client, ResourceExt};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::api::access::Access;
use crate::api::client::Api;
use crate::api::labels::{self, OWNER, RUN};
use crate::api::names;
use crate::cleanup::heartbeat;
pub use crate::cleanup::heartbeat::DEAD_AFTER;
use crate::cleanup::teardown;

/// The number of namespaces that are removed at the same time.
const AT_ONCE: usize = 8;
/// Time limit for a starting run to look for dead ones.
const GLANCE: Duration = Duration::from_secs(5);

/// The choice of runs to remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanupScope {
    /// Only this run, by its name or its namespace, alive or not; absent: all.
    pub run: Option<String>,
    /// Runs that gave no sign for at least so long. Zero takes those that run, too.
    pub silent_for: Duration,
    /// Only in this namespace, which was given to runs; absent: the namespaces that runs made.
    pub namespace: Option<String>,
    /// Only say what would be removed.
    pub dry_run: bool,
}

impl Default for CleanupScope {
    /// All dead runs.
    fn default() -> Self {
        Self { run: None, silent_for: DEAD_AFTER, namespace: None, dry_run: false }
    }
}

impl CleanupScope {
    /// The outcome for a run that gave no sign for so long.
    fn outcome(&self, silent_for: Duration) -> CleanupOutcome {
        if self.run.is_some() || silent_for >= self.silent_for {
            CleanupOutcome::WouldBeRemoved
        } else {
            CleanupOutcome::Alive
        }
    }
}

/// A run that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRun {
    /// Its name.
    pub run: String,
    /// Its namespace.
    pub namespace: String,
    /// Whether the namespace was given to the run: then it stays, and only the run's objects go.
    pub is_guest: bool,
    /// For how long it gave no sign.
    pub silent_for: Duration,
    /// The outcome.
    pub outcome: CleanupOutcome,
}

/// The outcome for a run that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CleanupOutcome {
    /// It is gone, with everything in it.
    Removed,
    /// It would have been removed.
    WouldBeRemoved,
    /// It stays: it gave a sign not long ago.
    Alive,
    /// It could not be removed, and why.
    Failed(String),
}

/// `namespace hopbench-x: removed (no sign of its run for 3 min)`
impl fmt::Display for FoundRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let silent = long_time(self.silent_for.as_secs());
        write!(f, "namespace {}: ", self.namespace)?;
        if self.is_guest {
            write!(f, "objects of run {} ", self.run)?;
        }
        match &self.outcome {
            CleanupOutcome::Removed => write!(f, "removed (no sign of its run for {silent})"),
            CleanupOutcome::WouldBeRemoved => {
                write!(f, "would be removed (no sign of its run for {silent})")
            }
            CleanupOutcome::Alive => write!(
                f,
                "left alone, its run gave a sign {silent} ago; it may go {} min after the last \
                 one, or now by `--run {}`",
                DEAD_AFTER.as_secs() / 60,
                self.run
            ),
            CleanupOutcome::Failed(why) => write!(f, "{why}"),
        }
    }
}

/// Removes what `sweep` says, and waits until it is gone: at most 30 s for each, eight at a time.
///
/// # Errors
/// The API server does not say what there is. What cannot be removed is a [`CleanupOutcome`].
pub fn clean(access: &Access, sweep: &CleanupScope) -> Result<Vec<FoundRun>, Fault> {
    let meant = access.ask("the namespaces of runs", found(&access.client, sweep))?;
    if let (Some(run), Some(namespace), true) = (&sweep.run, &sweep.namespace, meant.is_empty()) {
        let text = format!("--run: found no objects of run `{run}` in namespace `{namespace}`");
        return Err(Fault::input(text));
    }
    if let (Some(run), true) = (&sweep.run, meant.is_empty()) {
        let all = access
            .ask("the namespaces of runs", found(&access.client, &CleanupScope::default()))?;
        let all: Vec<&str> = all.iter().map(|swept| swept.run.as_str()).collect();
        let known = if all.is_empty() {
            "there is none".to_owned()
        } else {
            format!("one of {}", all.join(", "))
        };
        let namespace = names::namespace(names::run_of(run));
        let text = format!(
            "--run: found no namespace `{namespace}` of a run, expected the name of one: {known}"
        );
        return Err(Fault::input(text));
    }
    let done = iter(meant).map(|mut swept| async {
        if swept.outcome == CleanupOutcome::WouldBeRemoved && !sweep.dry_run {
            let FoundRun { run, namespace, is_guest, .. } = &swept;
            let removed = teardown::run(&access.client, run, namespace, *is_guest).await;
            swept.outcome = match removed {
                Ok(()) => CleanupOutcome::Removed,
                Err(why) => CleanupOutcome::Failed(why),
            };
        }
        swept
    });
    Ok(access.runtime.block_on(done.buffered(AT_ONCE).collect()))
}

/// Makes room for a run in a namespace that was given: what a dead run left there is removed first.
///
/// # Errors
/// A run that lives is there, or an object of others has the name of the owner.
pub(crate) fn vacate(access: &Access, namespace: &str) -> Result<(), Fault> {
    let all = CleanupScope { namespace: Some(namespace.to_owned()), ..CleanupScope::default() };
    for found in clean(access, &all)? {
        match &found.outcome {
            CleanupOutcome::Alive => {
                return Err(Fault::environment(format!(
                    "namespace {namespace} has run {}, which gave a sign {} ago: wait until it is \
                     done, or `hopbench kube clean --namespace {namespace} --run {}`",
                    found.run,
                    long_time(found.silent_for.as_secs()),
                    found.run
                )));
            }
            CleanupOutcome::Failed(why) => return Err(Fault::environment(why.clone())),
            CleanupOutcome::Removed | CleanupOutcome::WouldBeRemoved => {}
        }
    }
    Ok(())
}

/// The run in a namespace that was given to it; a run has it for itself while it lasts.
async fn guest(
    client: &Client,
    namespace: &str,
    sweep: &CleanupScope,
) -> kube::Result<Vec<FoundRun>> {
    let owners: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let Some(owner) = owners.get_opt(OWNER).await? else { return Ok(Vec::new()) };
    let labels = owner.labels();
    let (key, value) = labels::MANAGED_BY;
    let is_ours = labels.get(key).is_some_and(|found| found == value);
    let Some(run) = labels.get(RUN).filter(|_| is_ours).cloned() else { return Ok(Vec::new()) };
    if sweep.run.as_deref().is_some_and(|wanted| names::run_of(wanted) != run) {
        return Ok(Vec::new());
    }
    let created = owner.creation_timestamp().map(|created| created.0);
    let silent_for = silence(heartbeat::now(client).await?, created, heartbeat::sign(&owner));
    let outcome = sweep.outcome(silent_for);
    let namespace = namespace.to_owned();
    Ok(vec![FoundRun { run, namespace, is_guest: true, silent_for, outcome }])
}

/// Begins to remove what dead runs left, in the background; a sentence for each. Never waits for
/// long, and never touches a run that lives.
pub(crate) async fn leftovers(runtime: &Handle, client: &Client) -> Vec<String> {
    // A user that may not list namespaces leaves only its own behind.
    let Ok(Ok(found)) = timeout(GLANCE, found(client, &CleanupScope::default())).await else {
        return Vec::new();
    };
    let dead = found.into_iter().filter(|swept| swept.outcome == CleanupOutcome::WouldBeRemoved);
    dead.map(|swept| {
        let text = format!("removing namespace {}: its run is dead", swept.namespace);
        let client = client.clone();
        runtime.spawn(async move {
            teardown::run(&client, &swept.run, &swept.namespace, swept.is_guest).await
        });
        text
    })
    .collect()
}

/// The runs that there are, with what is to be done about them.
async fn found(client: &Client, sweep: &CleanupScope) -> kube::Result<Vec<FoundRun>> {
    if let Some(namespace) = &sweep.namespace {
        return guest(client, namespace, sweep).await;
    }
    let selector = match &sweep.run {
        Some(run) => format!("{},{}", labels::of_all(), labels::of_run(names::run_of(run))),
        None => format!("{},{RUN}", labels::of_all()),
    };
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let listed = namespaces.list(ListParams::default().labels(&selector)).await?;
    let now = heartbeat::now(client).await?;
    let mut found = Vec::new();
    for namespace in listed {
        let (name, run) =
            (namespace.name_any(), namespace.labels().get(RUN).cloned().unwrap_or_default());
        if name != names::namespace(&run) {
            continue;
        }
        let owners: Api<ConfigMap> = Api::namespaced(client.clone(), &name);
        let sign = owners.get_opt(OWNER).await?.and_then(|owner| heartbeat::sign(&owner));
        let silent_for =
            silence(now, namespace.creation_timestamp().map(|created| created.0), sign);
        let outcome = sweep.outcome(silent_for);
        found.push(FoundRun { run, namespace: name, is_guest: false, silent_for, outcome });
    }
    Ok(found)
}

/// The time since the last sign of life. The creation of the namespace counts as one: a run that
/// just begins has no other.
fn silence(now: Timestamp, created: Option<Timestamp>, sign: Option<Timestamp>) -> Duration {
    let last = created.max(sign);
    last.map_or(Duration::MAX, |last| {
        Duration::try_from(now.duration_since(last)).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sign_counts() {
        let at = |seconds: i64| Timestamp::from_second(seconds).unwrap();
        let silent = |created: Option<i64>, sign: Option<i64>| {
            silence(at(1_000), created.map(at), sign.map(at)).as_secs()
        };
        assert_eq!(silent(Some(100), Some(990)), 10);
        assert_eq!(silent(Some(995), None), 5, "a run that just begins");
        assert_eq!(silent(Some(100), None), 900);
        assert_eq!(silent(Some(100), Some(1_003)), 0, "whole seconds may be ahead");
        assert_eq!(silence(at(0), None, None), Duration::MAX);
    }

    #[test]
    fn what_became_of_a_run_is_said() {
        let said = |seconds, outcome| {
            let swept = FoundRun {
                run: "x".into(),
                namespace: "hopbench-x".into(),
                is_guest: false,
                silent_for: Duration::from_secs(seconds),
                outcome,
            };
            swept.to_string()
        };
        assert_eq!(
            said(180, CleanupOutcome::Removed),
            "namespace hopbench-x: removed (no sign of its run for 3 min)"
        );
        let alive = "namespace hopbench-x: left alone, its run gave a sign 9 s ago; it may go 2 \
                     min after the last one, or now by `--run x`";
        assert_eq!(said(9, CleanupOutcome::Alive), alive);
        assert!(
            said(7200, CleanupOutcome::WouldBeRemoved)
                .contains("would be removed (no sign of its run for 2 h)")
        );
    }
}
