//! Every way between two places can be had, answers, and is proved.

use std::collections::BTreeMap;
use std::time::Instant;

use hopbench_model::{ClusterSpec, IpFamily, Path, Via};
use hopbench_testbed::{AgentId, Seen, Testbed};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::Api;
use serde_json::{Value, json};

use crate::common::{cell, eventually, ground, hello, path, plan, spec};

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn every_path_has_its_route_and_its_agents_answer() {
    let Some(ground) = ground("every path on a cluster") else { return };
    let spec = spec();
    let mut several = path("several", "pod@a", "pod@b", Via::ClusterIp);
    several.backends = 3;
    let mut paths = vec![
        path("direct", "bridge@a", "bridge@b", Via::Direct),
        path("host", "host@a", "host@b", Via::Direct),
        path("same", "host@a", "host@a", Via::Direct),
        path("cluster-ip", "pod@a", "pod@b", Via::ClusterIp),
        path("node-port", "host@a", "pod@b", Via::NodePort("c".into())),
        path("overlay", "overlay@a", "overlay@b", Via::Direct),
        several,
    ];
    // Both families at the same places, in one run.
    let by_ipv6 = |name: &str, from: &str, to: &str, via: Via| Path {
        family: Some(IpFamily::Ipv6),
        ..path(name, from, to, via)
    };
    paths.extend([
        by_ipv6("direct-6", "pod@a", "pod@b", Via::Direct),
        by_ipv6("overlay-6", "overlay@a", "overlay@b", Via::Direct),
        by_ipv6("host-6", "host@a", "host@b", Via::Direct),
        by_ipv6("cluster-ip-6", "pod@a", "pod@b", Via::ClusterIp),
        by_ipv6("node-port-6", "host@a", "pod@b", Via::NodePort("c".into())),
    ]);
    if ground.has_gvisor("every path on a cluster") {
        paths.push(path("gvisor", "pod+runsc@a", "pod+runsc@b", Via::Direct));
    }
    let plan = plan(&spec, paths);
    let mut cluster = ground.cluster(&spec);
    assert_eq!(cluster.missing(&plan), []);
    let began = Instant::now();
    cluster.up(&plan).unwrap();
    println!("up in {:?}", began.elapsed());
    let namespace = cluster.namespace().unwrap().to_owned();
    let facts = cluster.facts();
    for (name, node) in [("a", "n1"), ("b", "n2"), ("c", "n3")] {
        assert_eq!(facts[&format!("node {name}")], node, "{facts:?}");
    }
    assert!(
        facts["pod security"].starts_with("privileged (host@a: its node's own network"),
        "{facts:?}"
    );
    assert!(facts["kubernetes"].starts_with("v1."), "{facts:?}");
    let mut targets = BTreeMap::new();
    for name in plan.paths.iter().map(|path| path.name.clone()) {
        let (path, point) = cell(&plan, &name);
        let route = cluster.route(path, point).unwrap();
        assert_eq!(route.servers.len(), path.backends as usize, "{name}");
        let mut machines = BTreeMap::new();
        for agent in route.agents() {
            let hello = hello(&mut cluster, agent).unwrap();
            machines.insert(agent.clone(), hello.machine);
        }
        let counters = cluster.counters(&route).unwrap();
        let seen =
            Seen { job: &point.job, clients: &[], servers: &[], machines: &machines, stood: false };
        let proofs = cluster.prove(&route, &counters, &counters, &seen);
        for proof in &proofs {
            println!("{name}: {}: {}", proof.hop, proof.evidence);
        }
        assert!(proofs.iter().all(|proof| proof.ok), "{name}: {proofs:?}");
        let hops: Vec<&str> = proofs.iter().map(|proof| proof.hop.as_str()).collect();
        assert_eq!(hops[..2], ["client", "server"]);
        assert_eq!(hops.contains(&"service"), path.via != Via::Direct);
        assert_eq!(
            hops.iter().filter(|hop| **hop == "runsc").count(),
            if name == "gvisor" { 2 } else { 0 }
        );
        targets.insert(name, route.target.to_string());
    }
    // No end is on the node that is entered. Nothing waits for the agent there.
    let (path, point) = cell(&plan, "node-port");
    let mut onlookers = Vec::new();
    eventually("an onlooker", || {
        onlookers = cluster.route(path, point).unwrap().onlookers();
        !onlookers.is_empty()
    });
    assert_eq!(onlookers, [AgentId("pod@c/onlooker".to_owned())]);
    hello(&mut cluster, &onlookers[0]).unwrap();
    let pod = ground.pod(&cluster, "pod@c/onlooker").spec.unwrap();
    assert_eq!(pod.node_name.as_deref(), Some("n3"));
    // Somebody else's word for where they lead.
    let at = |agent: &str| ground.pod(&cluster, agent).status.unwrap().pod_ip.unwrap();
    assert_eq!(targets["direct"], format!("{}:7474", at("bridge@b")));
    assert_eq!(targets["overlay"], format!("{}:7474", at("overlay@b")));
    assert!(targets["host"].starts_with("10.199.0.12:2"), "{targets:?}");
    assert!(targets["node-port"].starts_with("10.199.0.13:3"), "{targets:?}");
    assert!(targets["cluster-ip"].starts_with("10.96."), "{targets:?}");
    assert!(targets["direct-6"].starts_with("[fd68:244:2::"), "{targets:?}");
    assert!(targets["overlay-6"].starts_with("[fd68:245:2::"), "{targets:?}");
    assert!(targets["host-6"].starts_with("[fd68:199::12]:2"), "{targets:?}");
    assert!(targets["node-port-6"].starts_with("[fd68:199::13]:3"), "{targets:?}");
    assert!(targets["cluster-ip-6"].starts_with("[fd68:96::"), "{targets:?}");
    let began = Instant::now();
    cluster.down();
    println!("down in {:?}", began.elapsed());
    ground.assert_gone(&namespace);
    assert!(cluster.facts().is_empty());
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn zones_hold_and_a_policy_keeps_nobody_of_the_run_out() {
    let Some(ground) = ground("zones on a cluster") else { return };
    let mut spec = spec();
    spec.network_policy = true;
    for (node, zone) in spec.nodes.iter_mut().zip(["east", "west", "west"]) {
        node.zone = Some(zone.to_owned());
    }
    let plan = plan(
        &spec,
        vec![
            path("far", "pod@a", "host@b", Via::ClusterIp),
            path("near", "pod@b", "pod@c", Via::Direct),
        ],
    );
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let facts = cluster.facts();
    let zone = |node: &str| facts[&format!("node {node} zone")].as_str();
    assert_eq!((zone("b"), zone("c")), ("z1", "z1"), "the only zone of two nodes");
    assert_eq!(zone("a"), "z2");
    let policies: Api<NetworkPolicy> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let policy = ground.access.ask("the policy", policies.get("run")).unwrap();
    assert_eq!(policy.spec.unwrap().policy_types.unwrap(), ["Ingress", "Egress"]);
    for name in ["far", "near"] {
        let (path, point) = cell(&plan, name);
        let route = cluster.route(path, point).unwrap();
        hello(&mut cluster, &route.servers[0]).unwrap();
    }
    cluster.down();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn objects_of_a_scenario_are_there_before_its_pods_and_go_with_them() {
    let Some(ground) = ground("objects of a scenario") else { return };
    let mut spec = spec();
    let limits = json!({"limits": [{"type": "Container", "default": {"cpu": "750m"}}]});
    spec.objects = vec![
        json!({
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "own"}, "spec": limits,
        }),
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
               "metadata": {"name": "own", "labels": {"own": "yes"}}}),
    ];
    let plan = plan(&spec, vec![path("direct", "pod@a", "pod@b", Via::Direct)]);
    let mut cluster = ground.cluster(&spec);
    assert_eq!(cluster.missing(&plan), []);
    cluster.up(&plan).unwrap();
    let namespace = cluster.namespace().unwrap().to_owned();
    // Somebody in the API server gave it to the pod: it was there before.
    let pod = ground.pod(&cluster, "pod@b").spec.unwrap();
    let limits = pod.containers[0].resources.clone().unwrap().limits.unwrap();
    assert_eq!(limits["cpu"].0, "750m");
    let leases: Api<Lease> = Api::namespaced(ground.access.client.clone(), &namespace);
    let labels =
        ground.access.ask("the lease", leases.get("own")).unwrap().metadata.labels.unwrap();
    assert_eq!((labels["own"].as_str(), labels.contains_key("hopbench.dev/run")), ("yes", true));
    cluster.down();
    ground.assert_gone(&namespace);

    let object = |version: &str, kind: &str| {
        json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "t"},
        })
    };
    let told = |objects: Vec<Value>| {
        let spec = ClusterSpec { objects, ..spec.clone() };
        let missing = ground.cluster(&spec).missing(&plan);
        missing.into_iter().map(|need| need.why).collect::<Vec<_>>()
    };
    assert_eq!(
        told(vec![
            object("telemetry.example.org/v1", "Telemetry"),
            object("v1", "Telemetry"),
            object("v1", "Node"),
        ]),
        [
            "Telemetry t: the cluster does not know telemetry.example.org/v1",
            "Telemetry t: the cluster has no Telemetry of v1",
            "Node t: a Node is in no namespace, and a run makes objects in its own only",
        ]
    );
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_is_left_goes_with_the_testbed() {
    let Some(ground) = ground("a testbed that is dropped") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("direct", "pod@a", "pod@b", Via::Direct)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    assert_eq!(cluster.facts()["pod security"], "restricted");
    let namespace = cluster.namespace().unwrap().to_owned();
    drop(cluster);
    ground.assert_gone(&namespace);
}
