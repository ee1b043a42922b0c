//! The nodes of a cluster, as far as the testbed cares.

use std::collections::BTreeMap;
use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Node, Taint, Toleration};

/// The label that says a node's zone.
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";

/// The label that says what a node runs.
const OS: &str = "kubernetes.io/os";

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NodeFacts {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    /// Its addresses, the internal ones first.
    pub(crate) addresses: Vec<IpAddr>,
    /// Address ranges of its pods, where the cluster hands them out: `10.244.1.0/24`.
    pub(crate) pod_ranges: Vec<String>,
    /// Why no pod of a run goes there unless it is named; absent: one may.
    pub(crate) closed: Option<String>,
    pub(crate) kernel: String,
    pub(crate) boot_id: String,
    pub(crate) cpus: String,
    pub(crate) architecture: String,
    pub(crate) kubelet: String,
    pub(crate) container_runtime: String,
    pub(crate) os: String,
    /// The pod network, by the traces that its agents leave on nodes.
    pub(crate) cni: Option<String>,
}

/// Traces that the agents of pod networks leave on nodes: the start of a label or an annotation,
/// and the network's name.
const TRACES: [(&str, &str); 8] = [
    ("flannel.alpha.coreos.com/backend-type", "flannel"),
    ("projectcalico.org/", "Calico"),
    ("network.cilium.io/", "Cilium"),
    ("io.cilium.", "Cilium"),
    ("k8s.ovn.org/", "OVN-Kubernetes"),
    ("node.antrea.io/", "Antrea"),
    ("vpc.amazonaws.com/", "Amazon VPC CNI"),
    ("networking.gke.io/", "GKE"),
];

impl NodeFacts {
    /// From what the API server says; `tolerations` are those of the run's pods.
    pub(crate) fn of(node: &Node, tolerations: &[Toleration]) -> Self {
        let spec = node.spec.clone().unwrap_or_default();
        let status = node.status.clone().unwrap_or_default();
        let info = status.node_info.unwrap_or_default();
        let all = status.addresses.unwrap_or_default();
        let of_type = |internal: bool| {
            let fits = move |kind: &str| {
                if internal { kind == "InternalIP" } else { kind == "ExternalIP" }
            };
            all.iter()
                .filter(move |known| fits(&known.type_))
                .filter_map(|known| known.address.parse().ok())
        };
        let is_ready = silence(node).is_none();
        // Agents are Linux programs, and such nodes have no taint.
        let other = node
            .metadata
            .labels
            .as_ref()
            .and_then(|labels| labels.get(OS))
            .filter(|os| *os != "linux");
        let keeps_out = |taint: &&Taint| {
            taint.effect != "PreferNoSchedule"
                && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
        };
        let taint = spec.taints.iter().flatten().find(keeps_out);
        let closed = match taint {
            _ if !is_ready => Some("it is not ready".to_owned()),
            _ if spec.unschedulable == Some(true) => Some("it is cordoned".to_owned()),
            Some(taint) => Some(format!("it has the taint {}", taint.key)),
            None => other.map(|os| format!("it runs {os}")),
        };
        Self {
            name: node.metadata.name.clone().unwrap_or_default(),
            labels: node.metadata.labels.clone().unwrap_or_default(),
            addresses: of_type(true).chain(of_type(false)).collect(),
            pod_ranges: spec
                .pod_cidrs
                .or_else(|| spec.pod_cidr.map(|range| vec![range]))
                .unwrap_or_default(),
            closed,
            kernel: info.kernel_version,
            boot_id: info.boot_id,
            cpus: status
                .capacity
                .and_then(|all| all.get("cpu").map(|cpu| cpu.0.clone()))
                .unwrap_or_default(),
            architecture: info.architecture,
            kubelet: info.kubelet_version,
            container_runtime: info.container_runtime_version,
            os: info.os_image,
            cni: cni(node),
        }
    }

    /// Its zone.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.labels.get(ZONE).map(String::as_str)
    }
}

/// Why a node is not ready, in the words of its condition; `None`: it is.
pub(crate) fn silence(node: &Node) -> Option<String> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_ref());
    match conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready") {
        Some(ready) if ready.status == "True" => None,
        Some(ready) => {
            Some(ready.message.clone().or_else(|| ready.reason.clone()).unwrap_or_default())
        }
        None => Some("its kubelet has said nothing yet".to_owned()),
    }
}

