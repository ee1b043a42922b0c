//! The check for the pod network, by the traces that it leaves.

use std::collections::BTreeSet;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(in crate::doctor::checks) const CHECK: Check =
    Check { name: "pod network", needed_for: "what the report calls it", judge };

/// Starts of the names of workloads that make pod networks, with the networks' names.
const AGENTS: &[(&str, &str)] = &[
    ("antrea-agent", "Antrea"),
    ("aws-node", "Amazon VPC CNI"),
    ("azure-cns", "Azure CNI"),
    ("calico-node", "Calico"),
    ("canal", "Canal"),
    ("cilium", "Cilium"),
    ("flannel", "flannel"),
    ("kindnet", "kindnet"),
    ("kube-flannel", "flannel"),
    ("kube-router", "kube-router"),
    ("ovnkube", "OVN-Kubernetes"),
    ("terway", "Terway"),
    ("weave-net", "Weave Net"),
];

/// The resource by which Multus knows networks.
const MULTUS: &str = "network-attachment-definitions.k8s.cni.cncf.io";

fn judge(inventory: &Inventory) -> Finding {
    let mut found: BTreeSet<String> =
        inventory.nodes.iter().filter_map(|node| node.cni.clone()).collect();
    for (_, name) in inventory.daemon_sets.iter().flatten() {
        let known =
            AGENTS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, whose)| *whose);
        // A node says more of it than its agent's name does.
        if let Some(known) = known.filter(|known| !found.iter().any(|said| said.starts_with(known)))
        {
            found.insert(known.to_owned());
        }
    }
    let multus = inventory.definitions.iter().flatten().any(|name| name == MULTUS);
    let more =
        if multus { "; Multus: `networks:` can map further kinds to its annotations" } else { "" };
    let ranges: Vec<&str> = inventory
        .nodes
        .iter()
        .flat_map(|node| &node.pod_ranges)
        .take(3)
        .map(String::as_str)
        .collect();
    let ranges = if ranges.is_empty() {
        String::new()
    } else {
        format!(", pods at {} ...", ranges.join(", "))
    };
    if found.is_empty() {
        return Finding::works(format!(
            "not known: it left no trace that is known here{ranges}{more}"
        ));
    }
    Finding::works(format!(
        "{}, by its traces{ranges}{more}",
        found.into_iter().collect::<Vec<_>>().join(" and ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_known_by_their_traces() {
        let mut inventory = Inventory::fine();
        assert!(judge(&inventory).found.starts_with("not known"));
        inventory.daemon_sets = Ok(vec![("kube-system".into(), "kube-flannel-ds".into())]);
        inventory.nodes[0].pod_ranges = vec!["10.244.0.0/24".into()];
        assert_eq!(judge(&inventory).found, "flannel, by its traces, pods at 10.244.0.0/24 ...");
        inventory.nodes[0].cni = Some("flannel (vxlan)".into());
        inventory.definitions = Ok(vec![MULTUS.to_owned()]);
        let found = judge(&inventory).found;
        assert!(
            found.starts_with("flannel (vxlan), by its traces") && found.contains("; Multus"),
            "{found}"
        );
    }
}
