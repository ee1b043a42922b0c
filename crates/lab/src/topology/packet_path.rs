//! The way of a path's packets: which links carry them, and which must not.
//!
//! A way is made of legs, each between two ends: the clients, the node whose port they use, the servers. Out and back
//! are looked at apart, since a tunnel is chosen by where a packet goes, not by where the answer went.

use std::collections::BTreeSet;

use hopbench_model::{LabSpec, Via};

use crate::cast::Cast;
use crate::kind::Reach;
use crate::kinds::kind;
use crate::pod::PodId;

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

/// Which of a link's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    Receives,
    Sends,
}

impl Side {
    /// How its counters begin.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Receives => "rx",
            Self::Sends => "tx",
        }
    }
}

/// Which way the packets go.
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

/// The way of a path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Trail {
    /// In words, out.
    pub(crate) hops: Vec<String>,
    /// What carries the traffic.
    pub(crate) stages: Vec<Stage>,
    /// What must stay still.
    pub(crate) still: Vec<(Link, Side)>,
    /// What carries what the proxies say to the services that they ask, and need not stay still where they do.
    pub(crate) called: BTreeSet<(Link, Side)>,
    /// Nodes whose NIC all of the traffic crosses, or as fast a NIC beside it.
    pub(crate) nics: BTreeSet<String>,
    /// Whether it crosses zones.
    pub(crate) crosses_zones: bool,
}

/// One end of a leg.
#[derive(Debug, Clone, Copy)]
struct End<'a> {
    node: &'a str,
    reach: Reach,
    pods: &'a [PodId],
}

impl End<'_> {
    /// The interfaces of the pods; none where the end is a node's own stack.
    fn interfaces(&self) -> Vec<Link> {
        if self.reach == Reach::Node {
            return Vec::new();
        }
        self.pods.iter().map(|pod| Link { owner: Owner::Pod(pod.clone()), name: "eth0".to_owned() }).collect()
    }

    fn label(&self) -> String {
        match self.pods {
            [] => format!("node {}", self.node),
            [pod, ..] => pod.place.to_string(),
        }
    }
}

/// How the packets of a leg leave a node, one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// They do not: from stack to stack, or over a bridge of the node.
    Inside,
    /// Past both nodes' stacks, without the nodes' NICs: `macvlan` pods of one node.
    OnNic,
    /// Over the fabric.
    Fabric,
    /// Over the fabric in this tunnel.
    Tunnel(&'static str),
}

fn transport(from: End<'_>, to: End<'_>) -> Transport {
    let same_node = from.node == to.node;
    match to.reach.tunnel() {
        _ if same_node && from.reach.is_routed() && to.reach.is_routed() => Transport::Inside,
        _ if same_node && from.reach == Reach::SharedNic && to.reach == Reach::SharedNic => Transport::OnNic,
        Some(tunnel) if from.reach.is_routed() => Transport::Tunnel(tunnel),
        _ => Transport::Fabric,
    }
}

/// The tunnel devices that nodes may have.
pub(crate) fn tunnels() -> BTreeSet<&'static str> {
    crate::KINDS.iter().filter_map(|kind| kind.reach().tunnel()).collect()
}

/// Why packets cannot get from one end to the other, if they cannot.
fn severed(from: End<'_>, to: End<'_>) -> Option<String> {
    let apart = |shared: End<'_>, other: End<'_>| {
        shared.reach == Reach::SharedNic && other.reach.is_routed() && shared.node == other.node
    };
    (apart(from, to) || apart(to, from)).then(|| {
        format!(
            "the kernel keeps a NIC's macvlan interfaces apart from the node that has the NIC: {} and {} cannot talk",
            from.label(),
            to.label()
        )
    })
}

