//! `lab:`, network namespaces on this machine.

use std::collections::BTreeSet;

use hopbench_model::units::{BitRate, Span};
use hopbench_model::{LabNode, LabSpec, MOST_SERVER_WORK, NodeSettings, SECOND};

use crate::document::fields::{Fields, joined, named, parsed};
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;

/// The keys of a lab.
pub(crate) const LAB_KEYS: &[&str] = &["nodes", "link", "mtu", "zone-link", "zone-delay"];
/// The keys of a node.
pub(crate) const NODE_KEYS: &[&str] = &["zone", "link", SERVER_WORK];
/// The key of what a node's servers do before each answer.
const SERVER_WORK: &str = "server-work";
/// The most nodes of a lab.
pub(crate) const MOST_NODES: usize = 100;
/// Lower and upper bound of an MTU, bytes.
pub(crate) const MTU: std::ops::RangeInclusive<u32> = 1280..=65_535;

/// The zone of nodes that name none.
const ZONE: &str = "zone";
const RATE: &str = "a bit rate like 10Gbit, from 1kbit to 1000Gbit";
const NODES: &str = "a number of nodes, a list like [a, b] or a mapping like {a: {zone: x}}";
const LONGEST_NODE: usize = 15;

/// What a node of a lab may be called: interface names, which have 15 characters, are made of it.
pub(crate) const NODE_NAME: &str =
    "a name of at most 15 lower-case letters, digits and - that starts with a letter";

/// Whether a text is a [`NODE_NAME`].
pub(crate) fn is_node_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= LONGEST_NODE
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(rest)
}

/// A lab, but for nodes that only paths name.
#[derive(Debug)]
pub(super) struct Lab {
    /// The nodes that the scenario lists.
    nodes: Option<Vec<LabNode>>,
    /// Of nodes that say nothing else, bits/s.
    link_bits_per_s: Option<u64>,
    mtu: u32,
    zone_link_bits_per_s: Option<u64>,
    zone_delay_ns: u64,
    /// The keys that say how the network behaves, as they are called.
    shaped: Vec<&'static str>,
}

impl Default for Lab {
    fn default() -> Self {
        let (nodes, shaped) = (None, Vec::new());
        Self {
            nodes,
            link_bits_per_s: None,
            mtu: 1500,
            zone_link_bits_per_s: None,
            zone_delay_ns: 0,
            shaped,
        }
    }
}

impl Lab {
    /// Whether a link has a rate.
    pub(super) fn has_shaped_links(&self) -> bool {
        let of_node = |node: &LabNode| node.link_bits_per_s.is_some();
        self.link_bits_per_s.is_some()
            || self.zone_link_bits_per_s.is_some()
            || self.nodes.iter().flatten().any(of_node)
    }

    /// Reads the block; nothing in it is a lab with nothing said about it.
    pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        if matches!(node.kind, Kind::Null) {
            return Self::default();
        }
        let Some(fields) =
            Fields::read(node, path, LAB_KEYS, "a mapping like {nodes: 3}", problems)
        else {
            return Self::default();
        };
        let link_bits_per_s = link(&fields, "link", problems);
        let nodes = fields
            .get("nodes")
            .and_then(|node| nodes(node, &fields.path_of("nodes"), link_bits_per_s, problems));
        let mtu = fields
            .checked("mtu", "1280 to 65535 bytes", |mtu| MTU.contains(mtu), problems)
            .unwrap_or(1500);
        let zone_link_bits_per_s = link(&fields, "zone-link", problems);
        let short = |delay: &Span| delay.0 <= 10 * SECOND;
        let zone_delay_ns = fields
            .checked("zone-delay", "a time like 2ms, at most 10s", short, problems)
            .map_or(0, |delay| delay.0);
        let zones: BTreeSet<&str> = nodes.iter().flatten().map(|node| node.zone.as_str()).collect();
        if zones.len() < 2 {
            for name in ["zone-link", "zone-delay"] {
                if let Some(node) = fields.get(name) {
                    let expected =
                        "at least two zones: give nodes a zone, like {a: {zone: x}, b: {zone: z}}";
                    problems.add(node.at, &fields.path_of(name), node.shown(), expected);
                }
            }
        }
        let nodes_shaped = nodes.iter().flatten().any(|node| node.link_bits_per_s.is_some());
        let is_shaped = |name: &&str| match *name {
            "nodes" => false,
            "link" => nodes_shaped || link_bits_per_s.is_some(),
            name => fields.get(name).is_some(),
        };
        let mut shaped: Vec<&str> = LAB_KEYS.iter().copied().filter(is_shaped).collect();
        if nodes.iter().flatten().any(|node| node.server_work_ns.is_some()) {
            shaped.push(SERVER_WORK);
        }
        Self { nodes, link_bits_per_s, mtu, zone_link_bits_per_s, zone_delay_ns, shaped }
    }

    /// Names of the nodes that the scenario lists.
    pub(super) fn listed(&self) -> Option<Vec<&str>> {
        self.nodes.as_ref().map(|nodes| nodes.iter().map(|node| node.name.as_str()).collect())
    }

    /// The zones of the nodes, where the scenario says any: what another testbed can take over.
    pub(super) fn zone(&self, name: &str) -> Option<&str> {
        let nodes = self.nodes.as_deref()?;
        let said = nodes.iter().any(|node| node.zone != ZONE);
        nodes.iter().find(|node| said && node.name == name).map(|node| node.zone.as_str())
    }

    /// The keys that only a lab can keep.
    pub(super) fn shaped(&self) -> &[&'static str] {
        &self.shaped
    }

    /// With the nodes that the paths name, where the scenario lists none.
    pub(super) fn with(self, named: &BTreeSet<&str>) -> LabSpec {
        let Self { nodes, link_bits_per_s, mtu, zone_link_bits_per_s, zone_delay_ns, .. } = self;
        let nodes = nodes
            .unwrap_or_else(|| named.iter().map(|name| lab_node(name, link_bits_per_s)).collect());
        LabSpec { nodes, mtu, zone_link_bits_per_s, zone_delay_ns }
    }
}

