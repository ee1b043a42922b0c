//! The pods of a run in its namespace: looking at them, waiting for them, removing them.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use futures::future::join_all;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams, WatchEvent, WatchParams};
use tokio::time::{Instant, sleep, timeout_at};

use crate::api::client::Api;
use crate::api::create::passes;
use crate::api::labels;
use crate::provision::pod_diagnosis::{self, State};

/// Polling interval for patience while nothing is heard.
const LOOK: Duration = Duration::from_millis(500);

/// The time that a question may take beyond the pods' own.
const LATE: Duration = Duration::from_secs(10);

/// The error for an API server that takes a question and does not answer.
fn silent() -> kube::Error {
    kube::Error::Service("the API server does not answer".into())
}

/// The pods of a run in its namespace.
#[derive(Clone)]
pub(crate) struct Pods {
    pub(crate) pods: Api<Pod>,
    pub(crate) events: Api<Event>,
    run: String,
}

impl Pods {
    pub(crate) fn new(client: &kube::Client, run: &labels::RunIdentity) -> Self {
        Self {
            pods: Api::namespaced(client.clone(), &run.namespace),
            events: Api::namespaced(client.clone(), &run.namespace),
            run: run.name.clone(),
        }
    }

    fn selector(&self) -> String {
        labels::of_run(&self.run)
    }

    /// The same; an API server that is away is waited for until `until`.
    pub(crate) async fn now_until(&self, until: Instant) -> kube::Result<BTreeMap<String, Pod>> {
        loop {
            match self.now().await {
                Err(error) if passes(&error) && Instant::now() + LOOK < until => sleep(LOOK).await,
                answer => return answer,
            }
        }
    }

    /// The pods as they are now, by name.
    pub(crate) async fn now(&self) -> kube::Result<BTreeMap<String, Pod>> {
        let all = self.pods.list(ListParams::default().labels(&self.selector())).await?;
        Ok(all.into_iter().map(|pod| (pod.name_any(), pod)).collect())
    }

    /// Waits until each of these pods is ready or nothing helps any more, at most until `until`.
    /// The pods as they are then.
    pub(crate) async fn wait(
        &self,
        names: &BTreeSet<String>,
        until: Instant,
    ) -> kube::Result<BTreeMap<String, Pod>> {
        let mut since = BTreeMap::new();
        loop {
            let watched = match timeout_at(until + LATE, self.watch(names, &mut since, until)).await
            {
                Ok(watched) => watched,
                Err(_) => Err(silent()),
            };
            match watched {
                // The server ended the watch, or forgot what happened since: it is asked for
                // everything again.
                Ok(None) => {}
                Ok(Some(pods)) => return Ok(pods),
                Err(error) if passes(&error) && Instant::now() < until => {}
                Err(kube::Error::Api(status)) if status.code == 410 && Instant::now() < until => {}
                Err(error) => return Err(error),
            }
            sleep(LOOK.min(until.saturating_duration_since(Instant::now()))).await;
        }
    }

    async fn watch(
        &self,
        names: &BTreeSet<String>,
        since: &mut BTreeMap<String, Instant>,
        until: Instant,
    ) -> kube::Result<Option<BTreeMap<String, Pod>>> {
        let (listed, version) =
            self.pods.list_with_version(ListParams::default().labels(&self.selector())).await?;
        let mut known: BTreeMap<String, Pod> =
            listed.into_iter().map(|pod| (pod.name_any(), pod)).collect();
        let params = WatchParams::default().labels(&self.selector());
        let mut changes = pin!(self.pods.watch(&params, &version).await?);
        loop {
            if Instant::now() >= until || self.is_over(names, &known, since).await {
                return Ok(Some(known));
            }
            let look = (Instant::now() + LOOK).min(until);
            match timeout_at(look, changes.try_next()).await {
                Err(_) => {}
                Ok(change) => match change? {
                    Some(WatchEvent::Added(pod) | WatchEvent::Modified(pod)) => {
                        known.insert(pod.name_any(), pod);
                    }
                    Some(WatchEvent::Deleted(pod)) => {
                        known.remove(&pod.name_any());
                    }
                    Some(WatchEvent::Bookmark(_)) => {}
                    Some(WatchEvent::Error(_)) | None => return Ok(None),
                },
            }
        }
    }

    /// Whether there is no pod left to wait for.
    async fn is_over(
        &self,
        names: &BTreeSet<String>,
        known: &BTreeMap<String, Pod>,
        since: &mut BTreeMap<String, Instant>,
    ) -> bool {
        let mut over = true;
        let mut homeless = Vec::new();
        for name in names {
            let Some(pod) = known.get(name) else { continue };
            match pod_diagnosis::state(pod) {
                State::Ready => {
                    since.remove(name);
                }
                State::Starting(_) => {
                    since.remove(name);
                    over = false;
                }
                State::Stuck(trouble) => {
                    let began = *since.entry(name.clone()).or_insert_with(Instant::now);
                    over &= began.elapsed() >= trouble.patience();
                    if trouble.reason == "Unschedulable" {
                        homeless.push(name);
                    }
                }
            }
        }
        if over && !homeless.is_empty() {
            let events = self.events().await;
            return !homeless.iter().any(|name| pod_diagnosis::is_being_helped(name, &events));
        }
        over
    }

    /// Deletes pods, and waits until their names are free.
    pub(crate) async fn remove(
        &self,
        dead: impl Iterator<Item = &Pod>,
        until: Instant,
    ) -> kube::Result<()> {
        let names: BTreeSet<String> = dead.map(ResourceExt::name_any).collect();
        if names.is_empty() {
            return Ok(());
        }
        let now = DeleteParams::default().grace_period(1);
        loop {
            // Again each time: an API server that was away has heard nothing.
            let _ = join_all(names.iter().map(|name| self.pods.delete(name, &now))).await;
            let all = self.now_until(until).await?;
            if !all.keys().any(|name| names.contains(name)) || Instant::now() >= until {
                return Ok(());
            }
            sleep(LOOK).await;
        }
    }

    /// The events of the namespace; none if they cannot be listed.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.events.list(ListParams::default()).await.unwrap_or_default()
    }
}

impl std::fmt::Debug for Pods {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pods").field("run", &self.run).finish_non_exhaustive()
    }
}
