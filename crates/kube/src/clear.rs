//! Taking away what a run made.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{DeleteParams, ListParams};
use kube::{Api, Client};
use tokio::time::{Instant, sleep};

use crate::access::explain;
use crate::apply::passes;
use crate::labels;

/// How long it may take.
const MOST: Duration = Duration::from_secs(30);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Deletes the namespace of a run with everything in it, and waits until it is gone.
///
/// # Errors
/// Why it is not gone, and what to do.
pub(crate) async fn namespace(client: &Client, run: &str, namespace: &str) -> Result<(), String> {
    let until = Instant::now() + MOST;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let namespaces: Api<Namespace> = Api::all(client.clone());
    // The pods first: the namespace's controller would wait for each of them for longer than they need.
    let ours = ListParams::default().labels(&labels::of_run(run));
    let _ = pods.delete_collection(&DeleteParams::default().grace_period(1), &ours).await;
    let by_hand = format!("`hopbench kube clean` or `kubectl delete namespace {namespace}` removes it");
    loop {
        match namespaces.delete(namespace, &DeleteParams::background()).await {
            Ok(_) => break,
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(()),
            // It is on its way out already.
            Err(kube::Error::Api(status)) if status.is_conflict() => break,
            Err(error) if passes(&error) && Instant::now() < until => sleep(LOOK).await,
            Err(error) => return Err(format!("cannot delete namespace {namespace}: {}; {by_hand}", explain(&error))),
        }
    }
    loop {
        let conditions = match namespaces.get_opt(namespace).await {
            Ok(None) => return Ok(()),
            Ok(Some(found)) => found.status.and_then(|status| status.conditions).unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        if Instant::now() >= until {
            let why = conditions.iter().filter(|c| c.status == "True").filter_map(|c| c.message.clone());
            let why = why.collect::<Vec<_>>().join("; ");
            return Err(format!("namespace {namespace} is still there after {MOST:?}: {why}; {by_hand} if it stays"));
        }
        sleep(LOOK).await;
    }
}
