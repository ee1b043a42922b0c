//! The packet path of a path: the links that must carry its packets, and those that must not.
//!
//! It is made of legs, each between two ends: the clients, the node whose port they use, the
//! servers. The way out and the way back are separate, because the destination of a packet chooses
//! its tunnel.

use std::collections::BTreeSet;

use hopbench_model::{LabSpec, Place, Via, nodes_text};
use hopbench_testbed::placement::{Endpoints, PodId};

use super::fabric::zones;
use super::kind::Reach;
use super::kinds::{KINDS, kind};

/// The namespace that a link is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Owner {
    Fabric,
    Node(String),
    Pod(PodId),
}

/// A link of the lab, by its name in its namespace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Link {
    pub(crate) owner: Owner,
    pub(crate) name: String,
}

/// `a/eth0`, as in the names of counters.
impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.owner {
            Owner::Fabric => write!(f, "fabric/{}", self.name),
            Owner::Node(node) => write!(f, "{node}/{}", self.name),
            Owner::Pod(pod) => write!(f, "{pod}/{}", self.name),
        }
    }
}

/// One side of the counters of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    Receives,
    Sends,
}

impl Side {
    /// The start of its counters' names.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Receives => "rx",
            Self::Sends => "tx",
        }
    }
}

/// The direction of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the clients to the servers.
    Out,
    /// From the servers to the clients.
    Back,
}

/// Links that together carry everything that goes one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) way: Way,
    pub(crate) side: Side,
    pub(crate) links: Vec<Link>,
}

/// A hop on the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hop {
    /// The NIC of a node.
    Nic(String),
    /// The translation of a Service's address on a node.
    Translation(String),
    /// Any other, in words.
    Other(String),
}

impl std::fmt::Display for Hop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nic(node) => write!(f, "eth0 of {node}"),
            Self::Translation(node) => write!(f, "dnat on {node}"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// The way of the packets of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PacketPath {
    /// The hops on the way out.
    pub(crate) hops: Vec<Hop>,
    /// The links that carry the traffic.
    pub(crate) stages: Vec<Stage>,
    /// The links that must stay still.
    pub(crate) still: Vec<(Link, Side)>,
    /// The links between the proxies and the services that they ask. They need not stay still.
    pub(crate) called: BTreeSet<(Link, Side)>,
    /// Of each end of a leg the nodes whose NICs together the traffic crosses, or as fast NICs
    /// beside them.
    pub(crate) nics: BTreeSet<Vec<String>>,
    /// Whether it crosses zones.
    pub(crate) crosses_zones: bool,
}

/// One end of a leg.
#[derive(Debug, Clone)]
struct LegEnd<'a> {
    /// Its nodes, over which the traffic is spread.
    nodes: Vec<&'a str>,
    reach: Reach,
    /// What people call it.
    label: String,
    /// How a path names it: gateways by their word, and not by the kind of their pods.
    said: String,
    pods: Vec<&'a PodId>,
}

impl<'a> LegEnd<'a> {
    /// An end at some pods, which all have a network of one kind.
    fn of(place: &'a Place, pods: Vec<&'a PodId>) -> Self {
        let reach = kind(&place.network).map_or(Reach::Node, |kind| kind.reach());
        let label = place.to_string();
        Self { nodes: place.nodes().collect(), reach, said: label.clone(), label, pods }
    }

    /// The gateways of a path, which all have a network of one kind.
    fn of_gateways(pods: &'a [PodId]) -> Option<Self> {
        let place = &pods.first()?.place;
        let mut nodes: Vec<&str> = Vec::new();
        for pod in pods {
            if !nodes.contains(&&*pod.place.node) {
                nodes.push(&pod.place.node);
            }
        }
        let end = Self::of(place, pods.iter().collect());
        let more_nodes = nodes[1..].iter().map(|node| (*node).to_owned()).collect();
        let label = Place { more_nodes, ..place.clone() }.to_string();
        let said = format!("gateway@{}", nodes_text(nodes.iter().copied()));
        Some(Self { nodes, label, said, ..end })
    }

    /// A node that only forwards.
    fn of_node(node: &'a str) -> Self {
        let label = format!("node {node}");
        Self { nodes: vec![node], reach: Reach::Node, said: label.clone(), label, pods: Vec::new() }
    }

