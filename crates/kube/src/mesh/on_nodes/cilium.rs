//! Cilium's proxy on each node, which takes the HTTP of pods that a policy with rules for HTTP
//! chooses.
//!
//! The agent on a node counts requests and answers of all its pods together, and drops counts when
//! there are many. So that it counted shows that the proxy works, and no more: the path is partly
//! proved.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::ClusterSpec;
use hopbench_testbed::placement::{AGENT_PORT, Ask, Placement, PodId};
use serde_json::{Value, json};

use super::node_mesh::{Counted, NodeMesh, PathPods};
use crate::mesh::ports::of_program;
use crate::observe::meters::exposition::samples;

/// How it is found and read.
pub(super) const MESH: NodeMesh = NodeMesh {
    proxy: "Cilium's proxy",
    // Where the proxy has no pods of its own, it is in the agent's.
    carry: &["k8s-app=cilium-envoy", "k8s-app=cilium"],
    count: "k8s-app=cilium",
    metrics: (9962, "/metrics"),
    read,
    remedy: "turn on the agent's metrics (Helm: prometheus.enabled=true)",
};

/// Why a path is not wholly proved.
pub(super) const PARTLY: &str =
    "Cilium counts the HTTP of all pods of a node together, and not all of it where there is much";

const L7: &str = "cilium_policy_l7_total";
/// The label of pods whose requests it takes on their way in.
const INBOUND: &str = "hopbench.dev/mesh-in";
/// The label of pods whose requests it takes on their way out.
const OUTBOUND: &str = "hopbench.dev/mesh-out";

/// The labels of a pod by which the run's policies choose it.
pub(super) fn labels(placement: &Placement, pod: &PodId) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for ends in placement.paths.values() {
        let mode = ends.path.mesh;
        if mode.has_client() && ends.clients.contains(pod) {
            labels.insert(OUTBOUND.to_owned(), "true".to_owned());
        }
        if mode.has_server() && ends.servers.contains(pod) {
            labels.insert(INBOUND.to_owned(), "true".to_owned());
        }
    }
    labels
}

/// The policies that lead the HTTP of these pods through the proxy. All else passes by it, also in
/// versions before 1.16, which do not know that nothing is to be denied.
pub(crate) fn policies(spec: &ClusterSpec, placement: &Placement) -> Vec<Value> {
    let (mut inbound, mut outbound) = (BTreeSet::new(), BTreeSet::new());
    for ends in placement.paths.values() {
        let http = |ask: &&Ask| ask.offer.protocol.is_http();
        let port = |ask: &Ask| of_program(spec, ask).unwrap_or(AGENT_PORT);
        let ports = ends.asks.iter().filter(http).map(port);
        let mode = ends.path.mesh;
        outbound.extend(ports.clone().filter(|_| mode.has_client()));
        inbound.extend(ports.filter(|_| mode.has_server()));
    }
    let policy = |name: &str, chosen: &str, direction: &str, peers: &str, http: &BTreeSet<u16>| {
        let number = |port: &u16| json!({"port": port.to_string(), "protocol": "TCP"});
        let http: Vec<Value> = http.iter().map(number).collect();
        let to_http = json!([{"ports": http, "rules": {"http": [{}]}}]);
        let to_agent = json!([{"ports": [{"port": AGENT_PORT.to_string(), "protocol": "UDP"}]}]);
        let echo =
            json!([{"fields": [{"family": "IPv4", "type": 8}, {"family": "IPv6", "type": 128}]}]);
        let rules = [("toPorts", to_http), ("toPorts", to_agent), ("icmps", echo)];
        let rules = rules.map(|(what, rule)| json!({peers: ["all"], what: rule}));
        json!({
            "apiVersion": "cilium.io/v2",
            "kind": "CiliumNetworkPolicy",
            "metadata": {"name": name},
            "spec": {
                "endpointSelector": {"matchLabels": {chosen: "true"}},
                "enableDefaultDeny": {"ingress": false, "egress": false},
                direction: rules,
            },
        })
    };
    let all = [
        ("hopbench-mesh-in", INBOUND, "ingress", "fromEntities", inbound),
        ("hopbench-mesh-out", OUTBOUND, "egress", "toEntities", outbound),
    ];
    let needed = all.iter().filter(|(.., http)| !http.is_empty());
    needed.map(|(name, chosen, way, peers, http)| policy(name, chosen, way, peers, http)).collect()
}

/// `requests`: what the proxy of the node took, whoever sent it.
fn read(text: &str, _: &PathPods<'_>) -> Counted {
    if !text.contains("cilium_") {
        return Err("the answer is not the metrics of Cilium's agent".to_owned());
    }
    let mut requests = 0;
    for sample in samples(text, &[L7]) {
        let sample = sample?;
        // DNS has a proxy of its own. Older agents do not say which proxy it was.
        if sample.label("rule") == "received" && sample.label("proxy_type") != "fqdn" {
            requests += sample.value as u64;
        }
    }
    Ok(BTreeMap::from([("requests".to_owned(), requests)]))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, MeshProvider, Path, Plan, TestbedSpec, Variant, Via};

    use super::*;
    use crate::plan::fixture::{path, plan, point, spec};
    use crate::plan::placement::placement;

    #[test]
    fn requests_are_those_that_the_proxy_took() {
        let answer = "# HELP cilium_policy_l7_total Number of total proxy requests handled\n\
            cilium_policy_l7_total{proxy_type=\"envoy\",rule=\"received\"} 40\n\
            cilium_policy_l7_total{proxy_type=\"envoy\",rule=\"forwarded\"} 39\n\
            cilium_policy_l7_total{proxy_type=\"fqdn\",rule=\"received\"} 700\n";
        let none = PathPods { namespace: "x", clients: BTreeSet::new(), servers: BTreeSet::new() };
        assert_eq!(read(answer, &none).unwrap()["requests"], 40);
        assert_eq!(read("cilium_version 1\n", &none).unwrap()["requests"], 0);
        assert!(read("up 1\n", &none).is_err());
    }

    #[test]
    fn policies_choose_the_ends_of_a_mode_and_their_http() {
        let meshed = |name: &str, mesh: MeshMode| {
            let variant = (!mesh.is_none()).then(Variant::plain);
            Path { mesh, variant, ..path(name, "pod@a", "pod@b", Via::Direct) }
        };
        let mut spec = spec();
        spec.mesh.provider = MeshProvider::Cilium;
        let paths = vec![meshed("none", MeshMode::None), meshed("server", MeshMode::Server)];
        let points = vec![point("http", "hopbench"), point("rr", "hopbench")];
        let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
        let placement = placement(&Plan { testbed, ..plan(paths, points) });
        let [policy] = policies(&spec, &placement).try_into().unwrap();
        let chosen = &policy["spec"]["endpointSelector"]["matchLabels"];
        assert_eq!(*chosen, json!({INBOUND: "true"}));
        let http = json!({
            "fromEntities": ["all"],
            "toPorts": [{"ports": [{"port": "7474", "protocol": "TCP"}], "rules": {"http": [{}]}}],
        });
        assert_eq!(policy["spec"]["ingress"][0], http);
        let labelled: Vec<String> = placement
            .pods
            .iter()
            .filter(|pod| !labels(&placement, pod).is_empty())
            .map(PodId::to_string)
            .collect();
        assert_eq!(labelled, ["pod@b/mesh"]);
    }
}
