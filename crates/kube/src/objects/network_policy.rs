//! The NetworkPolicy of a run.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use crate::api::labels::RunIdentity;

/// Lets the pods of the run reach each other, and the nodes reach them and be reached. Pods in a
/// node's own network and what kube-proxy translates come from there. With `open_egress` they may
/// leave the cluster. Pods of the namespaces `entrances` may enter, and those of all if `None` is
/// among them.
pub(crate) fn network_policy(
    run: &RunIdentity,
    nodes: &[IpAddr],
    open_egress: bool,
    entrances: &BTreeSet<Option<String>>,
) -> Value {
    let mut peers = vec![json!({"podSelector": {}})];
    peers.extend(nodes.iter().map(|node| {
        let bits = if node.is_ipv4() { 32 } else { 128 };
        json!({"ipBlock": {"cidr": format!("{node}/{bits}")}})
    }));
    let entering = entrances.iter().map(|namespace| match namespace {
        Some(name) => {
            json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}})
        }
        None => json!({"namespaceSelector": {}}),
    });
    let from: Vec<Value> = peers.iter().cloned().chain(entering).collect();
    let egress = if open_egress { json!([{}]) } else { json!([{"to": peers}]) };
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": run.metadata("run"),
        "spec": {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": from}],
            "egress": egress,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gateways_enter_from_other_namespaces() {
        let run = RunIdentity {
            name: "k2v9xq1bzr".into(),
            namespace: "run".into(),
            is_guest: false,
            owner: "uid".into(),
        };
        let entering = |entrances: &[Option<&str>]| -> Vec<Value> {
            let entrances = entrances.iter().map(|name| name.map(str::to_owned)).collect();
            let policy = network_policy(&run, &[IpAddr::from([10, 0, 0, 1])], false, &entrances);
            let from = policy["spec"]["ingress"][0]["from"].as_array().unwrap();
            assert_eq!(policy["spec"]["egress"][0]["to"].as_array().unwrap().len(), 2);
            from[2..].to_vec()
        };
        assert!(entering(&[]).is_empty());
        let infra = json!({"matchLabels": {"kubernetes.io/metadata.name": "infra"}});
        assert_eq!(
            entering(&[None, Some("infra")]),
            [json!({"namespaceSelector": {}}), json!({"namespaceSelector": infra})]
        );
    }
}