    /// The number of the zone of its nodes; `None` where they have several.
    fn zone(&self, spec: &LabSpec) -> Option<usize> {
        let of =
            |name: &str| spec.nodes.iter().find(|node| node.name == name).map(|node| &node.zone);
        let zone = of(self.nodes.first()?)?;
        let is_one = self.nodes.iter().all(|node| of(node) == Some(zone));
        zones(spec).iter().position(|known| known == zone).filter(|_| is_one)
    }

    /// Its nodes in words: `b`, `[b, c]`.
    fn node_text(&self) -> String {
        nodes_text(self.nodes.iter().copied())
    }

    /// The interfaces of the pods; none where the end is a node's own stack.
    fn interfaces(&self) -> Vec<Link> {
        if self.reach == Reach::Node {
            return Vec::new();
        }
        self.pods
            .iter()
            .map(|pod| Link { owner: Owner::Pod((*pod).clone()), name: "eth0".to_owned() })
            .collect()
    }
}

/// The links of this name of some nodes.
fn links_of(nodes: &[&str], name: &str) -> Vec<Link> {
    let link = |node: &&str| Link { owner: Owner::Node((*node).to_owned()), name: name.to_owned() };
    nodes.iter().map(link).collect()
}

/// The way in which the packets of a leg leave a node, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Egress {
    /// They stay inside: from stack to stack, or over a bridge of the node.
    Inside,
    /// Past both nodes' stacks, without the nodes' NICs: `macvlan` pods of one node.
    OnNic,
    /// Over the fabric.
    Fabric,
    /// Over the fabric in this tunnel.
    Tunnel(&'static str),
}

fn egress(from: &LegEnd<'_>, to: &LegEnd<'_>) -> Egress {
    let same_node = from.nodes == to.nodes;
    match to.reach.tunnel() {
        _ if same_node && from.reach.is_routed() && to.reach.is_routed() => Egress::Inside,
        _ if same_node && from.reach == Reach::SharedNic && to.reach == Reach::SharedNic => {
            Egress::OnNic
        }
        Some(tunnel) if from.reach.is_routed() => Egress::Tunnel(tunnel),
        _ => Egress::Fabric,
    }
}

/// The tunnel devices that nodes may have.
pub(crate) fn tunnels() -> BTreeSet<&'static str> {
    KINDS.iter().filter_map(|kind| kind.reach().tunnel()).collect()
}

/// What to do about a path of which nothing can be mended.
const LEAVE_OUT: &str = "leave this path out";

/// The reason why packets cannot get from one end to the other, if there is one, with a remedy.
fn severed(from: &LegEnd<'_>, to: &LegEnd<'_>) -> Option<(String, &'static str)> {
    let is_shared = from.nodes.iter().any(|node| to.nodes.contains(node));
    // The traffic of some pods would stay on their node, and that of others would leave it.
    if is_shared && (from.nodes.len() > 1 || to.nodes.len() > 1) {
        let why = format!(
            "a lab knows the way of traffic between sets of nodes that have no node in common: \
             found {} and {}",
            from.said, to.said
        );
        return Some((why, "take other nodes for one of the two"));
    }
    let apart = |shared: &LegEnd<'_>, other: &LegEnd<'_>| {
        shared.reach == Reach::SharedNic && other.reach.is_routed() && is_shared
    };
    if !apart(from, to) && !apart(to, from) {
        return None;
    }
    let why = format!(
        "the kernel keeps a NIC's macvlan interfaces apart from the node that has the NIC: {} and \
         {} cannot talk",
        from.said, to.said
    );
    Some((why, LEAVE_OUT))
}

/// The legs of a path. A node port of the clients' own node is no leg: it is translated where they
/// are.
fn legs<'a>(endpoints: &'a Endpoints) -> Vec<(LegEnd<'a>, LegEnd<'a>)> {
    let from = LegEnd::of(&endpoints.path.from, endpoints.clients.iter().collect());
    let to = LegEnd::of(&endpoints.path.to, endpoints.servers.iter().collect());
    match &endpoints.path.via {
        Via::Gateway(node) => {
            let between =
                LegEnd::of_gateways(&endpoints.gateways).unwrap_or_else(|| LegEnd::of_node(node));
            vec![(from, between.clone()), (between, to)]
        }
        Via::NodePort(node) if !(from.reach == Reach::Node && from.nodes == [node]) => {
            let between = LegEnd::of_node(node);
            vec![(from, between.clone()), (between, to)]
        }
        _ => vec![(from, to)],
    }
}