/// The legs of a path. A node port of the clients' own node is no leg: it is translated where they are.
fn legs<'a>(cast: &'a Cast) -> Vec<(End<'a>, End<'a>)> {
    let reach = |network: &str| kind(network).map_or(Reach::Node, |kind| kind.reach());
    let from = End { node: &cast.path.from.node, reach: reach(&cast.path.from.network), pods: &cast.clients };
    let to = End { node: &cast.path.to.node, reach: reach(&cast.path.to.network), pods: &cast.servers };
    match &cast.path.via {
        Via::Gateway(node) => {
            let pods = cast.gateway.as_slice();
            let network = pods.first().map_or("host", |pod| pod.place.network.as_str());
            let between = End { node, reach: reach(network), pods };
            vec![(from, between), (between, to)]
        }
        Via::NodePort(node) if !(from.reach == Reach::Node && from.node == node) => {
            let between = End { node, reach: Reach::Node, pods: &[] };
            vec![(from, between), (between, to)]
        }
        _ => vec![(from, to)],
    }
}

/// Why a path cannot exist with any kernel: its ends are kept apart, or a Service cannot be where its clients are.
pub(crate) fn impossible(cast: &Cast) -> Option<String> {
    let legs = legs(cast);
    let client = legs.first().map(|(from, _)| *from)?;
    if cast.path.via == Via::ClusterIp && client.reach.is_on_fabric() {
        return Some(format!(
            "{} is past its node's netfilter, which is where the address of a Service is translated; use node-port",
            client.label()
        ));
    }
    legs.into_iter().chain(calls(cast)).find_map(|(from, to)| severed(from, to))
}

/// From the proxies of a path to the services that they ask.
fn calls(cast: &Cast) -> impl Iterator<Item = (End<'_>, End<'_>)> {
    fn end(pod: &PodId) -> End<'_> {
        let reach = kind(&pod.place.network).map_or(Reach::Node, |kind| kind.reach());
        End { node: &pod.place.node, reach, pods: std::slice::from_ref(pod) }
    }
    cast.policy.iter().flat_map(|policy| cast.callers().map(move |proxy| (end(proxy), end(policy))))
}

impl Trail {
    /// The way of a path, as the lab was built for it.
    pub(crate) fn of(cast: &Cast, spec: &LabSpec) -> Self {
        let mut trail = Self::default();
        let legs = legs(cast);
        let first_is_whole = legs.len() == 1;
        for (from, to) in &legs {
            let out = transport(*from, *to);
            // A node that begins a leg takes the address of the device it sends through: answers come back to that.
            let back = if from.reach == Reach::Node { out } else { transport(*to, *from) };
            trail.describe(*from, *to, out);
            trail.stages_of(*from, *to, out, Way::Out, spec);
            trail.stages_of(*to, *from, back, Way::Back, spec);
            if first_is_whole && out == Transport::Inside && from.reach == Reach::Node && to.reach == Reach::Node {
                let lo = vec![Link { owner: Owner::Node(from.node.to_owned()), name: "lo".to_owned() }];
                trail.stages.push(Stage { way: Way::Out, side: Side::Sends, links: lo.clone() });
                trail.stages.push(Stage { way: Way::Back, side: Side::Receives, links: lo });
            }
            if let Via::NodePort(node) = &cast.path.via
                && (first_is_whole || to.pods.is_empty())
            {
                trail.hops.push(format!("dnat on {node}"));
            } else if let Via::Gateway(node) = &cast.path.via
                && to.pods == cast.gateway.as_slice()
            {
                trail.hops.push(format!("gateway on {node}"));
            } else if cast.path.via == Via::ClusterIp {
                let at = trail.hops.iter().position(|hop| hop.starts_with("eth0 of")).unwrap_or(trail.hops.len());
                trail.hops.insert(at.min(1), format!("dnat on {}", from.node));
            }
        }
        trail.find_still(&legs);
        let mut talk = Self::default();
        for (from, to) in calls(cast) {
            talk.stages_of(from, to, transport(from, to), Way::Out, spec);
            talk.stages_of(to, from, transport(to, from), Way::Back, spec);
        }
        let links = |stage: Stage| stage.links.into_iter().map(move |link| (link, stage.side));
        trail.called = talk.stages.into_iter().flat_map(links).collect();
        trail
    }

