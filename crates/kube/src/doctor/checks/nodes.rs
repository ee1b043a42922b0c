//! The check for nodes that agents can run on.

use std::collections::BTreeMap;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;
use crate::plan::nodes::NodeFacts;

pub(super) const CHECK: Check = Check { name: "nodes", needed_for: "agents", judge };

/// So many are told one by one.
const FEW: usize = 6;

fn judge(inventory: &Inventory) -> Finding {
    let (open, closed): (Vec<_>, Vec<_>) =
        inventory.nodes.iter().partition(|node| node.closed.is_none());
    let mut lines = if inventory.nodes.len() <= FEW {
        open.iter().map(|node| format!("{}: {}", node.name, kind(node))).collect()
    } else {
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        open.iter().for_each(|node| *kinds.entry(kind(node)).or_default() += 1);
        kinds
            .into_iter()
            .map(|(kind, number)| format!("{number} nodes: {kind}"))
            .collect::<Vec<_>>()
    };
    lines.extend(closed.iter().take(FEW).map(|node| {
        format!("{}: not used, {}", node.name, node.closed.as_deref().unwrap_or_default())
    }));
    let found = lines.join("\n");
    let same =
        |of: fn(&NodeFacts) -> &String| open.windows(2).all(|pair| of(pair[0]) == of(pair[1]));
    if open.is_empty() {
        return Finding::missing(found, "make a node ready, or tolerate its taints under `patch:`");
    }
    if open.len() == 1 {
        return Finding::limited(found, "paths between two nodes need a second one");
    }
    if !(same(|n| &n.kernel)
        && same(|n| &n.kubelet)
        && same(|n| &n.cpus)
        && same(|n| &n.architecture))
    {
        return Finding::limited(
            found,
            "the nodes differ: choose among them with `nodes:`, or results will differ, too",
        );
    }
    Finding::works(found)
}

fn kind(node: &NodeFacts) -> String {
    let NodeFacts { kubelet, kernel, architecture, cpus, container_runtime, .. } = node;
    format!("{kubelet}, kernel {kernel}, {architecture}, {cpus} CPUs, {container_runtime}")
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn nodes_that_differ_or_lack_are_told() {
        let mut inventory = Inventory::fine();
        let fine = judge(&inventory);
        assert_eq!((fine.state, fine.found.lines().count()), (State::Works, 2), "{fine:?}");
        assert!(fine.found.starts_with("n1: v1.34.4, kernel 6.18, amd64, 2 CPUs"), "{fine:?}");
        inventory.nodes[1].kernel = "5.10".to_owned();
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.nodes[1].closed = Some("it is cordoned".to_owned());
        let one = judge(&inventory);
        assert!(
            one.state == State::Limited && one.found.contains("n2: not used, it is cordoned"),
            "{one:?}"
        );
        inventory.nodes.remove(0);
        assert_eq!(judge(&inventory).state, State::Missing);
        inventory.nodes = vec![Inventory::fine().nodes[0].clone(); 9];
        assert!(judge(&inventory).found.starts_with("9 nodes: v1.34.4"));
    }
}
