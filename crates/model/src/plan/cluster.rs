//! A Kubernetes cluster as a testbed: how the words of a scenario map to what the cluster has.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::path::{IpFamily, Path, Via};
use crate::Nanos;

/// A Kubernetes cluster, resolved but for what only the cluster knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSpec {
    /// The context of the kubeconfig; absent: its current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The file of the kubeconfig; absent: as for kubectl.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubeconfig: Option<String>,
    /// The namespace in which runs make their objects. It exists already, and stays. Absent: each
    /// run makes one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The image of the agents' pods.
    pub image: String,
    /// `Always`, `IfNotPresent` or `Never`.
    pub pull_policy: String,
    /// The Secrets, in the run's namespace, with which nodes pull the images of pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pull_secrets: Vec<String>,
    /// The nodes that paths name, each another node of the cluster.
    pub nodes: Vec<ClusterNode>,
    /// Network kinds beside `host` and `pod`, by name; `pod` may be here too.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub networks: BTreeMap<String, PodNetwork>,
    /// RuntimeClasses by the name of the runtime in scenarios; a runtime that is not here has its
    /// own name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runtimes: BTreeMap<String, String>,
    /// Server programs by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, ServerImage>,
    /// What has the tools of others that measure beside hopbench; absent: none is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<PeerImage>,
    /// A strategic merge patch for the template of every pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Value>,
    /// Further objects of the scenario, which each run makes in its namespace before its pods.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Value>,
    /// The mesh whose sidecars paths name.
    pub mesh: MeshSpec,
    /// Where `via: gateway` enters, where it is not a gateway of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<GatewaySpec>,
    /// Further gateways, by the names that paths enter them by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gateways: BTreeMap<String, GatewaySpec>,
    /// Prometheus, where the scenario names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<PrometheusSpec>,
    /// Whether a NetworkPolicy lets only the run's pods reach each other.
    pub network_policy: bool,
    /// How long pods may take to get ready, ns.
    pub start_timeout_ns: Nanos,
    /// Whether commands of subjects may run on the conductor's machine.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub allow_commands: bool,
}

impl ClusterSpec {
    /// The rate of the slowest link that the scenario says of the nodes of a path, bits/s. `None`
    /// where it says none, and where one node has the whole path.
    pub fn link_bits_per_s(&self, path: &Path) -> Option<u64> {
        let on_path: BTreeSet<&str> = path.nodes().collect();
        let of_path = self.nodes.iter().filter(|node| on_path.contains(node.name.as_str()));
        of_path.filter_map(|node| node.link_bits_per_s).min().filter(|_| on_path.len() > 1)
    }

    /// The gateway of the cluster by which a path enters; `None`: it enters by none, or nothing
    /// says where it is.
    pub fn gateway_of(&self, path: &Path) -> Option<&GatewaySpec> {
        let enters = path.via == Via::Gateway(String::new());
        let named = path.gateway_name.as_ref();
        let found = named.map_or(self.gateway.as_ref(), |name| self.gateways.get(name));
        found.filter(|_| enters)
    }
}

/// A node of the scenario: any node of the cluster that fits and that no other name has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterNode {
    /// Its name in the scenario.
    pub name: String,
    /// The name of the cluster's node; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Labels that it must have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Nodes with the same word here are in one zone of the cluster, with different words in
    /// different zones; absent: anywhere. The word is the zone's name where the cluster has such a
    /// zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Rate of its link, each direction, bits/s, as the scenario says; absent: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
}

/// How pods get a kind of network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PodNetwork {
    /// A RuntimeClass whose pods have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_class: Option<String>,
    /// Annotations of the pods, like `k8s.v1.cni.cncf.io/networks`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Labels of the pods.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The interface whose address the traffic goes to, like `net1`; absent: the pod's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// A strategic merge patch for the template of its pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Value>,
}

/// A server program in an image of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerImage {
    /// The image.
    pub image: String,
    /// The port on which it answers HTTP.
    pub port: u16,
    /// CPUs that it may use, in thousandths; absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_millis: Option<u64>,
    /// Its arguments; empty: the image's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Path and query to request, with `{bytes}` for the size of the answer; absent: `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
}

/// An image with tools of others, and with a shell that starts them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerImage {
    /// The image.
    pub image: String,
}

/// The mesh that puts sidecars beside the agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// Who.
    pub provider: MeshProvider,
    /// The image of `envoy`'s sidecars and gateways.
    pub image: String,
    /// Istio's revision (`istio.io/rev`), where it is not the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The families of addresses that the proxies of others are set up for; empty: not said.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub families: BTreeSet<IpFamily>,
}

/// A mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeshProvider {
    /// hopbench itself adds plain Envoy sidecars; no control plane.
    #[default]
    Envoy,
    /// Istio with sidecars.
    Istio,
    /// Istio without sidecars.
    IstioAmbient,
    /// Linkerd.
    Linkerd,
    /// Cilium's proxy on each node.
    Cilium,
}

impl MeshProvider {
    /// Every provider.
    pub const ALL: [Self; 5] =
        [Self::Envoy, Self::Istio, Self::IstioAmbient, Self::Linkerd, Self::Cilium];

    /// Its word in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Envoy => "envoy",
            Self::Istio => "istio",
            Self::IstioAmbient => "istio-ambient",
            Self::Linkerd => "linkerd",
            Self::Cilium => "cilium",
        }
    }

    /// Whether its proxies are on the nodes, and take all of a pod's traffic or none.
    pub fn is_on_nodes(self) -> bool {
        matches!(self, Self::IstioAmbient | Self::Cilium)
    }

    /// A line about it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Envoy => "plain Envoy sidecars that hopbench adds itself; no control plane",
            Self::Istio => "Istio's sidecars, injected by label",
            Self::IstioAmbient => "Istio without sidecars: its proxies on the nodes",
            Self::Linkerd => "Linkerd's sidecars, injected by annotation",
            Self::Cilium => "Cilium's proxy on each node",
        }
    }
}

/// A Gateway of the Gateway API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParentGateway {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for ParentGateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// A gateway of the cluster: at an address, the parent of the run's routes, one that the run makes
/// of a class, or that of an IngressClass.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewaySpec {
    /// Address and port that clients connect to: `203.0.113.7:80`. Absent: the status of the
    /// Gateway or the Ingress has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The Gateway that routes of the run are attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentGateway>,
    /// The GatewayClass of the Gateway that the run makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The IngressClass of the Ingress that the run makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<String>,
    /// Its namespace; needed to count the CPU of its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Labels of its pods.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// The address of Prometheus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PrometheusSpec {
    /// Its URL, reachable from where the conductor runs.
    Url(String),
    /// A Service, reached through the API server.
    Service {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
        /// Its port.
        port: u16,
    },
}
