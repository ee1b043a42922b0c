//! The heartbeat of a run: the sign of life by which it is told from a dead one.
//!
//! The owner of all objects of a run has an annotation with the time, which the conductor renews.
//! The times are the API server's: the clocks of the users' machines need not agree.

use std::time::Duration;

use hopbench_sys::clock;
use http::Request;
use http::header::DATE;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::rfc2822;
use kube::api::{Patch, PatchParams};
use kube::client::Body;
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::api::client::Api;
use crate::api::labels::OWNER;

/// The annotation.
const RENEWED: &str = "hopbench.dev/renewed";
/// The interval of renewals.
const EVERY: Duration = Duration::from_secs(20);
/// Time limit for one renewal.
const PATIENCE: Duration = Duration::from_secs(10);

/// The run that has not given a sign for so long is dead.
pub const DEAD_AFTER: Duration = Duration::from_secs(120);

/// Renews a run's sign until it is dropped.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    task: AbortHandle,
}

impl Heartbeat {
    /// Begins on `runtime`, for the run in `namespace`. Its owner stands already.
    pub(crate) fn start(runtime: &Handle, client: &Client, namespace: &str) -> Self {
        let client = client.clone();
        let owners: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let task = runtime.spawn(async move {
            loop {
                // What fails is tried again in time: an API server that restarts is no end of a
                // run.
                let _ = timeout(PATIENCE, renew(&client, &owners)).await;
                sleep(EVERY).await;
            }
        });
        Self { task: task.abort_handle() }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn renew(client: &Client, owners: &Api<ConfigMap>) -> kube::Result<()> {
    let now = now(client).await?;
    let patch = json!({"metadata": {"annotations": {RENEWED: now.to_string()}}});
    owners.patch(OWNER, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}

/// The API server's time, with whole seconds; where something between here and there takes it away,
/// this machine's.
pub(crate) async fn now(client: &Client) -> kube::Result<Timestamp> {
    let request = Request::get("/version").body(Body::empty()).map_err(kube::Error::HttpError)?;
    let answer = client.send(request).await?;
    let date = answer.headers().get(DATE).and_then(|date| date.to_str().ok());
    let told = date.and_then(|date| rfc2822::parse(date).ok()).map(|date| date.timestamp());
    Ok(told.unwrap_or_else(here))
}

/// This machine's time, with whole seconds.
fn here() -> Timestamp {
    let seconds = i64::try_from(clock::wall().as_secs()).unwrap_or_default();
    Timestamp::from_second(seconds).unwrap_or_default()
}

/// The last sign that the owner of a run shows; absent: it gave none.
pub(crate) fn sign(owner: &ConfigMap) -> Option<Timestamp> {
    owner.annotations().get(RENEWED)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_a_time_in_an_annotation() {
        let with = |text: &str| {
            let mut owner = ConfigMap::default();
            owner.annotations_mut().insert(RENEWED.to_owned(), text.to_owned());
            sign(&owner)
        };
        let date = rfc2822::parse("Sat, 21 Nov 2026 16:21:36 GMT").unwrap().timestamp();
        assert_eq!(with("2026-11-21T16:21:36Z"), Some(date));
        assert_eq!(with(&date.to_string()), Some(date));
        assert_eq!(with("yesterday"), None);
        assert_eq!(sign(&ConfigMap::default()), None);
    }
}
