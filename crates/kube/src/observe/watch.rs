//! Watches over the objects of the cluster that may change while trials run: pods, endpoints,
//! nodes, scalers, events.
//!
//! Watches run in the background from the start and note every change in words, also those that
//! undo themselves between two questions. A connection that was lost is made again, and what
//! changed meanwhile is found by comparing.

mod change;
mod deployments;
mod endpoints;
mod events;
mod follow;
mod log;
mod nodes;
mod pods;
mod scalers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hopbench_model::Fault;
use hopbench_sys::clock;
use k8s_openapi::NamespaceResourceScope;
use kube::api::ListParams;
use kube::{Client, Resource};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

pub use self::change::Concern;
use self::deployments::DeploymentState;
use self::endpoints::EndpointState;
use self::events::EventState;
use self::follow::{WatchedObject, follow};
use self::log::Log;
use self::nodes::NodeState;
use self::pods::PodState;
use self::scalers::ScalerState;
use crate::api::client::Api;

/// Time limit for a watch to find its connection again.
const PATIENCE: Duration = Duration::from_secs(2);

/// Pods that belong together, with whatever scales and exposes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Their namespace.
    pub namespace: String,
    /// A selector of their labels; absent: all of the namespace.
    pub labels: Option<String>,
}

/// Watches over the objects of a run; they end with it.
#[derive(Debug)]
pub struct Watch {
    log: Arc<Log>,
    tasks: Vec<AbortHandle>,
}

impl Watch {
    /// Begins to watch `scopes`, and the `nodes` of the cluster by their names, on `runtime`. What
    /// is there already is no change.
    pub fn start(
        runtime: &Handle,
        client: &Client,
        scopes: &[Scope],
        nodes: &BTreeSet<String>,
    ) -> Self {
        let mut watch = Self { log: Arc::new(Log::default()), tasks: Vec::new() };
        for scope in scopes {
            let labelled =
                ListParams { label_selector: scope.labels.clone(), ..ListParams::default() };
            let all = ListParams::default;
            let namespace = &scope.namespace;
            watch.of::<PodState>(runtime, client, namespace, "pods", labelled);
            watch.of::<EndpointState>(runtime, client, namespace, "endpointslices", all());
            watch.of::<EventState>(runtime, client, namespace, "events", all());
            watch.of::<DeploymentState>(runtime, client, namespace, "deployments", all());
            watch.of::<ScalerState>(runtime, client, namespace, "horizontalpodautoscalers", all());
        }
        for node in nodes {
            let only = ListParams::default().fields(&format!("metadata.name={node}"));
            watch.spawn::<NodeState>(
                runtime,
                Api::all(client.clone()),
                format!("node {node}"),
                only,
            );
        }
        watch
    }

    fn of<W: WatchedObject>(
        &mut self,
        runtime: &Handle,
        client: &Client,
        namespace: &str,
        kind: &str,
        which: ListParams,
    ) where
        W::Object: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        let what = format!("{kind} of namespace {namespace}");
        self.spawn::<W>(runtime, Api::namespaced(client.clone(), namespace), what, which);
    }

    fn spawn<W: WatchedObject>(
        &mut self,
        runtime: &Handle,
        api: Api<W::Object>,
        what: String,
        which: ListParams,
    ) {
        self.log.begun(&what);
        let task = runtime.spawn(follow::<W>(api, which, Arc::clone(&self.log), what));
        self.tasks.push(task.abort_handle());
    }

    /// Waits until all watches know what is there, or say why they cannot.
    pub fn settle(&self, at_most: Duration) {
        self.wait(at_most, |log| log.settled());
    }

    /// The changes since the last call, as far as they concern `concern`: a sentence each, in
    /// order. Other changes are forgotten.
    ///
    /// # Errors
    /// A watch that has lost the API server and did not find it again within 2 s.
    pub fn changes(&self, concern: &Concern) -> Result<Vec<String>, Fault> {
        self.wait(PATIENCE, |log| log.lost().is_none());
        if let Some(why) = self.log.lost() {
            return Err(Fault::measuring(format!(
                "nobody can say what changed in the cluster: {why}"
            )));
        }
        let mut said = BTreeSet::new();
        let changes = self.log.take().into_iter().filter(|change| concern.has(&change.about));
        Ok(changes.map(|change| change.text).filter(|text| said.insert(text.clone())).collect())
    }

    /// Kinds of objects that are not watched because rights are missing: a sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.log.forbidden()
    }

    fn wait(&self, at_most: Duration, over: impl Fn(&Log) -> bool) {
        let until = clock::now() + at_most.as_nanos() as u64;
        while !over(&self.log) && clock::now() < until {
            clock::sleep_until(clock::now() + Duration::from_millis(20).as_nanos() as u64);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}
