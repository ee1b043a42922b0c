//! `kubernetes:`, pods of a cluster.

mod gateway;
mod mesh;
mod networks;
mod nodes;
mod objects;
mod patch;
mod peers;
mod prometheus;
mod pull_secret;
mod servers;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::units::Span;
use hopbench_model::{ClusterNode, ClusterSpec, MeshProvider, MeshSpec, Nanos, SECOND};

pub(crate) use self::gateway::GATEWAY_KEYS;
pub(crate) use self::mesh::MESH_KEYS;
pub(crate) use self::networks::NETWORK_KEYS;
pub(crate) use self::nodes::CONSTRAINT_KEYS;
use self::patch::patch;
pub(crate) use self::peers::PEER_KEYS;
pub(crate) use self::prometheus::PROMETHEUS_KEYS;
pub(crate) use self::servers::SERVER_KEYS;
pub(crate) use self::texts::annotations;
use super::lab::Lab;
use super::names;
use super::reach::ClusterOverrides;
use crate::document::fields::Fields;
use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;
use crate::vocabulary::{Network, Server, Vocabulary};

/// The keys of a cluster.
#[rustfmt::skip]
pub(crate) const CLUSTER_KEYS: &[&str] = &[
    "context", "image", "pull-policy", "pull-secret", "nodes", "networks", "runtimes", "servers",
    "peers", "patch", "objects", "mesh", "gateway", "gateways", "prometheus", "network-policy",
    "start-timeout", "allow-commands",
];
/// The words of `pull-policy`; the first is the usual one.
pub(crate) const PULL_POLICIES: &[&str] = &["IfNotPresent", "Always", "Never"];
/// The image of the agents, as `hopbench kube image` calls it.
pub(crate) const IMAGE: &str = concat!("hopbench:", env!("CARGO_PKG_VERSION"));

/// How long pods may take to get ready, where the scenario does not say, ns: images may have to be
/// pulled.
const START_TIMEOUT_NS: Nanos = 120 * SECOND;
/// RuntimeClasses of runtimes that are called otherwise.
const RUNTIME_CLASSES: [(&str, &str); 1] = [("runsc", "gvisor")];

const FORM: &str = "a mapping like {context: staging, nodes: {a: {name: worker-1}}}";

/// A cluster, but for the nodes that paths name.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Its nodes are those that the scenario says something of.
    spec: ClusterSpec,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            spec: ClusterSpec {
                context: None,
                kubeconfig: None,
                namespace: None,
                image: IMAGE.to_owned(),
                pull_policy: PULL_POLICIES[0].to_owned(),
                pull_secrets: Vec::new(),
                nodes: Vec::new(),
                networks: BTreeMap::new(),
                runtimes: RUNTIME_CLASSES
                    .map(|(name, class)| (name.to_owned(), class.to_owned()))
                    .into(),
                servers: BTreeMap::new(),
                peers: None,
                patch: None,
                objects: Vec::new(),
                mesh: MeshSpec {
                    provider: Default::default(),
                    image: mesh::ENVOY.to_owned(),
                    revision: None,
                    families: Default::default(),
                },
                gateway: None,
                gateways: BTreeMap::new(),
                prometheus: None,
                network_policy: false,
                start_timeout_ns: START_TIMEOUT_NS,
                allow_commands: false,
            },
        }
    }
}

