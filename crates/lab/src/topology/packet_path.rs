//! The packet path of a path: the links that must carry its packets, and those that must not.
//!
//! It is made of legs, each between two ends: the clients, the node whose port they use, the
//! servers. The way out and the way back are separate, because the destination of a packet chooses
//! its tunnel.

use std::collections::BTreeSet;

use hopbench_model::{LabSpec, Via};
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
    /// Nodes whose NIC all of the traffic crosses, or as fast a NIC beside it.
    pub(crate) nics: BTreeSet<String>,
    /// Whether it crosses zones.
    pub(crate) crosses_zones: bool,
}

/// One end of a leg.
#[derive(Debug, Clone, Copy)]
struct LegEnd<'a> {
    node: &'a str,
    reach: Reach,
    pods: &'a [PodId],
}

impl LegEnd<'_> {
    /// The interfaces of the pods; none where the end is a node's own stack.
    fn interfaces(&self) -> Vec<Link> {
        if self.reach == Reach::Node {
            return Vec::new();
        }
        self.pods
            .iter()
            .map(|pod| Link { owner: Owner::Pod(pod.clone()), name: "eth0".to_owned() })
            .collect()
    }

    fn label(&self) -> String {
        match self.pods {
            [] => format!("node {}", self.node),
            [pod, ..] => pod.place.to_string(),
        }
    }
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

fn egress(from: LegEnd<'_>, to: LegEnd<'_>) -> Egress {
    let same_node = from.node == to.node;
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

/// The reason why packets cannot get from one end to the other, if there is one.
fn severed(from: LegEnd<'_>, to: LegEnd<'_>) -> Option<String> {
    let apart = |shared: LegEnd<'_>, other: LegEnd<'_>| {
        shared.reach == Reach::SharedNic && other.reach.is_routed() && shared.node == other.node
    };
    if !apart(from, to) && !apart(to, from) {
        return None;
    }
    Some(format!(
        "the kernel keeps a NIC's macvlan interfaces apart from the node that has the NIC: {} and {} cannot talk",
        from.label(),
        to.label()
    ))
}

/// The legs of a path. A node port of the clients' own node is no leg: it is translated where they
/// are.
fn legs<'a>(endpoints: &'a Endpoints) -> Vec<(LegEnd<'a>, LegEnd<'a>)> {
    let reach = |network: &str| kind(network).map_or(Reach::Node, |kind| kind.reach());
    let from = LegEnd {
        node: &endpoints.path.from.node,
        reach: reach(&endpoints.path.from.network),
        pods: &endpoints.clients,
    };
    let to = LegEnd {
        node: &endpoints.path.to.node,
        reach: reach(&endpoints.path.to.network),
        pods: &endpoints.servers,
    };
    match &endpoints.path.via {
        Via::Gateway(node) => {
            let pods = endpoints.gateway.as_slice();
            let network = pods.first().map_or("host", |pod| pod.place.network.as_str());
            let between = LegEnd { node, reach: reach(network), pods };
            vec![(from, between), (between, to)]
        }
        Via::NodePort(node) if !(from.reach == Reach::Node && from.node == node) => {
            let between = LegEnd { node, reach: Reach::Node, pods: &[] };
            vec![(from, between), (between, to)]
        }
        _ => vec![(from, to)],
    }
}

/// The reason why a path cannot exist with any kernel: its ends are kept apart, or a Service cannot
/// be where its clients are.
pub(crate) fn impossible(endpoints: &Endpoints) -> Option<String> {
    let legs = legs(endpoints);
    let client = legs.first().map(|(from, _)| *from)?;
    if endpoints.path.via == Via::ClusterIp && client.reach.is_on_fabric() {
        return Some(format!(
            "{} is past its node's netfilter, which is where the address of a Service is translated; use node-port",
            client.label()
        ));
    }
    legs.into_iter().chain(calls(endpoints)).find_map(|(from, to)| severed(from, to))
}