/// The reason why a path cannot exist with any kernel: its ends are kept apart, or a Service cannot
/// be where its clients are. With a remedy.
pub(crate) fn impossible(endpoints: &Endpoints) -> Option<(String, &'static str)> {
    let legs = legs(endpoints);
    let (client, _) = legs.first()?;
    let translates = endpoints.path.via == Via::ClusterIp || endpoints.path.gateways.is_some();
    if translates && endpoints.path.from.is_set() {
        let why = format!("{}: a lab translates the address of a Service on one node", client.said);
        return Some((why, "use node-port, or one node"));
    }
    if translates && client.reach.is_on_fabric() {
        let why = format!(
            "{} is past its node's netfilter, which is where the address of a Service is \
             translated",
            client.said
        );
        return Some((why, "use node-port"));
    }
    let mut legs = legs.iter().cloned().chain(calls(endpoints));
    legs.find_map(|(from, to)| severed(&from, &to))
}

/// From the proxies of a path to the services that they ask.
fn calls(endpoints: &Endpoints) -> impl Iterator<Item = (LegEnd<'_>, LegEnd<'_>)> {
    fn end(pod: &PodId) -> LegEnd<'_> {
        LegEnd::of(&pod.place, vec![pod])
    }
    endpoints
        .policy
        .iter()
        .flat_map(|policy| endpoints.callers().map(move |proxy| (end(proxy), end(policy))))
}

impl PacketPath {
    /// The way of the packets of a path, as the lab was built for it.
    pub(crate) fn of(endpoints: &Endpoints, spec: &LabSpec) -> Self {
        let mut path = Self::default();
        let legs = legs(endpoints);
        let first_is_whole = legs.len() == 1;
        for (from, to) in &legs {
            let out = egress(from, to);
            // A node that begins a leg takes the address of the device it sends through: answers
            // come back to that.
            let back = if from.reach == Reach::Node { out } else { egress(to, from) };
            path.describe(from, to, out);
            path.stages_of(from, to, out, Way::Out, spec);
            path.stages_of(to, from, back, Way::Back, spec);
            if first_is_whole
                && out == Egress::Inside
                && from.reach == Reach::Node
                && to.reach == Reach::Node
            {
                let lo = links_of(&from.nodes, "lo");
                path.stages.push(Stage { way: Way::Out, side: Side::Sends, links: lo.clone() });
                path.stages.push(Stage { way: Way::Back, side: Side::Receives, links: lo });
            }
            if let Via::NodePort(node) = &endpoints.path.via
                && (first_is_whole || to.pods.is_empty())
            {
                path.hops.push(Hop::Translation(node.clone()));
            } else if let Via::Gateway(_) = &endpoints.path.via
                && to.pods.iter().copied().eq(&endpoints.gateways)
            {
                path.hops.push(Hop::Other(format!("gateway on {}", to.node_text())));
                if endpoints.service.is_some() {
                    path.translate_at(from);
                }
            } else if endpoints.path.via == Via::ClusterIp {
                path.translate_at(from);
            }
        }
        path.find_still(&legs);
        let mut talk = Self::default();
        for (from, to) in calls(endpoints) {
            talk.stages_of(&from, &to, egress(&from, &to), Way::Out, spec);
            talk.stages_of(&to, &from, egress(&to, &from), Way::Back, spec);
        }
        let links = |stage: Stage| stage.links.into_iter().map(move |link| (link, stage.side));
        path.called = talk.stages.into_iter().flat_map(links).collect();
        path
    }

    /// The address of a Service is translated on the node of the clients.
    fn translate_at(&mut self, clients: &LegEnd<'_>) {
        // Behind the interface of the client's pod, if it has one.
        let at = if matches!(self.hops.first(), None | Some(Hop::Nic(_))) { 0 } else { 1 };
        self.hops.insert(at, Hop::Translation(clients.node_text()));
    }

