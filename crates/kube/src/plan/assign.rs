//! The assignment of the scenario's nodes to those of the cluster.
//!
//! Every name gets a node of its own, and zones are kept. Among several ways, the first one by the
//! nodes' names is taken. So the same cluster always gives the same answer.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::ClusterNode;

use crate::plan::nodes::NodeFacts;

/// So many tries are enough for any cluster whose nodes are not set up to resist.
const MOST_TRIES: u32 = 200_000;

/// Nodes of the scenario with those of the cluster, and those that have none, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Assigned {
    pub(crate) nodes: BTreeMap<String, NodeFacts>,
    pub(crate) without: BTreeMap<String, String>,
}

/// Finds a node for each of `wanted` that is among `used`. Where not all can be had, those that are
/// named have them, and then the first ones.
pub(crate) fn assign(
    wanted: &[ClusterNode],
    used: &BTreeSet<&str>,
    cluster: &[NodeFacts],
) -> Assigned {
    let mut cluster: Vec<&NodeFacts> = cluster.iter().collect();
    cluster.sort_by(|a, b| a.name.cmp(&b.name));
    let wanted: Vec<ClusterNode> = wanted.iter().map(|node| by_its_name(node, &cluster)).collect();
    let used: Vec<&ClusterNode> =
        wanted.iter().filter(|node| used.contains(node.name.as_str())).collect();
    let zones: BTreeSet<&str> = cluster.iter().filter_map(|node| node.zone()).collect();
    let mut search = Backtracking { cluster: &cluster, zones: &zones, tries: 0 };
    if let Some(found) = search.all(&used) {
        return Assigned { nodes: with_names(&used, &found), without: BTreeMap::new() };
    }
    let mut assigned = Assigned::default();
    let mut kept: Vec<&ClusterNode> = Vec::new();
    let (named, others): (Vec<_>, Vec<_>) = used.into_iter().partition(|node| node.node.is_some());
    for node in named.into_iter().chain(others) {
        kept.push(node);
        let mut search = Backtracking { cluster: &cluster, zones: &zones, tries: 0 };
        if let Some(found) = search.all(&kept) {
            assigned.nodes = with_names(&kept, &found);
        } else {
            kept.pop();
            assigned.without.insert(node.name.clone(), why(node, &kept, &cluster));
        }
    }
    assigned
}

/// A node of the scenario that has the name of a cluster's node, and no other wish, means that
/// node.
fn by_its_name(wanted: &ClusterNode, cluster: &[&NodeFacts]) -> ClusterNode {
    let says_nothing = wanted.node.is_none() && wanted.labels.is_empty();
    let same = cluster.iter().find(|node| says_nothing && node.name == wanted.name);
    ClusterNode {
        node: wanted.node.clone().or_else(|| same.map(|node| node.name.clone())),
        ..wanted.clone()
    }
}

fn with_names(wanted: &[&ClusterNode], found: &[&NodeFacts]) -> BTreeMap<String, NodeFacts> {
    wanted
        .iter()
        .zip(found)
        .map(|(wanted, found)| (wanted.name.clone(), (*found).clone()))
        .collect()
}

/// A search with steps back.
struct Backtracking<'a> {
    cluster: &'a [&'a NodeFacts],
    /// The zones of the cluster. Large clusters have thousands of nodes, too many to look through
    /// for each try.
    zones: &'a BTreeSet<&'a str>,
    tries: u32,
}

impl<'a> Backtracking<'a> {
    fn all(&mut self, wanted: &[&ClusterNode]) -> Option<Vec<&'a NodeFacts>> {
        let mut found = Vec::with_capacity(wanted.len());
        if self.rest(wanted, &mut found) { Some(found) } else { None }
    }

    fn rest(&mut self, wanted: &[&ClusterNode], found: &mut Vec<&'a NodeFacts>) -> bool {
        let Some(next) = wanted.get(found.len()) else { return true };
        for node in self.cluster {
            self.tries += 1;
            if self.tries > MOST_TRIES {
                return false;
            }
            let is_free = !found.iter().any(|taken| taken.name == node.name);
            if is_free && fits(next, node) && zones_hold(next, node, wanted, found, self.zones) {
                found.push(node);
                if self.rest(wanted, found) {
                    return true;
                }
                found.pop();
            }
        }
        false
    }
}