fn lab_node(name: &str, link_bits_per_s: Option<u64>) -> LabNode {
    let (name, zone) = (name.to_owned(), ZONE.to_owned());
    LabNode {
        name,
        zone,
        link_bits_per_s,
        server_work_ns: None,
        stands_for: None,
        settings: NodeSettings::default(),
    }
}

/// The rate of a link.
pub(super) fn link(fields: &Fields<'_>, name: &str, problems: &mut Problems) -> Option<u64> {
    let possible = |rate: &BitRate| (1_000..=1_000_000_000_000).contains(&rate.0);
    fields.checked(name, RATE, possible, problems).map(|rate: BitRate| rate.0)
}

fn nodes(
    node: &Node,
    path: &str,
    link_bits_per_s: Option<u64>,
    problems: &mut Problems,
) -> Option<Vec<LabNode>> {
    let before = problems.count();
    let mut nodes = Vec::new();
    match &node.kind {
        Kind::Scalar(_) => {
            let count: usize = parsed(node, path, NODES, problems)?;
            if !(1..=MOST_NODES).contains(&count) {
                problems.add(node.at, path, node.shown(), "1 to 100 nodes");
                return None;
            }
            nodes.extend((0..count).map(|i| lab_node(&nth_name(i), link_bits_per_s)));
        }
        Kind::List(list) if !list.is_empty() => {
            for name in list {
                let text: String = parsed(name, path, NODE_NAME, problems)?;
                add(&mut nodes, lab_node(&text, link_bits_per_s), name.at, path, problems);
            }
        }
        Kind::Map(_) => {
            for (key, value) in named(node, path, NODES, problems)? {
                let mut lab_node = lab_node(&key.text, link_bits_per_s);
                let key_path = joined(path, &key.text);
                if !matches!(value.kind, Kind::Null)
                    && let Some(fields) = Fields::read(
                        value,
                        &key_path,
                        NODE_KEYS,
                        "a mapping like {zone: x}",
                        problems,
                    )
                {
                    lab_node.link_bits_per_s = link(&fields, "link", problems).or(link_bits_per_s);
                    let zone = fields.checked(
                        "zone",
                        NODE_NAME,
                        |zone: &String| is_node_name(zone),
                        problems,
                    );
                    lab_node.zone = zone.unwrap_or_else(|| ZONE.to_owned());
                    let short = |work: &Span| (1..=MOST_SERVER_WORK).contains(&work.0);
                    let work = fields.checked(
                        SERVER_WORK,
                        "a time like 5us, more than 0 and at most 10ms",
                        short,
                        problems,
                    );
                    lab_node.server_work_ns = work.map(|work| work.0);
                }
                add(&mut nodes, lab_node, key.at, path, problems);
            }
        }
        _ => {
            problems.add(node.at, path, node.shown(), NODES);
            return None;
        }
    }
    if nodes.len() > MOST_NODES {
        problems.add(node.at, path, format!("{} nodes", nodes.len()), "1 to 100 nodes");
    }
    // With a list that is wrong in part, every path to a missing node would be reported too.
    (problems.count() == before).then_some(nodes)
}

fn add(nodes: &mut Vec<LabNode>, node: LabNode, at: At, path: &str, problems: &mut Problems) {
    let shown = quoted(&node.name);
    if !is_node_name(&node.name) {
        problems.add(at, path, shown, NODE_NAME);
    } else if nodes.iter().any(|known| known.name == node.name) {
        problems.add(at, path, format!("{shown} a second time"), "each node once");
    } else {
        nodes.push(node);
    }
}

/// a, b ... z, aa, ab ...
fn nth_name(index: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    match index / 26 {
        0 => letter(index).to_string(),
        more => format!("{}{}", letter(more - 1), letter(index)),
    }
}