    fn describe(&mut self, from: End<'_>, to: End<'_>, out: Transport) {
        let interface = |end: End<'_>| match end.reach {
            Reach::Node => None,
            Reach::Routed { .. } => Some(format!("veth of {}", end.label())),
            Reach::SharedNic => Some(format!("macvlan of {}", end.label())),
            Reach::OwnNic => Some(format!("nic of {}", end.label())),
        };
        let segment = |end: End<'_>| end.reach.segment().map(|bridge| format!("bridge {bridge} on {}", end.node));
        self.hops.extend(interface(from));
        self.hops.extend(segment(from));
        let nic = |end: End<'_>| (end.reach != Reach::OwnNic).then(|| format!("eth0 of {}", end.node));
        match out {
            Transport::Inside if from.reach == Reach::Node && to.reach == Reach::Node => {
                self.hops.push(format!("stack of {}", from.node));
            }
            Transport::Inside | Transport::OnNic => {}
            Transport::Fabric => {
                self.hops.extend(nic(from));
                self.hops.push("fabric".to_owned());
                self.hops.extend(nic(to));
            }
            Transport::Tunnel(tunnel) => {
                self.hops.push(format!("{tunnel} of {}", from.node));
                self.hops.extend(nic(from));
                self.hops.push("fabric".to_owned());
                self.hops.extend(nic(to));
                self.hops.push(format!("{tunnel} of {}", to.node));
            }
        }
        let shared = out == Transport::Inside && from.reach.segment() == to.reach.segment();
        self.hops.extend(segment(to).filter(|_| !shared));
        self.hops.extend(interface(to));
    }

    fn stages_of(&mut self, from: End<'_>, to: End<'_>, transport: Transport, way: Way, spec: &LabSpec) {
        let mut stage = |side: Side, links: Vec<Link>| {
            if !links.is_empty() {
                self.stages.push(Stage { way, side, links });
            }
        };
        let of_node =
            |node: &str, name: &str| vec![Link { owner: Owner::Node(node.to_owned()), name: name.to_owned() }];
        stage(Side::Sends, from.interfaces());
        if let Transport::Tunnel(tunnel) = transport {
            stage(Side::Sends, of_node(from.node, tunnel));
        }
        if matches!(transport, Transport::Fabric | Transport::Tunnel(_)) {
            if from.reach != Reach::OwnNic {
                stage(Side::Sends, of_node(from.node, "eth0"));
            }
            let zone = |end: End<'_>| {
                let name = &spec.nodes.iter().find(|node| node.name == end.node)?.zone;
                crate::fabric::zones(spec).iter().position(|zone| zone == name)
            };
            if let (Some(here), Some(there)) = (zone(from), zone(to))
                && here != there
            {
                let link = |zone: usize| vec![Link { owner: Owner::Fabric, name: format!("up{zone}") }];
                stage(Side::Sends, link(here));
                stage(Side::Receives, link(there));
                self.crosses_zones = true;
            }
            if to.reach != Reach::OwnNic {
                stage(Side::Receives, of_node(to.node, "eth0"));
            }
            self.nics.extend([from.node.to_owned(), to.node.to_owned()]);
        }
        if let Transport::Tunnel(tunnel) = transport {
            stage(Side::Receives, of_node(to.node, tunnel));
        }
        stage(Side::Receives, to.interfaces());
    }

    /// NICs and tunnels of the nodes that take part: those that no stage names must stay still.
    fn find_still(&mut self, legs: &[(End<'_>, End<'_>)]) {
        let nodes: BTreeSet<&str> = legs.iter().flat_map(|(from, to)| [from.node, to.node]).collect();
        for node in nodes {
            for name in tunnels().into_iter().chain(["eth0"]) {
                let link = Link { owner: Owner::Node(node.to_owned()), name: name.to_owned() };
                for side in [Side::Sends, Side::Receives] {
                    let carries = self.stages.iter().any(|stage| stage.side == side && stage.links.contains(&link));
                    if !carries {
                        self.still.push((link.clone(), side));
                    }
                }
            }
        }
    }

    /// All links whose counters the proof looks at.
    pub(crate) fn links(&self) -> BTreeSet<&Link> {
        self.stages.iter().flat_map(|stage| &stage.links).chain(self.still.iter().map(|(link, _)| link)).collect()
    }

    /// Whether packets travel in a tunnel, out or back.
    pub(crate) fn is_tunnelled(&self) -> bool {
        let tunnels = tunnels();
        self.stages.iter().flat_map(|stage| &stage.links).any(|link| tunnels.contains(link.name.as_str()))
    }
}
