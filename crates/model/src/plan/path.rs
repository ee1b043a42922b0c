//! Places and the paths between them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::mesh::{HttpVersion, MeshMode, Variant};
use crate::Job;

/// Where an endpoint lives: on one node, or its pods on several.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The network kind, as the testbed names it: `host`, `bridge`, `overlay` ...
    pub network: String,
    /// The node's name; of several the first.
    pub node: String,
    /// The other nodes, over which its pods are spread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_nodes: Vec<String>,
    /// The sandboxed runtime around the pod (`runsc`); absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
}

impl Place {
    /// Its nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &str> + Clone {
        std::iter::once(self.node.as_str()).chain(self.more_nodes.iter().map(String::as_str))
    }

    /// Whether it is on several nodes.
    pub fn is_set(&self) -> bool {
        !self.more_nodes.is_empty()
    }

    /// The same place on each of its nodes.
    pub fn each(&self) -> impl Iterator<Item = Self> + '_ {
        self.nodes().map(|node| Self {
            network: self.network.clone(),
            node: node.to_owned(),
            more_nodes: Vec::new(),
            runtime: self.runtime.clone(),
        })
    }

    /// Its nodes in words: `b`, `[b, c]`.
    pub fn node_text(&self) -> String {
        nodes_text(self.nodes())
    }
}

/// Nodes in words: `b`, `[b, c]`.
pub fn nodes_text<'a>(nodes: impl Iterator<Item = &'a str>) -> String {
    match nodes.collect::<Vec<_>>().as_slice() {
        [node] => (*node).to_owned(),
        nodes => format!("[{}]", nodes.join(", ")),
    }
}

/// `bridge@a`, with a runtime `bridge+runsc@a`, on several nodes `bridge@[a, b]`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (network, nodes) = (&self.network, self.node_text());
        match &self.runtime {
            Some(runtime) => write!(f, "{network}+{runtime}@{nodes}"),
            None => write!(f, "{network}@{nodes}"),
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
    /// A proxy in front of the servers, in a pod of this node. Without a node the testbed knows
    /// where it is.
    Gateway(String),
    /// The address that a load balancer has for a Service.
    LoadBalancer,
    /// An address outside of the testbed that leads to the servers: `203.0.113.7:7474`.
    Address(String),
}

/// `direct`, `cluster-ip`, `node-port@b`, `gateway@c`, `gateway`, `load-balancer`,
/// `address@203.0.113.7:7474`.
impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("direct"),
            Self::ClusterIp => f.write_str("cluster-ip"),
            Self::NodePort(node) => write!(f, "node-port@{node}"),
            Self::Gateway(node) if node.is_empty() => f.write_str("gateway"),
            Self::Gateway(node) => write!(f, "gateway@{node}"),
            Self::LoadBalancer => f.write_str("load-balancer"),
            Self::Address(address) => write!(f, "address@{address}"),
        }
    }
}

/// Several gateways of a path, behind an address of their own.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateways {
    /// How many there are.
    pub count: u32,
    /// The nodes beside the one that `via` names, over which they are spread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_nodes: Vec<String>,
}

/// What ties the connections of one client to one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affinity {
    /// Nothing: each connection goes to any server.
    #[default]
    None,
    /// Its address: the Service sends all connections of one client to one server.
    ClientIp,
}

impl Affinity {
    /// The word of a scenario for an affinity.
    pub const CLIENT_IP: &str = "client-ip";
}

/// The version of IP that a path's traffic has at its ends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum IpFamily {
    /// IPv4.
    #[default]
    Ipv4,
    /// IPv6.
    Ipv6,
}

impl IpFamily {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Ipv4, Self::Ipv6];

    /// The address of the loopback.
    pub fn loopback(self) -> IpAddr {
        match self {
            Self::Ipv4 => Ipv4Addr::LOCALHOST.into(),
            Self::Ipv6 => Ipv6Addr::LOCALHOST.into(),
        }
    }

    /// The address that stands for all of the family.
    pub fn wildcard(self) -> IpAddr {
        match self {
            Self::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
            Self::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
        }
    }

    /// Its word in a scenario.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }

    /// The family of this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// The family of an address.
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv6() { Self::Ipv6 } else { Self::Ipv4 }
    }

    /// Whether an address is of this family.
    pub fn has(self, address: IpAddr) -> bool {
        Self::of(address) == self
    }
}

/// `IPv4`, `IPv6`.
impl fmt::Display for IpFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
        })
    }
}

/// What a path is compared with instead of the plan's baseline.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The name of that path.
    pub path: String,
    /// Whether it is that path once more: what the two differ by is noise.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub again: bool,
}

