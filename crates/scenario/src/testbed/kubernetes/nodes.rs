//! `nodes:`, which node of the cluster a node of the scenario is.

use hopbench_model::ClusterNode;

use super::texts::labels;
use crate::document::fields::{Fields, joined, twice};
use crate::document::node::{Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::testbed::lab::{is_node_name, link};
use crate::testbed::names::{DOMAIN, is_domain, is_label_value};

/// What can be asked of a node.
pub(crate) const CONSTRAINT_KEYS: &[&str] = &["name", "labels", "zone", "link"];

const NODES: &str = "what nodes of the cluster are to be, like \
                     {a: {name: worker-1}, b: {zone: z2}}; all others are any";
const NODE: &str =
    "what the node is to be, like {name: worker-1}, {labels: {pool: fast}} or {zone: z2}";

/// A node of which nothing is asked. What no scenario would call a node of its own is the name of
/// one of the cluster's.
pub(super) fn any(name: &str) -> ClusterNode {
    let node = (!is_node_name(name)).then(|| name.to_owned());
    let name = name.to_owned();
    ClusterNode { name, node, labels: Default::default(), zone: None, link_bits_per_s: None }
}

/// Reads the mapping, in its order.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Vec<ClusterNode> {
    let mut out: Vec<ClusterNode> = Vec::new();
    let map = match &node.kind {
        Kind::Map(map) if !map.is_empty() => map,
        Kind::Map(_) => {
            problems.add(node.at, path, "an empty mapping", NODES);
            return out;
        }
        _ => {
            problems.add(node.at, path, node.shown(), NODES);
            return out;
        }
    };
    for (key, value) in map {
        if !is_domain(&key.text) {
            problems.add(key.at, path, quoted(&key.text), DOMAIN);
            continue;
        }
        if out.iter().any(|known| known.name == key.text) {
            twice(key, path, problems);
            continue;
        }
        let path = joined(path, &key.text);
        let mut made = any(&key.text);
        if !matches!(value.kind, Kind::Null)
            && let Some(fields) = Fields::read(value, &path, CONSTRAINT_KEYS, NODE, problems)
        {
            made.node = fields
                .checked("name", DOMAIN, |name: &String| is_domain(name), problems)
                .or(made.node);
            if let (Some(node), Some(name)) = (fields.get("name"), &made.node)
                && let Some(other) = out.iter().find(|other| other.node.as_ref() == Some(name))
            {
                let found = format!("{}, which {} is", quoted(name), quoted(&other.name));
                problems.add(
                    node.at,
                    &fields.path_of("name"),
                    found,
                    "another node of the cluster for each name",
                );
            }
            if let Some(node) = fields.get("labels") {
                made.labels = labels(node, &fields.path_of("labels"), problems);
            }
            let word = |zone: &String| !zone.is_empty() && is_label_value(zone);
            made.zone = fields.checked(
                "zone",
                "a zone of the cluster, or any word for one",
                word,
                problems,
            );
            made.link_bits_per_s = link(&fields, "link", problems);
        }
        out.push(made);
    }
    out
}
