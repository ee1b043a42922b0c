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
    /// Whether the nodes are those that the cluster listed. Otherwise this user may not list them,
    /// and they are those that the scenario names, of which nothing else is known.
    pub(crate) has_nodes: bool,
    /// RuntimeClasses with their handlers; absent: this user may not list them.
    pub(crate) runtime_classes: Option<BTreeMap<String, String>>,
}

impl Discovery {
    /// Asks the API server.
    pub(crate) fn of(access: &Access, spec: &ClusterSpec) -> Result<Self, Fault> {
        let version = access.ask("the cluster's version", access.client.apiserver_version())?;
        let classes: Api<RuntimeClass> = Api::all(access.client.clone());
        let classes = access.ask("the RuntimeClasses", classes.list(ListParams::default()));
        let listed = nodes(access, spec)?;
        let tolerations = tolerations(spec);
        Ok(Self {
            version: version.git_version,
            nodes: facts(listed.as_deref(), spec, &tolerations),
            has_nodes: listed.is_some(),
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

/// The cluster's nodes; `None`: a namespace was given, and this user may not list nodes.
pub(crate) fn nodes(access: &Access, spec: &ClusterSpec) -> Result<Option<Vec<Node>>, Fault> {
    let nodes: Api<Node> = Api::all(access.client.clone());
    let asked = async {
        match nodes.list(ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_forbidden() && spec.namespace.is_some() => {
                Ok(None)
            }
            listed => listed.map(Some),
        }
    };
    access.ask("the cluster's nodes", asked)
}

/// The facts of the nodes that were listed for pods with these tolerations; of those that the
/// scenario names, where they could not be listed.
pub(crate) fn facts(
    listed: Option<&[Node]>,
    spec: &ClusterSpec,
    tolerations: &[Toleration],
) -> Vec<NodeFacts> {
    if let Some(nodes) = listed {
        return nodes.iter().map(|node| NodeFacts::of(node, tolerations)).collect();
    }
    let names = spec.nodes.iter().filter_map(|node| node.node.clone());
    names.map(|name| NodeFacts { name, ..NodeFacts::default() }).collect()
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
