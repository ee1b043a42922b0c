//! The parts that a mesh adds to a pod.

use std::collections::BTreeMap;

use hopbench_mesh::Protocol;
use serde_json::Value;

/// The parts that a pod gets beside its agent. Containers and volumes are as in a pod's `spec`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Sidecar {
    pub(crate) containers: Vec<Value>,
    pub(crate) init_containers: Vec<Value>,
    pub(crate) volumes: Vec<Value>,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
    /// Whether the mesh that its labels and annotations are for has its proxies on the nodes.
    pub(crate) is_on_node: bool,
    /// Ports on which the agent is to listen beside its own, and what comes there.
    pub(crate) also: BTreeMap<u16, Protocol>,
}

impl Sidecar {
    /// Whether there is a proxy: in a container of ours, or in one that a mesh adds for what the
    /// pod says.
    pub(crate) fn has_proxy(&self) -> bool {
        let adds = !self.labels.is_empty() || !self.annotations.is_empty();
        !self.containers.is_empty() || adds && !self.is_on_node
    }
}
