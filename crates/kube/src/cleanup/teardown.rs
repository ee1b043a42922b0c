//! Removal of a run: its namespace, with everything in it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{DeleteParams, ListParams};
use kube::{Client, ResourceExt};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::api::access::explain;
use crate::api::client::Api;
use crate::api::create::passes;
use crate::api::labels::{self, OWNER, RUN};

/// Time limit for the removal.
const MOST: Duration = Duration::from_secs(30);
/// Pods that are still there after so long are on nodes that do not answer. No kubelet would ever
/// report their end.
const LOST: Duration = Duration::from_secs(10);
/// Time limit for an answer of the API server.
const ANSWER: Duration = Duration::from_secs(10);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(100);

/// Removes what a run made: its namespace, or its objects in one that was given to it.
pub(crate) async fn run(
    client: &Client,
    run: &str,
    namespace: &str,
    is_guest: bool,
) -> Result<(), String> {
    if is_guest {
        objects(client, run, namespace).await
    } else {
        self::namespace(client, run, namespace).await
    }
}

/// Deletes the namespace of a run with everything in it, and waits until it is gone. What is left
/// on nodes that do not answer is taken out of the API server's books, so that nothing waits for
/// them.
async fn namespace(client: &Client, run: &str, namespace: &str) -> Result<(), String> {
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

/// Deletes the objects of a run in a namespace that was given, and waits until its pods are gone.
/// The cluster's garbage collector takes all that the run's owner owns.
async fn objects(client: &Client, run: &str, namespace: &str) -> Result<(), String> {
    let by_hand = format!(
        "`hopbench kube clean --namespace {namespace} --run {run}` removes what is left of the run"
    );
    let (until, lost) = (Instant::now() + MOST, Instant::now() + LOST);
    let gone = async {
        let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
        let owners: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let ours = ListParams::default().labels(&labels::of_run(run));
        let mut seconds = 1;
        loop {
            let how = DeleteParams::default().grace_period(seconds);
            match pods.delete_collection(&how, &ours).await {
                Err(error) if !passes(&error) => {
                    return Err(format!("cannot delete the run's pods: {}", explain(&error)));
                }
                _ => {}
            }
            let left = pods.list(ours.clone()).await;
            if left.is_ok_and(|left| left.is_empty()) {
                break;
            }
            if Instant::now() >= until {
                return Err(format!("pods of the run are still there after {MOST:?}"));
            }
            seconds = u32::from(Instant::now() < lost);
            sleep(LOOK * 5).await;
        }
        // The owner goes last: by it, what is left of a run is found.
        loop {
            let found = owners.get_opt(OWNER).await;
            let is_ours =
                |owner: &ConfigMap| owner.labels().get(RUN).is_some_and(|label| label == run);
            let ended = match found {
                Ok(Some(owner)) if is_ours(&owner) => {
                    owners.delete(OWNER, &DeleteParams::background()).await
                }
                Ok(_) => return Ok(()),
                Err(error) => Err(error),
            };
            match ended {
                Ok(()) => return Ok(()),
                Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
                Err(error) if passes(&error) && Instant::now() < until => sleep(LOOK).await,
                Err(error) => {
                    return Err(format!("cannot delete ConfigMap {OWNER}: {}", explain(&error)));
                }
            }
        }
    };
    match timeout_at(until + ANSWER, gone).await {
        Ok(gone) => gone.map_err(|why| format!("namespace {namespace}: {why}; {by_hand}")),
        Err(_) => Err(format!(
            "the API server does not say whether run {run} is gone from {namespace}; {by_hand}"
        )),
    }
}

async fn remove(client: &Client, run: &str, namespace: &str, until: Instant) -> Result<(), String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let namespaces: Api<Namespace> = Api::all(client.clone());
    // The pods first: the namespace's controller would wait for each of them for longer than they
    // need.
    let ours = ListParams::default().labels(&labels::of_run(run));
    let end = |which: ListParams, seconds: u32| {
        let pods = pods.clone();
        async move {
            let how = DeleteParams::default().grace_period(seconds);
            let _ = timeout(ANSWER, pods.delete_collection(&how, &which)).await;
        }
    };
    end(ours, 1).await;
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
    // Those that controllers made for a Gateway of the run: none is made any more, and some would
    // take minutes to end.
    end(ListParams::default(), 1).await;
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
            end(ListParams::default(), 0).await;
        }
        sleep(LOOK).await;
    }
}