impl Cluster {
    /// Reads the block; nothing in it is a cluster with nothing said about it.
    pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let mut out = Self::default();
        if matches!(node.kind, Kind::Null) {
            return out;
        }
        let Some(fields) = Fields::read(node, path, CLUSTER_KEYS, FORM, problems) else {
            return out;
        };
        let spec = &mut out.spec;
        let is_there = |name: &String| !name.trim().is_empty();
        spec.context = fields.checked("context", "a context of the kubeconfig", is_there, problems);
        if let Some(image) =
            fields.checked("image", names::IMAGE, |image: &String| names::is_image(image), problems)
        {
            spec.image = image;
        }
        if let Some(policy) = word(&fields, "pull-policy", PULL_POLICIES, problems) {
            spec.pull_policy = policy;
        }
        let of = |name: &str| fields.get(name).map(|node| (node, fields.path_of(name)));
        if let Some((node, path)) = of("pull-secret") {
            spec.pull_secrets = pull_secret::read(node, &path, problems);
        }
        if let Some((node, path)) = of("nodes") {
            spec.nodes = nodes::read(node, &path, problems);
        }
        if let Some((node, path)) = of("networks") {
            spec.networks = networks::read(node, &path, problems);
        }
        if let Some((node, path)) = of("runtimes") {
            spec.runtimes.extend(networks::runtimes(node, &path, problems));
        }
        if let Some((node, path)) = of("servers") {
            spec.servers = servers::read(node, &path, problems);
        }
        spec.peers = of("peers").and_then(|(node, path)| peers::read(node, &path, problems));
        spec.patch = of("patch").and_then(|(node, path)| patch(node, &path, problems));
        if let Some((node, path)) = of("objects") {
            spec.objects = objects::read(node, &path, problems);
        }
        if let Some((node, path)) = of("mesh") {
            spec.mesh = mesh::read(node, &path, problems);
        }
        spec.gateway = of("gateway").and_then(|(node, path)| gateway::read(node, &path, problems));
        if let Some((node, path)) = of("gateways") {
            spec.gateways = gateway::several(node, &path, problems);
        }
        spec.prometheus =
            of("prometheus").and_then(|(node, path)| prometheus::read(node, &path, problems));
        spec.network_policy = fields.switch("network-policy", problems).unwrap_or(false);
        let possible = |time: &Span| (SECOND..=3600 * SECOND).contains(&time.0);
        if let Some(time) =
            fields.checked("start-timeout", "a time like 60s, from 1s to 1h", possible, problems)
        {
            let time: Span = time;
            spec.start_timeout_ns = time.0;
        }
        spec.allow_commands = fields.switch("allow-commands", problems).unwrap_or(false);
        out
    }

    /// Takes what the command line says of the cluster.
    pub(super) fn reached(&mut self, over: &ClusterOverrides) {
        for (own, said) in [
            (&mut self.spec.context, &over.context),
            (&mut self.spec.kubeconfig, &over.kubeconfig),
            (&mut self.spec.namespace, &over.namespace),
        ] {
            if said.is_some() {
                own.clone_from(said);
            }
        }
    }

    /// What to do about the Secrets for images; `None`: the run has a namespace that can have
    /// them, or needs none.
    pub(super) fn lacks_namespace(&self) -> Option<String> {
        let is_alone = self.spec.namespace.is_none();
        self.spec.pull_secrets.first().filter(|_| is_alone).map(|name| pull_secret::remedy(name))
    }

    /// Names of the nodes that the scenario says something of.
    pub(super) fn listed(&self) -> Option<Vec<&str>> {
        let nodes = &self.spec.nodes;
        (!nodes.is_empty()).then(|| nodes.iter().map(|node| node.name.as_str()).collect())
    }

    /// Whether the scenario says where `via: gateway` enters.
    pub(super) fn has_gateway(&self) -> bool {
        self.spec.gateway.is_some()
    }

    /// Whether runs make further objects, which may choose pods by the variants of a cluster's
    /// mesh.
    pub(super) fn has_objects(&self) -> bool {
        self.spec.mesh.provider != MeshProvider::Envoy && !self.spec.objects.is_empty()
    }

    /// Whether subjects may have commands.
    pub(super) fn allows_commands(&self) -> bool {
        self.spec.allow_commands
    }

    /// The mesh whose sidecars paths name.
    pub(super) fn provider(&self) -> MeshProvider {
        self.spec.mesh.provider
    }

    /// The names of the gateways that paths choose among.
    pub(super) fn gateways(&self) -> Vec<String> {
        self.spec.gateways.keys().cloned().collect()
    }

    /// The words of clusters with those that this one has besides.
    pub(super) fn vocabulary(&self, all: &Vocabulary) -> Vocabulary {
        let mut out = all.clone();
        for name in self.spec.networks.keys().filter(|name| all.network(name).is_none()) {
            let summary = "as `networks:` says".to_owned();
            out.networks.push(Network { name: name.clone(), summary, pod: true, both_ends: true });
        }
        for (name, class) in &self.spec.runtimes {
            if all.runtimes.iter().all(|(known, _)| known != name) {
                out.runtimes.push((name.clone(), format!("RuntimeClass {class}")));
            }
        }
        for (name, server) in &self.spec.servers {
            out.servers.retain(|known| known.name != *name);
            let request = server.request.clone().unwrap_or_else(|| "/".to_owned());
            out.servers.push(Server {
                name: name.clone(),
                summary: format!("image {}", server.image),
                request,
            });
        }
        out
    }

    /// With the nodes that the paths name, those of `lab` first and in its zones; and notes on
    /// nodes that no path names.
    pub(super) fn with(
        self,
        named: &BTreeSet<&str>,
        lab: Option<&Lab>,
    ) -> (ClusterSpec, Vec<String>) {
        let Self { mut spec } = self;
        let said = std::mem::take(&mut spec.nodes);
        let listed = lab.and_then(Lab::listed).unwrap_or_default();
        let mut order: Vec<&str> = Vec::new();
        for name in listed
            .into_iter()
            .chain(said.iter().map(|node| node.name.as_str()))
            .chain(named.iter().copied())
        {
            if named.contains(name) && !order.contains(&name) {
                order.push(name);
            }
        }
        let node = |name: &&str| {
            let said = said.iter().find(|node| node.name == **name).cloned();
            let mut node = said.unwrap_or_else(|| nodes::any(name));
            // Who names the cluster's node knows its zone.
            if node.node.is_none() && node.zone.is_none() {
                node.zone = lab.and_then(|lab| lab.zone(name)).map(str::to_owned);
            }
            node
        };
        spec.nodes = order.iter().map(node).collect();
        let idle = |node: &&ClusterNode| !named.contains(node.name.as_str());
        let notes = said
            .iter()
            .filter(idle)
            .map(|node| format!("node {} of the testbed: no path names it", node.name));
        let notes = notes.collect();
        (spec, notes)
    }
}

/// One of these words.
fn word(
    fields: &Fields<'_>,
    name: &str,
    words: &[&str],
    problems: &mut Problems,
) -> Option<String> {
    let node = fields.get(name)?;
    let text: String =
        crate::document::fields::parsed(node, &fields.path_of(name), &words.join(", "), problems)?;
    if words.contains(&text.as_str()) {
        return Some(text);
    }
    problems.unknown(node.at, &fields.path_of(name), &text, words);
    None
}
