//! Places and the paths between them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{MeshMode, Variant};

/// Where an endpoint lives.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The network kind, as the testbed names it: `host`, `bridge`, `overlay` ...
    pub network: String,
    /// The node's name.
    pub node: String,
    /// The sandboxed runtime around the pod (`runsc`); absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
}

/// `bridge@a`, with a runtime `bridge+runsc@a`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, node, runtime } = self;
        match runtime {
            Some(runtime) => write!(f, "{network}+{runtime}@{node}"),
            None => write!(f, "{network}@{node}"),
        }
    }
}

/// What stands between the client and the server's own address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// Nothing: the client connects to the server's address.
    Direct,
    /// The address of a Service, translated on the client's node.
    ClusterIp,
    /// A port of this node, which need not have a backend.
    NodePort(String),
    /// A proxy in a pod of this node, in front of the servers.
    Gateway(String),
}

/// `direct`, `cluster-ip`, `node-port@b`, `gateway@c`.
impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("direct"),
            Self::ClusterIp => f.write_str("cluster-ip"),
            Self::NodePort(node) => write!(f, "node-port@{node}"),
            Self::Gateway(node) => write!(f, "gateway@{node}"),
        }
    }
}

/// From a place to a place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Its name in the scenario.
    pub name: String,
    /// Where the clients are.
    pub from: Place,
    /// Where the servers are.
    pub to: Place,
    /// How the clients reach them.
    pub via: Via,
    /// Clients, each a pod of its own (on `host`, an agent of its own); at least 1.
    pub clients: u32,
    /// Servers behind the Service, each a pod of its own; more than 1 only with a Service or a gateway.
    pub backends: u32,
    /// Which ends have a sidecar that the traffic passes.
    #[serde(default, skip_serializing_if = "MeshMode::is_none")]
    pub mesh: MeshMode,
    /// How its proxies are set up; absent: it has none, no sidecar and no gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
}

impl Path {
    /// Whether proxies take part.
    pub fn is_proxied(&self) -> bool {
        !self.mesh.is_none() || matches!(self.via, Via::Gateway(_))
    }
}
