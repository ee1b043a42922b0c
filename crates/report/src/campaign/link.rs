//! The nominal rate of a path.

use hopbench_model::{Path, TestbedSpec, Via};

/// The rate of the slowest shaped link that the path crosses, bits/s; `None` within a node, and where no link is shaped.
pub(crate) fn bits_per_s(testbed: &TestbedSpec, path: &Path) -> Option<u64> {
    let TestbedSpec::Lab(lab) = testbed;
    let mut names = vec![path.from.node.as_str(), path.to.node.as_str()];
    if let Via::NodePort(node) = &path.via {
        names.push(node);
    }
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return None;
    }
    let nodes: Vec<_> = lab.nodes.iter().filter(|node| names.contains(&node.name.as_str())).collect();
    let zones_differ = nodes.iter().any(|node| node.zone != nodes[0].zone);
    let between = lab.zone_link_bits_per_s.filter(|_| zones_differ);
    nodes.iter().filter_map(|node| node.link_bits_per_s).chain(between).min()
}

#[cfg(test)]
mod tests {
    use hopbench_model::{LabNode, LabSpec, Place};

    use super::*;

    fn place(node: &str) -> Place {
        Place { network: "bridge".to_owned(), node: node.to_owned(), runtime: None }
    }

    #[test]
    fn the_slowest_link_counts() {
        let node = |name: &str, zone: &str, rate| LabNode {
            name: name.to_owned(),
            zone: zone.to_owned(),
            link_bits_per_s: rate,
        };
        let testbed = TestbedSpec::Lab(LabSpec {
            nodes: vec![
                node("a", "x", Some(10)),
                node("b", "x", Some(8)),
                node("c", "y", Some(10)),
                node("d", "x", None),
            ],
            mtu: 1500,
            zone_link_bits_per_s: Some(5),
            zone_delay_ns: 0,
        });
        let rate = |from: &str, to: &str, via: Via| {
            let name = String::new();
            bits_per_s(&testbed, &Path { name, from: place(from), to: place(to), via, clients: 1, backends: 1 })
        };
        assert_eq!(rate("a", "b", Via::Direct), Some(8));
        assert_eq!(rate("a", "c", Via::Direct), Some(5), "between zones");
        assert_eq!(rate("a", "a", Via::Direct), None, "no link within a node");
        assert_eq!(rate("a", "d", Via::NodePort("b".to_owned())), Some(8), "the forwarding node's link too");
        assert_eq!(rate("a", "d", Via::Direct), Some(10));
    }
}