/// From a place to a place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Its name in the scenario.
    pub name: String,
    /// The place of the clients.
    pub from: Place,
    /// The place of the servers.
    pub to: Place,
    /// How the clients reach them.
    pub via: Via,
    /// The name of the cluster's gateway that it enters by, of several; absent: the only one, or
    /// one of the testbed's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_name: Option<String>,
    /// Clients, each a pod of its own (on `host`, an agent of its own); at least 1.
    pub clients: u32,
    /// Servers behind the Service, each a pod of its own; more than 1 only with a Service or a
    /// gateway.
    pub backends: u32,
    /// The gateways of `via: gateway@NODE`, each a pod of its own; absent: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateways: Option<Gateways>,
    /// What ties the connections of a client to a server; only with a Service.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub affinity: Affinity,
    /// The family of the addresses that its clients connect to; absent: the testbed's first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<IpFamily>,
    /// The ends with a sidecar that the traffic passes.
    #[serde(default, skip_serializing_if = "MeshMode::is_none")]
    pub mesh: MeshMode,
    /// How its proxies are set up; absent: it has none, no sidecar and no gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The subject that it is measured with; absent: the plan has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The path that it is compared with in place of the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
}

impl Path {
    /// A path straight from a place to a place, with one client and one server.
    pub fn straight(name: &str, from: Place, to: Place) -> Self {
        Self {
            name: name.to_owned(),
            from,
            to,
            via: Via::Direct,
            gateway_name: None,
            clients: 1,
            backends: 1,
            gateways: None,
            affinity: Affinity::None,
            family: None,
            mesh: MeshMode::None,
            variant: None,
            subject: None,
            reference: None,
        }
    }

    /// The nodes of its ends, and the one that it is entered at.
    pub fn nodes(&self) -> impl Iterator<Item = &str> + Clone {
        let between = match &self.via {
            Via::NodePort(node) | Via::Gateway(node) => Some(node.as_str()),
            Via::Direct | Via::ClusterIp | Via::LoadBalancer | Via::Address(_) => None,
        };
        let between = between.filter(|node| !node.is_empty());
        let more = self.gateways.iter().flat_map(|gateways| &gateways.more_nodes);
        let between = between.into_iter().chain(more.map(String::as_str));
        self.from.nodes().chain(self.to.nodes()).chain(between)
    }

    /// Whether an address of its own leads to several of its servers or gateways.
    pub fn has_service(&self) -> bool {
        self.gateways.is_some()
            || matches!(self.via, Via::ClusterIp | Via::NodePort(_) | Via::LoadBalancer)
    }

    /// Whether a Service chooses among its servers, by the addresses of connections. Of a
    /// ClusterIP the client's sidecar chooses instead, if there is one.
    pub fn balances_by_address(&self) -> bool {
        match self.via {
            Via::ClusterIp => !self.mesh.has_client(),
            Via::NodePort(_) | Via::LoadBalancer => true,
            Via::Direct | Via::Gateway(_) | Via::Address(_) => false,
        }
    }

    /// Whether proxies take part.
    pub fn is_proxied(&self) -> bool {
        !self.mesh.is_none() || matches!(self.via, Via::Gateway(_))
    }

    /// Whether its proxies speak HTTP/2 with each other, whatever the client speaks. What it was, a
    /// proxy behind another one cannot see then.
    pub fn carries_as_http2(&self) -> bool {
        let variant = self.variant.as_ref().filter(|_| self.is_proxied());
        variant.is_some_and(|variant| variant.upstream == HttpVersion::Http2)
    }

    /// Whether its proxies carry the traffic of a job.
    pub fn proxies_carry(&self, job: &Job) -> bool {
        self.is_proxied() && !job.bypasses_proxies()
    }

    /// Whether the traffic of a job goes by its proxies: they do not carry its protocol.
    pub fn is_bypassed_by(&self, job: &Job) -> bool {
        self.is_proxied() && job.bypasses_proxies()
    }

    /// Whether a connection of a client ends at a proxy that is not in the server's pod: at its own
    /// sidecar or a gateway.
    pub fn ends_connections(&self) -> bool {
        self.mesh.has_client() || matches!(self.via, Via::Gateway(_))
    }

    /// Settings of its variant that change nothing on it, by the names of known variants, with the
    /// reason.
    pub fn without_effect(&self) -> Vec<(&'static str, &'static str)> {
        let Some(variant) = &self.variant else { return Vec::new() };
        let gateway = matches!(self.via, Via::Gateway(_));
        let two = self.mesh == MeshMode::Both || gateway && self.mesh.has_server();
        // The policy service is asked on the way in: by a gateway and by servers' sidecars.
        let asks = gateway || self.mesh.has_server();
        let alone = "there is no second proxy";
        let all = [
            (!variant.mtls && !two, "no-mtls", alone),
            (variant.upstream == HttpVersion::Http2 && !two, "http2", alone),
            (variant.policy_check && !asks, "policy-check", "a client's sidecar asks nobody"),
        ];
        all.into_iter().filter(|(is, ..)| *is).map(|(_, setting, why)| (setting, why)).collect()
    }