fn cni(node: &Node) -> Option<String> {
    let annotations = node.metadata.annotations.iter().flatten();
    let traces: Vec<(&String, &String)> =
        annotations.chain(node.metadata.labels.iter().flatten()).collect();
    TRACES.iter().find_map(|(start, name)| {
        let (trace, value) = traces.iter().find(|(trace, _)| trace.starts_with(start))?;
        // Flannel says how it carries the traffic.
        Some(if trace.as_str() == *start {
            format!("{name} ({value})")
        } else {
            (*name).to_owned()
        })
    })
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let same = |asked: &Option<String>, found: &str| asked.as_deref().unwrap_or_default() == found;
    let any_effect = toleration.effect.as_deref().unwrap_or_default().is_empty();
    let any_key = toleration.key.as_deref().unwrap_or_default().is_empty();
    let exists = toleration.operator.as_deref() == Some("Exists");
    (any_effect || same(&toleration.effect, &taint.effect))
        && (any_key && exists || same(&toleration.key, &taint.key))
        && (exists || same(&toleration.value, taint.value.as_deref().unwrap_or_default()))
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn facts(spec: Value, ready: &str, tolerations: Value) -> NodeFacts {
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": "n1", "labels": {ZONE: "z1"}},
            "spec": spec,
            "status": {
                "conditions": [{"type": "Ready", "status": ready}],
                "addresses": [
                    {"type": "Hostname", "address": "n1"},
                    {"type": "ExternalIP", "address": "203.0.113.9"},
                    {"type": "InternalIP", "address": "10.0.0.1"},
                ],
            },
        }))
        .unwrap();
        NodeFacts::of(&node, &serde_json::from_value::<Vec<Toleration>>(tolerations).unwrap())
    }

    #[test]
    fn a_node_is_open_when_it_is_ready_and_nothing_keeps_pods_out() {
        let taint = json!({"taints": [{"key": "role", "value": "db", "effect": "NoSchedule"}]});
        let closed = |spec: &Value, ready, tolerations: Value| {
            facts(spec.clone(), ready, tolerations).closed
        };
        assert_eq!(closed(&json!({}), "True", json!([])), None);
        assert_eq!(closed(&json!({}), "Unknown", json!([])).unwrap(), "it is not ready");
        assert_eq!(
            closed(&json!({"unschedulable": true}), "True", json!([])).unwrap(),
            "it is cordoned"
        );
        assert_eq!(closed(&taint, "True", json!([])).unwrap(), "it has the taint role");
        for tolerated in [
            json!([{"operator": "Exists"}]),
            json!([{"key": "role", "operator": "Exists", "effect": "NoSchedule"}]),
            json!([{"key": "role", "value": "db"}]),
        ] {
            assert_eq!(closed(&taint, "True", tolerated), None);
        }
        for other in [
            json!([{"key": "role", "value": "web"}]),
            json!([{"operator": "Exists", "effect": "NoExecute"}]),
        ] {
            assert!(closed(&taint, "True", other).is_some());
        }
        let windows = json!({"metadata": {"labels": {OS: "windows"}}, "status": {"conditions": [
            {"type": "Ready", "status": "True"},
        ]}});
        let windows: Node = serde_json::from_value(windows).unwrap();
        assert_eq!(NodeFacts::of(&windows, &[]).closed.unwrap(), "it runs windows");
        assert_eq!(silence(&windows), None);
        assert_eq!(silence(&Node::default()).unwrap(), "its kubelet has said nothing yet");
        let soft = json!({"taints": [{"key": "role", "effect": "PreferNoSchedule"}]});
        assert_eq!(closed(&soft, "True", json!([])), None);
    }

    #[test]
    fn addresses_are_internal_first_and_names_are_none() {
        let facts = facts(json!({"podCIDR": "10.244.1.0/24"}), "True", json!([]));
        assert_eq!(
            facts.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["10.0.0.1", "203.0.113.9"]
        );
        assert_eq!(
            (facts.zone(), facts.pod_ranges.join(" ").as_str()),
            (Some("z1"), "10.244.1.0/24")
        );
    }
}
