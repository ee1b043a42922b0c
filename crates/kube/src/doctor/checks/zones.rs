//! The check for the zones of the nodes.

use std::collections::BTreeMap;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check =
    Check { name: "zones", needed_for: "paths within and across zones", judge };

/// Of so many nodes of a zone the names are told.
const FEW: usize = 6;

fn judge(inventory: &Inventory) -> Finding {
    let mut zones: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in &inventory.nodes {
        zones.entry(node.zone().unwrap_or_default()).or_default().push(&node.name);
    }
    let without = zones.remove("");
    let names = |nodes: &Vec<&str>| match nodes.len() {
        ..=FEW => nodes.join(", "),
        more => format!("{more} nodes"),
    };
    let told: Vec<String> =
        zones.iter().map(|(zone, nodes)| format!("{zone}: {}", names(nodes))).collect();
    let remedy = "zones are the nodes' label topology.kubernetes.io/zone";
    match (zones.len(), without) {
        (0, _) => Finding::limited("no node has a zone", remedy),
        (_, Some(nodes)) => {
            Finding::limited(format!("{}; without one: {}", told.join("; "), names(&nodes)), remedy)
        }
        (1, None) => Finding::limited(told.join("; "), "paths across zones need a second one"),
        _ => Finding::works(told.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn nodes_are_told_by_zone() {
        let mut inventory = Inventory::fine();
        assert_eq!(judge(&inventory), Finding::works("z1: n1; z2: n2"));
        inventory.nodes[1].labels.clear();
        let one = judge(&inventory);
        assert_eq!((one.state, one.found.as_str()), (State::Limited, "z1: n1; without one: n2"));
        inventory.nodes.remove(1);
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.nodes[0].labels.clear();
        assert_eq!(judge(&inventory).found, "no node has a zone");
    }
}
