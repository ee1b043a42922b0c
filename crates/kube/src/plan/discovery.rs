//! Discovery of the cluster: its version, nodes and RuntimeClasses, asked for before anything is
//! made.

use std::collections::BTreeMap;

use hopbench_model::{ClusterSpec, Fault};
use k8s_openapi::api::core::v1::{Node, Toleration};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::ResourceExt;
use kube::api::ListParams;

use crate::api::access::Access;
use crate::api::client::Api;
use crate::plan::attachment::has_own_kernel;
use crate::plan::nodes::NodeFacts;

/// The facts about a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Discovery {
    /// `v1.34.4`.
    pub(crate) version: String,
    pub(crate) nodes: Vec<NodeFacts>,
    /// RuntimeClasses with their handlers; absent: this user may not list them.
    pub(crate) runtime_classes: Option<BTreeMap<String, String>>,
}

impl Discovery {
    /// Asks the API server.
    pub(crate) fn of(access: &Access, spec: &ClusterSpec) -> Result<Self, Fault> {
        let version = access.ask("the cluster's version", access.client.apiserver_version())?;
        let nodes: Api<Node> = Api::all(access.client.clone());
        let nodes = access.ask("the cluster's nodes", nodes.list(ListParams::default()))?;
        let classes: Api<RuntimeClass> = Api::all(access.client.clone());
        let classes = access.ask("the RuntimeClasses", classes.list(ListParams::default()));
        let tolerations = tolerations(spec);
        Ok(Self {
            version: version.git_version,
            nodes: nodes.iter().map(|node| NodeFacts::of(node, &tolerations)).collect(),
            runtime_classes: classes.ok().map(|all| {
                all.into_iter().map(|class| (class.name_any(), class.handler)).collect()
            }),
        })
    }
}

impl Discovery {
    /// Whether pods of a RuntimeClass have a kernel of their own, as far as names tell: its own and
    /// its handler's.
    pub(crate) fn is_sandbox(&self, class: &str) -> bool {
        let handler = self.runtime_classes.as_ref().and_then(|all| all.get(class));
        has_own_kernel(class) || handler.is_some_and(|handler| has_own_kernel(handler))
    }
}

/// The tolerations of a run's pods, which stand in the scenario's patch.
fn tolerations(spec: &ClusterSpec) -> Vec<Toleration> {
    let patched =
        spec.patch.as_ref().and_then(|patch| patch["spec"]["tolerations"].as_array()).cloned();
    patched
        .into_iter()
        .flatten()
        .filter_map(|toleration| serde_json::from_value(toleration).ok())
        .collect()
}
