//! The words of paths: `bridge@a`, `bridge+runsc@a`, `node-port@b`, `both`.

use hopbench_model::{Gateways, MeshMode, Place, Via};

use crate::document::node::{At, quoted};
use crate::document::problem::Problems;
use crate::testbed::{ENDPOINT, LABEL, Nodes, endpoint, is_label};
use crate::vocabulary::Vocabulary;

/// What a path may consist of.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) nodes: Nodes<'a>,
    /// Whether it is on a cluster.
    pub(crate) is_cluster: bool,
    /// Whether there is a gateway that no path has to place.
    pub(crate) has_gateway: bool,
    /// Whether runs make further objects, which may tell variants apart.
    pub(crate) has_objects: bool,
    /// The names of further ones.
    pub(crate) gateways: Vec<String>,
}

/// A network kind with or without a runtime, not on any node yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    network: String,
    runtime: Option<String>,
}

/// What `via` takes.
pub(crate) const VIA: &str =
    "direct, cluster-ip, node-port@NODE, gateway@NODE, load-balancer or address@HOST:PORT";
/// The same, with a line about each.
pub const VIAS: &[(&str, &str)] = &[
    ("direct", "to the server's own address"),
    ("cluster-ip", "the address of a Service, translated on the client's node"),
    ("node-port@NODE", "a port of this node, which need not have a server"),
    (
        "gateway@NODE",
        "an Envoy in a pod of this node, or of several as gateway@[NODE, NODE]; on a cluster with \
         `gateway:`, that one; or a name of its `gateways:`",
    ),
    ("gateway", "the gateway that a cluster's `gateway:` says"),
    ("load-balancer", "the address that a load balancer has for a Service; on clusters"),
    ("address@HOST:PORT", "any address that leads to the servers; on clusters and hosts"),
];
/// What `mesh` of a path takes.
pub(crate) const MODES: &str = "none, server, client or both";

impl Attachment {
    /// On a node.
    pub(crate) fn on(&self, node: &str) -> Place {
        Place {
            network: self.network.clone(),
            runtime: self.runtime.clone(),
            node: node.to_owned(),
            more_nodes: Vec::new(),
        }
    }

    /// As it stands in the names of paths: `bridge+runsc`.
    pub(crate) fn name(&self) -> String {
        match &self.runtime {
            Some(runtime) => format!("{}+{runtime}", self.network),
            None => self.network.clone(),
        }
    }
}

