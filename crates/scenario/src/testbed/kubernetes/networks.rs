//! `networks:` and `runtimes:`, what kinds of network and runtimes are on this cluster.

use std::collections::BTreeMap;

use hopbench_model::PodNetwork;

use super::patch::patch;
use super::texts::{annotations, labels};
use crate::document::fields::{Fields, joined, twice};
use crate::document::node::{Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::testbed::names::{DOMAIN, LABEL, is_domain, is_label};

/// The keys of a kind of network.
pub(crate) const NETWORK_KEYS: &[&str] =
    &["runtime-class", "annotations", "labels", "interface", "patch"];

const NETWORKS: &str = "kinds of network, like {overlay: {runtime-class: overlay}}";
const NETWORK: &str = "how pods get it, like {annotations: {...}, interface: net1}";
const INTERFACE: &str = "a network interface like net1";
const RUNTIMES: &str = "RuntimeClasses by runtime, like {runsc: gvisor}";

/// Reads `networks:`.
pub(super) fn read(
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> BTreeMap<String, PodNetwork> {
    let mut out = BTreeMap::new();
    let Some(entries) = entries(node, path, NETWORKS, problems) else {
        return out;
    };
    for (name, at, value) in entries {
        let key_path = joined(path, name);
        if name == "host" {
            problems.add(
                at,
                &key_path,
                "`host`",
                "a kind of pods: host is always the node's own network",
            );
        }
        out.insert(name.to_owned(), network(value, &key_path, problems));
    }
    out
}

/// Without anything said it is the cluster's own pod network.
fn network(node: &Node, path: &str, problems: &mut Problems) -> PodNetwork {
    let mut out = PodNetwork::default();
    if matches!(node.kind, Kind::Null) {
        return out;
    }
    let Some(fields) = Fields::read(node, path, NETWORK_KEYS, NETWORK, problems) else {
        return out;
    };
    out.runtime_class =
        fields.checked("runtime-class", DOMAIN, |name: &String| is_domain(name), problems);
    if let Some(node) = fields.get("annotations") {
        out.annotations = annotations(node, &fields.path_of("annotations"), problems);
    }
    if let Some(node) = fields.get("labels") {
        out.labels = labels(node, &fields.path_of("labels"), problems);
    }
    out.interface =
        fields.checked("interface", INTERFACE, |name: &String| is_interface(name), problems);
    out.patch =
        fields.get("patch").and_then(|node| patch(node, &fields.path_of("patch"), problems));
    out
}

/// Reads `runtimes:`.
pub(super) fn runtimes(
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (name, _, value) in entries(node, path, RUNTIMES, problems).unwrap_or_default() {
        match value.text() {
            Some(class) if is_domain(class) => drop(out.insert(name.to_owned(), class.to_owned())),
            _ => problems.add(value.at, &joined(path, name), value.shown(), DOMAIN),
        }
    }
    out
}

/// The entries under names that are words of paths.
pub(super) fn entries<'n>(
    node: &'n Node,
    path: &str,
    form: &str,
    problems: &mut Problems,
) -> Option<Vec<(&'n str, crate::document::node::At, &'n Node)>> {
    let Kind::Map(map) = &node.kind else {
        problems.add(node.at, path, node.shown(), form);
        return None;
    };
    if map.is_empty() {
        problems.add(node.at, path, "an empty mapping", form);
    }
    let mut out: Vec<(&str, crate::document::node::At, &Node)> = Vec::new();
    for (key, value) in map {
        if !is_label(&key.text) {
            problems.add(key.at, path, quoted(&key.text), LABEL);
        } else if out.iter().any(|(name, ..)| *name == key.text) {
            twice(key, path, problems);
        } else {
            out.push((&key.text, key.at, value));
        }
    }
    Some(out)
}

/// As the kernel calls interfaces.
fn is_interface(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | ':');
    (1..=15).contains(&text.len()) && text.chars().all(fine) && !matches!(text, "." | "..")
}
