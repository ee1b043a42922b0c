use std::collections::BTreeSet;

use super::seen::Seen;
use super::{Check, Finding};

pub(super) const CHECK: Check = Check { name: "pod network", needed_for: "what the report calls it", judge };

/// Starts of the names of workloads that make pod networks, and whose they are.
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

fn judge(seen: &Seen) -> Finding {
    let mut found: BTreeSet<String> = seen.nodes.iter().filter_map(|node| node.cni.clone()).collect();
    for (_, name) in seen.daemon_sets.iter().flatten() {
        let known = AGENTS.iter().find(|(start, _)| name.starts_with(start)).map(|(_, whose)| *whose);
        // A node says more of it than its agent's name does.
        if let Some(known) = known.filter(|known| !found.iter().any(|said| said.starts_with(known))) {
            found.insert(known.to_owned());
        }
    }
    let multus = seen.definitions.iter().flatten().any(|name| name == MULTUS);
    let more = if multus { "; Multus: `networks:` can map further kinds to its annotations" } else { "" };
    let ranges: Vec<&str> = seen.nodes.iter().flat_map(|node| &node.pod_ranges).take(3).map(String::as_str).collect();
    let ranges = if ranges.is_empty() { String::new() } else { format!(", pods at {} ...", ranges.join(", ")) };
    if found.is_empty() {
        return Finding::works(format!("not known: it left no trace that is known here{ranges}{more}"));
    }
    Finding::works(format!("{}, by its traces{ranges}{more}", found.into_iter().collect::<Vec<_>>().join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_known_by_their_traces() {
        let mut seen = Seen::fine();
        assert!(judge(&seen).found.starts_with("not known"));
        seen.daemon_sets = Ok(vec![("kube-system".into(), "kube-flannel-ds".into())]);
        seen.nodes[0].pod_ranges = vec!["10.244.0.0/24".into()];
        assert_eq!(judge(&seen).found, "flannel, by its traces, pods at 10.244.0.0/24 ...");
        seen.nodes[0].cni = Some("flannel (vxlan)".into());
        seen.definitions = Ok(vec![MULTUS.to_owned()]);
        let found = judge(&seen).found;
        assert!(found.starts_with("flannel (vxlan), by its traces") && found.contains("; Multus"), "{found}");
    }
}