/// From the proxies of a path to the services that they ask.
fn calls(endpoints: &Endpoints) -> impl Iterator<Item = (LegEnd<'_>, LegEnd<'_>)> {
    fn end(pod: &PodId) -> LegEnd<'_> {
        let reach = kind(&pod.place.network).map_or(Reach::Node, |kind| kind.reach());
        LegEnd { node: &pod.place.node, reach, pods: std::slice::from_ref(pod) }
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
            let out = egress(*from, *to);
            // A node that begins a leg takes the address of the device it sends through: answers
            // come back to that.
            let back = if from.reach == Reach::Node { out } else { egress(*to, *from) };
            path.describe(*from, *to, out);
            path.stages_of(*from, *to, out, Way::Out, spec);
            path.stages_of(*to, *from, back, Way::Back, spec);
            if first_is_whole
                && out == Egress::Inside
                && from.reach == Reach::Node
                && to.reach == Reach::Node
            {
                let lo =
                    vec![Link { owner: Owner::Node(from.node.to_owned()), name: "lo".to_owned() }];
                path.stages.push(Stage { way: Way::Out, side: Side::Sends, links: lo.clone() });
                path.stages.push(Stage { way: Way::Back, side: Side::Receives, links: lo });
            }
            if let Via::NodePort(node) = &endpoints.path.via
                && (first_is_whole || to.pods.is_empty())
            {
                path.hops.push(Hop::Translation(node.clone()));
            } else if let Via::Gateway(node) = &endpoints.path.via
                && to.pods == endpoints.gateway.as_slice()
            {
                path.hops.push(Hop::Other(format!("gateway on {node}")));
            } else if endpoints.path.via == Via::ClusterIp {
                // Behind the interface of the client's pod, if it has one.
                let at = if matches!(path.hops.first(), None | Some(Hop::Nic(_))) { 0 } else { 1 };
                path.hops.insert(at, Hop::Translation(from.node.to_owned()));
            }
        }
        path.find_still(&legs);
        let mut talk = Self::default();
        for (from, to) in calls(endpoints) {
            talk.stages_of(from, to, egress(from, to), Way::Out, spec);
            talk.stages_of(to, from, egress(to, from), Way::Back, spec);
        }
        let links = |stage: Stage| stage.links.into_iter().map(move |link| (link, stage.side));
        path.called = talk.stages.into_iter().flat_map(links).collect();
        path
    }

    fn describe(&mut self, from: LegEnd<'_>, to: LegEnd<'_>, out: Egress) {
        let interface = |end: LegEnd<'_>| match end.reach {
            Reach::Node => None,
            Reach::Routed { .. } => Some(Hop::Other(format!("veth of {}", end.label()))),
            Reach::SharedNic => Some(Hop::Other(format!("macvlan of {}", end.label()))),
            Reach::OwnNic => Some(Hop::Other(format!("nic of {}", end.label()))),
        };
        let segment = |end: LegEnd<'_>| {
            end.reach.segment().map(|bridge| Hop::Other(format!("bridge {bridge} on {}", end.node)))
        };
        self.hops.extend(interface(from));
        self.hops.extend(segment(from));
        let nic = |end: LegEnd<'_>| match end.reach {
            Reach::OwnNic => None,
            _ => Some(Hop::Nic(end.node.to_owned())),
        };
        match out {
            Egress::Inside if from.reach == Reach::Node && to.reach == Reach::Node => {
                self.hops.push(Hop::Other(format!("stack of {}", from.node)));
            }
            Egress::Inside | Egress::OnNic => {}
            Egress::Fabric => {
                self.hops.extend(nic(from));
                self.hops.push(Hop::Other("fabric".to_owned()));
                self.hops.extend(nic(to));
            }
            Egress::Tunnel(tunnel) => {
                self.hops.push(Hop::Other(format!("{tunnel} of {}", from.node)));
                self.hops.extend(nic(from));
                self.hops.push(Hop::Other("fabric".to_owned()));
                self.hops.extend(nic(to));
                self.hops.push(Hop::Other(format!("{tunnel} of {}", to.node)));
            }
        }
        let shared = out == Egress::Inside && from.reach.segment() == to.reach.segment();
        self.hops.extend(segment(to).filter(|_| !shared));
        self.hops.extend(interface(to));
    }

    fn stages_of(
        &mut self,
        from: LegEnd<'_>,
        to: LegEnd<'_>,
        egress: Egress,
        way: Way,
        spec: &LabSpec,
    ) {
        let mut stage = |side: Side, links: Vec<Link>| {
            if !links.is_empty() {
                self.stages.push(Stage { way, side, links });
            }
        };
        let of_node = |node: &str, name: &str| {
            vec![Link { owner: Owner::Node(node.to_owned()), name: name.to_owned() }]
        };
        stage(Side::Sends, from.interfaces());
        if let Egress::Tunnel(tunnel) = egress {
            stage(Side::Sends, of_node(from.node, tunnel));
        }
        if matches!(egress, Egress::Fabric | Egress::Tunnel(_)) {
            if from.reach != Reach::OwnNic {
                stage(Side::Sends, of_node(from.node, "eth0"));
            }
            let zone = |end: LegEnd<'_>| {
                let name = &spec.nodes.iter().find(|node| node.name == end.node)?.zone;
                zones(spec).iter().position(|zone| zone == name)
            };
            if let (Some(here), Some(there)) = (zone(from), zone(to))
                && here != there
            {
                let link =
                    |zone: usize| vec![Link { owner: Owner::Fabric, name: format!("up{zone}") }];
                stage(Side::Sends, link(here));
                stage(Side::Receives, link(there));
                self.crosses_zones = true;
            }
            if to.reach != Reach::OwnNic {
                stage(Side::Receives, of_node(to.node, "eth0"));
            }
            self.nics.extend([from.node.to_owned(), to.node.to_owned()]);
        }
        if let Egress::Tunnel(tunnel) = egress {
            stage(Side::Receives, of_node(to.node, tunnel));
        }
        stage(Side::Receives, to.interfaces());
    }

    /// NICs and tunnels of the nodes that take part: those that no stage names must stay still.
    fn find_still(&mut self, legs: &[(LegEnd<'_>, LegEnd<'_>)]) {
        let nodes: BTreeSet<&str> =
            legs.iter().flat_map(|(from, to)| [from.node, to.node]).collect();
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
