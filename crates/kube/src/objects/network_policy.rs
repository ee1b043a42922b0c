//! The NetworkPolicy of a run.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::api::labels::RunIdentity;

/// Lets the pods of the run reach each other, and the nodes reach them and be reached. Pods in a
/// node's own network and what kube-proxy translates come from there. With `open_egress` they may
/// leave the cluster.
pub(crate) fn network_policy(run: &RunIdentity, nodes: &[IpAddr], open_egress: bool) -> Value {
    let mut peers = vec![json!({"podSelector": {}})];
    peers.extend(nodes.iter().map(|node| {
        let bits = if node.is_ipv4() { 32 } else { 128 };
        json!({"ipBlock": {"cidr": format!("{node}/{bits}")}})
    }));
    let egress = if open_egress { json!([{}]) } else { json!([{"to": peers}]) };
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": run.metadata("run"),
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": peers}],
            "egress": egress,
        },
    })
}