/// Whether a node is what a name asks for, apart from its zone. A node that is asked for by its own
/// name may be closed.
fn fits(wanted: &ClusterNode, node: &NodeFacts) -> bool {
    let named = wanted.node.as_ref().map(|name| *name == node.name);
    named.unwrap_or_else(|| node.closed.is_none())
        && wanted.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value))
}

/// Whether the zones of the names until here and of this one are as their words say.
fn zones_hold(
    wanted: &ClusterNode,
    node: &NodeFacts,
    all: &[&ClusterNode],
    found: &[&NodeFacts],
    zones: &BTreeSet<&str>,
) -> bool {
    let Some(word) = &wanted.zone else { return true };
    let Some(zone) = node.zone() else { return false };
    if zone != word && zones.contains(word.as_str()) {
        return false;
    }
    all.iter().zip(found).all(|(other, taken)| match &other.zone {
        Some(word_of_other) => (word_of_other == word) == (taken.zone() == Some(zone)),
        None => true,
    })
}

/// Why there is no node for a name, with those that others have.
fn why(wanted: &ClusterNode, kept: &[&ClusterNode], cluster: &[&NodeFacts]) -> String {
    let list =
        |names: Vec<String>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let mut asked = Vec::new();
    if let Some(name) = &wanted.node {
        asked.push(format!("of the name {name}"));
    }
    asked.extend(wanted.labels.iter().map(|(key, value)| format!("with the label {key}={value}")));
    asked.extend(wanted.zone.iter().map(|zone| format!("in zone `{zone}`")));
    let asked =
        if asked.is_empty() { "that pods may be put on".to_owned() } else { asked.join(", ") };
    let of = |node: &NodeFacts| {
        let zone = node.zone().map(|zone| format!(" in zone {zone}"));
        let closed = node.closed.as_ref().map(|why| format!(": {why}"));
        format!("{}{}{}", node.name, zone.unwrap_or_default(), closed.unwrap_or_default())
    };
    let others = if kept.is_empty() {
        String::new()
    } else {
        let names: Vec<&str> = kept.iter().map(|node| node.name.as_str()).collect();
        format!(" beside those for {}", names.join(", "))
    };
    format!(
        "found no node {asked}{others}; the cluster has {}",
        list(cluster.iter().map(|node| of(node)).collect())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::nodes::ZONE;

    fn cluster(nodes: &[(&str, &str)]) -> Vec<NodeFacts> {
        let node = |(name, zone): &(&str, &str)| NodeFacts {
            name: (*name).to_owned(),
            labels: [(ZONE, *zone), ("size", if name.starts_with('n') { "big" } else { "small" })]
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            closed: name.starts_with("closed").then(|| "it is cordoned".to_owned()),
            ..NodeFacts::default()
        };
        nodes.iter().map(node).collect()
    }

    /// `a`, `b=NODE`, `c%ZONE`, `d&big`.
    fn wanted(words: &[&str]) -> Vec<ClusterNode> {
        let one = |word: &&str| {
            let (name, rest) = word.split_at(1);
            let after = |mark| rest.strip_prefix(mark).map(str::to_owned);
            ClusterNode {
                name: name.to_owned(),
                node: after('='),
                labels: after('&').map(|size| ("size".to_owned(), size)).into_iter().collect(),
                zone: after('%'),
                link_bits_per_s: None,
            }
        };
        words.iter().map(one).collect()
    }

    fn found(words: &[&str], nodes: &[(&str, &str)]) -> String {
        let wanted = wanted(words);
        let used = wanted.iter().map(|node| node.name.as_str()).collect();
        let assigned = assign(&wanted, &used, &cluster(nodes));
        let parts = assigned.nodes.iter().map(|(name, node)| format!("{name}={}", node.name));
        let without = assigned.without.keys().map(|name| format!("{name}!"));
        parts.chain(without).collect::<Vec<_>>().join(" ")
    }

    const THREE: [(&str, &str); 3] = [("n3", "z2"), ("n1", "z1"), ("n2", "z1")];

    #[test]
    fn nodes_are_taken_by_name_each_once() {
        assert_eq!(found(&["a", "b", "c"], &THREE), "a=n1 b=n2 c=n3");
        assert_eq!(
            found(&["a", "b=n1"], &THREE),
            "a=n2 b=n1",
            "a name that only one fits is respected"
        );
        assert_eq!(found(&["a", "b&small"], &[("n1", ""), ("m1", "")]), "a=n1 b=m1");
        assert_eq!(found(&["a", "b"], &[("closed1", ""), ("n1", ""), ("n2", "")]), "a=n1 b=n2");
        assert_eq!(
            found(&["a=closed1"], &[("closed1", ""), ("n1", "")]),
            "a=closed1",
            "who names it wants it"
        );
    }

    #[test]
    fn a_name_that_the_cluster_has_too_means_that_node() {
        let nodes = [("a", "z1"), ("b", "z1"), ("n1", "z2")];
        assert_eq!(found(&["x", "a", "b"], &nodes), "a=a b=b x=n1");
        assert_eq!(found(&["b", "c%z1"], &nodes), "b=b c=a");
        assert_eq!(found(&["a&big", "b=a"], &nodes), "a=n1 b=a", "what is said of it counts more");
        assert_eq!(found(&["a", "b=a"], &nodes), "a=a b!");
        assert_eq!(
            found(&["x", "y", "z", "b"], &nodes),
            "b=b x=a y=n1 z!",
            "its own name counts more than its place"
        );
    }

    #[test]
    fn zones_are_the_same_and_different_as_their_words() {
        assert_eq!(found(&["a%x", "b%y", "c%x"], &THREE), "a=n1 b=n3 c=n2");
        assert_eq!(
            found(&["a%x", "b%y", "c%y"], &THREE),
            "a=n3 b=n1 c=n2",
            "it steps back from n1 as `a`"
        );
        assert_eq!(
            found(&["a%z2", "b%other", "c"], &THREE),
            "a=n3 b=n1 c=n2",
            "a word that is a zone is that zone"
        );
        assert_eq!(
            found(&["a%x", "b%y"], &[("n1", ""), ("n2", "")]),
            "a! b!",
            "nodes without a zone are in none"
        );
        assert_eq!(found(&["a", "b%z1", "c%z1"], &THREE), "a=n3 b=n1 c=n2");
    }

    #[test]
    fn who_comes_first_has_a_node_when_there_are_too_few() {
        assert_eq!(found(&["a", "b", "c"], &THREE[..2]), "a=n1 b=n3 c!");
        assert_eq!(found(&["a%x", "b%y", "c%z"], &THREE), "a=n1 b=n3 c!");
        assert_eq!(found(&["a=gone", "b"], &THREE), "b=n1 a!");
        let wanted = wanted(&["a", "b%x"]);
        let nodes = cluster(&[("closed1", "z1"), ("n1", "z1")]);
        let assigned = assign(&wanted, &BTreeSet::from(["a", "b"]), &nodes);
        let told = "found no node in zone `x` beside those for a; the cluster has closed1 in zone \
                    z1: it is cordoned, n1 in zone z1";
        assert_eq!(assigned.without["b"], told);
    }

    #[test]
    fn names_that_nobody_uses_need_no_node() {
        let assigned = assign(&wanted(&["a", "b", "c"]), &BTreeSet::from(["c"]), &cluster(&THREE));
        assert_eq!(assigned.nodes.keys().collect::<Vec<_>>(), ["c"]);
        assert_eq!(assigned.nodes["c"].name, "n1");
    }

    #[test]
    fn a_hopeless_search_ends() {
        let nodes: Vec<(String, String)> =
            (0..200).map(|n| (format!("n{n}"), "z1".to_owned())).collect();
        let nodes: Vec<(&str, &str)> =
            nodes.iter().map(|(name, zone)| (name.as_str(), zone.as_str())).collect();
        let words: Vec<&str> = ["a%x", "b%x", "c%x", "d%x", "e%x", "f%x", "g%y"].into();
        assert_eq!(found(&words, &nodes).split(' ').filter(|part| part.ends_with('!')).count(), 1);
    }
}
