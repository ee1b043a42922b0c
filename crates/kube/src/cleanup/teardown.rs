//! Removal of a run: its namespace, with everything in it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Client;
use kube::api::{DeleteParams, ListParams};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::api::access::explain;
use crate::api::client::Api;
use crate::api::create::passes;
use crate::api::labels;

/// Time limit for the removal.
const MOST: Duration = Duration::from_secs(30);
/// Pods that are still there after so long are on nodes that do not answer. No kubelet would ever
/// report their end.
const LOST: Duration = Duration::from_secs(10);
/// Time limit for an answer of the API server.
const ANSWER: Duration = Duration::from_secs(10);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Deletes the namespace of a run with everything in it, and waits until it is gone. What is left
/// on nodes that do not answer is taken out of the API server's books, so that nothing waits for
/// them.
pub(crate) async fn namespace(client: &Client, run: &str, namespace: &str) -> Result<(), String> {
    let until = Instant::now() + MOST;
    let by_hand =
        format!("`hopbench kube clean` or `kubectl delete namespace {namespace}` removes it");
    match timeout_at(until + ANSWER, remove(client, run, namespace, until)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => Err(format!("{why}; {by_hand}")),
        Err(_) => Err(format!(
            "the API server does not say whether namespace {namespace} is gone; {by_hand}"
        )),
    }
}

async fn remove(client: &Client, run: &str, namespace: &str, until: Instant) -> Result<(), String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let namespaces: Api<Namespace> = Api::all(client.clone());
    // The pods first: the namespace's controller would wait for each of them for longer than they
    // need.
    let ours = ListParams::default().labels(&labels::of_run(run));
    let end = |seconds: u32| {
        let (pods, ours) = (pods.clone(), ours.clone());
        async move {
            let how = DeleteParams::default().grace_period(seconds);
            let _ = timeout(ANSWER, pods.delete_collection(&how, &ours)).await;
        }
    };
    end(1).await;
    let mut lost = Some(Instant::now() + LOST);
    loop {
        match namespaces.delete(namespace, &DeleteParams::background()).await {
            Ok(_) => break,
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
            // It is on its way out already.
            Err(kube::Error::Api(status)) if status.is_conflict() => break,
            Err(error) if passes(&error) && Instant::now() < until => sleep(LOOK).await,
            Err(error) => {
                return Err(format!("cannot delete namespace {namespace}: {}", explain(&error)));
            }
        }
    }
    loop {
        let conditions = match namespaces.get_opt(namespace).await {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => {
                found.status.and_then(|status| status.conditions).unwrap_or_default()
            }
            Err(_) => Vec::new(),
        };
        if Instant::now() >= until {
            let why =
                conditions.iter().filter(|c| c.status == "True").filter_map(|c| c.message.clone());
            let why = why.collect::<Vec<_>>().join("; ");
            return Err(format!("namespace {namespace} is still there after {MOST:?}: {why}"));
        }
        if lost.is_some_and(|lost| Instant::now() >= lost) {
            lost = None;
            // Their kubelets end them when they are back: agents have nothing that could be lost.
            end(0).await;
        }
        sleep(LOOK).await;
    }
}