    /// The entrance of its clients, in words: `direct`, `gateway@c`, `gateway@[c, d] x 5`. A
    /// gateway of the cluster has its name.
    pub fn entrance(&self) -> String {
        if let (Via::Gateway(node), Some(gateways)) = (&self.via, &self.gateways) {
            let more = gateways.more_nodes.iter().map(String::as_str);
            let nodes = nodes_text(std::iter::once(node.as_str()).chain(more));
            return format!("gateway@{nodes} x {}", gateways.count);
        }
        let name = self.gateway_name.as_ref().map(|name| format!("@{name}")).unwrap_or_default();
        format!("{}{name}", self.via)
    }

    /// The way between its ends, in words: `direct`, `direct, mesh both`,
    /// `gateway@c, mesh server, variant stats`. The variant `plain` is not named.
    pub fn way(&self) -> String {
        let mut way = self.entrance();
        if self.affinity == Affinity::ClientIp {
            way.push_str(&format!(", affinity {}", Affinity::CLIENT_IP));
        }
        if let Some(family) = self.family {
            way.push_str(&format!(", {family}"));
        }
        if !self.mesh.is_none() {
            way.push_str(&format!(", mesh {}", self.mesh));
        }
        if let Some(variant) =
            self.variant.as_ref().filter(|variant| variant.name != Variant::PLAIN)
        {
            way.push_str(&format!(", variant {}", variant.name));
        }
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn what_needs_a_second_proxy_or_a_servers_changes_nothing_without() {
        let all = Variant {
            mtls: false,
            upstream: HttpVersion::Http2,
            policy_check: true,
            ..Variant::plain()
        };
        let idle = |via: Via, mesh, variant: &Variant| -> Vec<&str> {
            let path = Path { via, mesh, variant: Some(variant.clone()), ..fixture::path("") };
            path.without_effect().into_iter().map(|(setting, _)| setting).collect()
        };
        let gateway = || Via::Gateway("c".to_owned());
        assert_eq!(idle(Via::Direct, MeshMode::Client, &all), ["no-mtls", "http2", "policy-check"]);
        assert_eq!(idle(Via::Direct, MeshMode::Server, &all), ["no-mtls", "http2"]);
        assert_eq!(idle(gateway(), MeshMode::None, &all), ["no-mtls", "http2"]);
        for (via, mesh) in [(Via::Direct, MeshMode::Both), (gateway(), MeshMode::Server)] {
            assert!(idle(via, mesh, &all).is_empty());
        }
        let others =
            Variant { stats: true, access_log: true, policy_report: true, ..Variant::plain() };
        assert!(idle(Via::Direct, MeshMode::Client, &others).is_empty());
    }

    #[test]
    fn the_way_names_what_stands_between_the_ends_and_nothing_else() {
        let named = |name: &str| Some(Variant { name: name.to_owned(), ..Variant::plain() });
        let gateway = || Via::Gateway("c".to_owned());
        for (via, mesh, variant, way) in [
            (Via::Direct, MeshMode::None, None, "direct"),
            (Via::ClusterIp, MeshMode::None, None, "cluster-ip"),
            (
                Via::NodePort("b".to_owned()),
                MeshMode::Server,
                named("plain"),
                "node-port@b, mesh server",
            ),
            (gateway(), MeshMode::None, named("plain"), "gateway@c"),
            (Via::Gateway(String::new()), MeshMode::Server, named("plain"), "gateway, mesh server"),
            (Via::LoadBalancer, MeshMode::None, None, "load-balancer"),
            (Via::Address("[::1]:80".to_owned()), MeshMode::None, None, "address@[::1]:80"),
            (gateway(), MeshMode::None, named("http2"), "gateway@c, variant http2"),
            (Via::Direct, MeshMode::Both, named("plain"), "direct, mesh both"),
            (gateway(), MeshMode::Server, named("stats"), "gateway@c, mesh server, variant stats"),
        ] {
            let path = Path { via, mesh, variant, ..fixture::path("") };
            assert_eq!(path.way(), way);
        }
        let (via, gateway_name) = (Via::Gateway(String::new()), Some("public".to_owned()));
        assert_eq!(Path { via, gateway_name, ..fixture::path("") }.way(), "gateway@public");
    }
}