impl Words<'_> {
    /// `bridge` or `bridge+runsc`.
    pub(crate) fn attachment(
        &self,
        text: &str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Attachment> {
        let (network, runtime) = match text.split_once('+') {
            Some((network, runtime)) => (network.trim(), Some(runtime.trim())),
            None => (text.trim(), None),
        };
        let Some(kind) = self.vocabulary.network(network) else {
            self.unknown_kind(network, at, path, problems);
            return None;
        };
        if let Some(runtime) = runtime {
            let known = self.vocabulary.runtime_names();
            if self.vocabulary.any_runtime {
                if !is_label(runtime) {
                    problems.add(at, path, quoted(runtime), format!("a runtime: {LABEL}"));
                    return None;
                }
            } else if !known.contains(&runtime) {
                problems.unknown(at, path, runtime, &known);
                return None;
            }
            if !kind.pod {
                let expected = format!("a pod for the runtime {runtime}; {network} is none");
                problems.add(at, path, quoted(text), expected);
                return None;
            }
        }
        Some(Attachment { network: network.to_owned(), runtime: runtime.map(str::to_owned) })
    }

    /// Says that there is no such network kind, and how it is called or declared.
    pub(crate) fn unknown_kind(&self, network: &str, at: At, path: &str, problems: &mut Problems) {
        let known = self.vocabulary.network_names();
        let remedy = if self.is_cluster {
            Some("other names are declared under `networks:` of `testbed: kubernetes:`")
        } else if network == "pod" && known.contains(&"bridge") {
            Some("a pod of a lab is `bridge`, which clusters take, too")
        } else {
            None
        };
        problems.unknown_but(at, path, network, &known, remedy);
    }

    /// `bridge@a`, `bridge@[a, b]`.
    pub(crate) fn place(
        &self,
        text: &str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Place> {
        let Some((attachment, nodes)) = text.split_once('@') else {
            problems.add(
                at,
                path,
                quoted(text),
                "a place like bridge@a: a network kind, @ and a node",
            );
            return None;
        };
        let attachment = self.attachment(attachment, at, path, problems);
        let (first, more_nodes) = self.nodes(nodes, at, path, problems)?;
        Some(Place { more_nodes, ..attachment?.on(&first) })
    }

    /// `a`, or `[a, b]`: the first node and the others.
    fn nodes(
        &self,
        text: &str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<(String, Vec<String>)> {
        let text = text.trim();
        let set = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let mut all: Vec<String> = Vec::new();
        for node in set.unwrap_or(text).split(',') {
            let node = self.node(node, at, path, problems)?.to_owned();
            if all.contains(&node) {
                problems.add(at, path, format!("{} twice", quoted(&node)), "each node once");
                return None;
            }
            all.push(node);
        }
        let (first, others) = all.split_first()?;
        Some((first.clone(), others.to_vec()))
    }

    /// `direct`, `cluster-ip`, `node-port@b`, `gateway@b`, `gateway@[b, c]`, `load-balancer` or
    /// `address@203.0.113.7:80`; `gateway` alone where there is one. Of gateways on several nodes
    /// there is one on each.
    pub(crate) fn via(
        &self,
        text: &str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<(Via, Option<Gateways>)> {
        let alone = |via| Some((via, None));
        match text.trim() {
            "direct" => alone(Via::Direct),
            "cluster-ip" => alone(Via::ClusterIp),
            "load-balancer" => alone(Via::LoadBalancer),
            "gateway" if self.has_gateway => alone(Via::Gateway(String::new())),
            text => match text.split_once('@') {
                Some(("node-port", node)) => {
                    alone(Via::NodePort(self.node(node, at, path, problems)?.to_owned()))
                }
                Some(("gateway", name)) if self.is_gateway(name.trim()) => {
                    alone(Via::Gateway(name.trim().to_owned()))
                }
                Some(("gateway", nodes)) => {
                    let (first, more_nodes) = self.nodes(nodes, at, path, problems)?;
                    if let Some(named) =
                        more_nodes.iter().chain([&first]).find(|one| self.is_gateway(one))
                    {
                        let expected = "nodes in a set: a gateway of the cluster stands alone";
                        problems.add(at, path, format!("gateway {}", quoted(named)), expected);
                        return None;
                    }
                    let count = 1 + more_nodes.len() as u32;
                    let several = (count > 1).then_some(Gateways { count, more_nodes });
                    Some((Via::Gateway(first), several))
                }
                Some(("address", address)) if endpoint(address).is_some() => {
                    alone(Via::Address(address.to_owned()))
                }
                Some(("address", address)) => {
                    problems.add(at, path, quoted(address), ENDPOINT);
                    None
                }
                other => {
                    let node = other
                        .map(|(_, node)| node)
                        .filter(|node| self.nodes.is_name(node))
                        .unwrap_or("NODE");
                    let (node_port, gateway) =
                        (format!("node-port@{node}"), format!("gateway@{node}"));
                    let named: Vec<String> =
                        self.gateways.iter().map(|name| format!("gateway@{name}")).collect();
                    let mut known = vec!["direct", "cluster-ip", &node_port, &gateway];
                    known.extend(named.iter().map(String::as_str));
                    known.extend(["load-balancer", "address@HOST:PORT"]);
                    let remedy = "`gateway` alone is the one that `gateway:` under `testbed: \
                                  kubernetes:` names";
                    let remedy = (self.is_cluster && text == "gateway").then_some(remedy);
                    problems.unknown_but(at, path, text, &known, remedy);
                    None
                }
            },
        }
    }

    /// Whether a gateway of the cluster has this name.
    pub(crate) fn is_gateway(&self, name: &str) -> bool {
        self.gateways.iter().any(|known| known == name)
    }

    /// `none`, `server`, `client` or `both`.
    pub(crate) fn mode(
        &self,
        text: &str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<MeshMode> {
        let found = MeshMode::ALL.into_iter().find(|mode| mode.name() == text.trim());
        if found.is_none() {
            problems.unknown(at, path, text.trim(), &MeshMode::ALL.map(MeshMode::name));
        }
        found
    }

    /// A node that there is.
    pub(crate) fn node<'t>(
        &self,
        text: &'t str,
        at: At,
        path: &str,
        problems: &mut Problems,
    ) -> Option<&'t str> {
        let node = text.trim();
        match &self.nodes.listed {
            _ if !self.nodes.is_name(node) => {
                problems.add(at, path, quoted(node), format!("a node: {}", self.nodes.name()));
                None
            }
            Some(listed) if !self.nodes.others && !listed.contains(&node) => {
                problems.unknown(at, path, node, listed);
                None
            }
            _ => Some(node),
        }
    }
}