    fn describe(&mut self, from: &LegEnd<'_>, to: &LegEnd<'_>, out: Egress) {
        let interface = |end: &LegEnd<'_>| match end.reach {
            Reach::Node => None,
            Reach::Routed { .. } => Some(Hop::Other(format!("veth of {}", end.label))),
            Reach::SharedNic => Some(Hop::Other(format!("macvlan of {}", end.label))),
            Reach::OwnNic => Some(Hop::Other(format!("nic of {}", end.label))),
        };
        let segment = |end: &LegEnd<'_>| {
            let on = |bridge| Hop::Other(format!("bridge {bridge} on {}", end.node_text()));
            end.reach.segment().map(on)
        };
        self.hops.extend(interface(from));
        self.hops.extend(segment(from));
        let nic = |end: &LegEnd<'_>| match end.reach {
            Reach::OwnNic => None,
            _ => Some(Hop::Nic(end.node_text())),
        };
        match out {
            Egress::Inside if from.reach == Reach::Node && to.reach == Reach::Node => {
                self.hops.push(Hop::Other(format!("stack of {}", from.node_text())));
            }
            Egress::Inside | Egress::OnNic => {}
            Egress::Fabric => {
                self.hops.extend(nic(from));
                self.hops.push(Hop::Other("fabric".to_owned()));
                self.hops.extend(nic(to));
            }
            Egress::Tunnel(tunnel) => {
                self.hops.push(Hop::Other(format!("{tunnel} of {}", from.node_text())));
                self.hops.extend(nic(from));
                self.hops.push(Hop::Other("fabric".to_owned()));
                self.hops.extend(nic(to));
                self.hops.push(Hop::Other(format!("{tunnel} of {}", to.node_text())));
            }
        }
        let shared = out == Egress::Inside && from.reach.segment() == to.reach.segment();
        self.hops.extend(segment(to).filter(|_| !shared));
        self.hops.extend(interface(to));
    }

    fn stages_of(
        &mut self,
        from: &LegEnd<'_>,
        to: &LegEnd<'_>,
        egress: Egress,
        way: Way,
        spec: &LabSpec,
    ) {
        let mut stage = |side: Side, links: Vec<Link>| {
            if !links.is_empty() {
                self.stages.push(Stage { way, side, links });
            }
        };
        stage(Side::Sends, from.interfaces());
        if let Egress::Tunnel(tunnel) = egress {
            stage(Side::Sends, links_of(&from.nodes, tunnel));
        }
        if matches!(egress, Egress::Fabric | Egress::Tunnel(_)) {
            if from.reach != Reach::OwnNic {
                stage(Side::Sends, links_of(&from.nodes, "eth0"));
            }
            if let (Some(here), Some(there)) = (from.zone(spec), to.zone(spec))
                && here != there
            {
                let link =
                    |zone: usize| vec![Link { owner: Owner::Fabric, name: format!("up{zone}") }];
                stage(Side::Sends, link(here));
                stage(Side::Receives, link(there));
                self.crosses_zones = true;
            }
            if to.reach != Reach::OwnNic {
                stage(Side::Receives, links_of(&to.nodes, "eth0"));
            }
            let names =
                |end: &LegEnd<'_>| end.nodes.iter().map(|node| (*node).to_owned()).collect();
            self.nics.extend([names(from), names(to)]);
        }
        if let Egress::Tunnel(tunnel) = egress {
            stage(Side::Receives, links_of(&to.nodes, tunnel));
        }
        stage(Side::Receives, to.interfaces());
    }

    /// NICs and tunnels of the nodes that take part: those that no stage names must stay still.
    fn find_still(&mut self, legs: &[(LegEnd<'_>, LegEnd<'_>)]) {
        let nodes: BTreeSet<&str> = legs
            .iter()
            .flat_map(|(from, to)| from.nodes.iter().chain(&to.nodes))
            .copied()
            .collect();
        for node in nodes {
            for name in tunnels().into_iter().chain(["eth0"]) {
                let link = Link { owner: Owner::Node(node.to_owned()), name: name.to_owned() };
                for side in [Side::Sends, Side::Receives] {
                    let carries = self
                        .stages
                        .iter()
                        .any(|stage| stage.side == side && stage.links.contains(&link));
                    if !carries {
                        self.still.push((link.clone(), side));
                    }
                }
            }
        }
    }

    /// All links whose counters the proof looks at.
    pub(crate) fn links(&self) -> BTreeSet<&Link> {
        self.stages
            .iter()
            .flat_map(|stage| &stage.links)
            .chain(self.still.iter().map(|(link, _)| link))
            .collect()
    }

    /// Whether packets travel in a tunnel, out or back.
    pub(crate) fn is_tunnelled(&self) -> bool {
        let tunnels = tunnels();
        self.stages
            .iter()
            .flat_map(|stage| &stage.links)
            .any(|link| tunnels.contains(link.name.as_str()))
    }
}
