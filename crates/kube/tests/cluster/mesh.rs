//! Proxies that hopbench puts into pods itself.

use hopbench_model::{MeshMode, Variant, Via};
use hopbench_testbed::{AgentId, Testbed, of_proxy};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::DeleteParams;

use crate::common::{cell, ground, hello, path, plan, spec};

/// A server that is made anew has another address: a proxy that leads to it is, too.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn proxies_follow_a_server_that_is_made_anew() {
    let Some(ground) = ground("proxies that follow") else { return };
    if !ground.has_envoy("proxies that follow") {
        return;
    }
    let mut spec = spec();
    spec.mesh.image = "hopbench.test/envoy:1".into();
    let mut both = path("both", "pod@a", "pod@b", Via::Direct);
    both.mesh = MeshMode::Both;
    both.variant = Some(Variant::plain());
    let plan = plan(&spec, vec![both]);
    let mut cluster = ground.cluster(&spec);
    assert_eq!(cluster.missing(&plan), []);
    cluster.up(&plan).unwrap();
    assert_eq!(cluster.facts()["pod security"], "restricted");
    let (path, point) = cell(&plan, "both");
    let route = cluster.route(path, point).unwrap();
    assert!(route.target.ip().is_loopback() && route.target.port() >= 18_000, "{}", route.target);
    let names: Vec<(&str, bool)> =
        route.proxies.iter().map(|proxy| (proxy.name.as_str(), proxy.named)).collect();
    assert_eq!(names, [("client-sidecar", true), ("server-sidecar", true)]);
    let uid = |cluster: &hopbench_kube::Cluster, agent: &AgentId| {
        ground.pod(cluster, &agent.0).metadata.uid.unwrap()
    };
    let (client, server) = (route.clients[0].clone(), route.servers[0].clone());
    let before = (uid(&cluster, &client), uid(&cluster, &server));
    let pods: Api<Pod> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let name = cluster.pod(&server).unwrap().to_owned();
    let now = DeleteParams::default().grace_period(0);
    ground
        .access
        .ask("deleting a pod", async { pods.delete(&name, &now).await.map(drop) })
        .unwrap();
    let route = cluster.route(path, point).unwrap();
    let after = (uid(&cluster, &client), uid(&cluster, &server));
    assert!(before.0 != after.0 && before.1 != after.1, "{before:?} {after:?}");
    hello(&mut cluster, &client).unwrap();
    let counters = cluster.counters(&route).unwrap();
    for proxy in &route.proxies {
        assert_eq!(counters[&of_proxy(&proxy.name, "requests")], 0, "{counters:?}");
    }
    let gauges = cluster.gauges(&route).unwrap();
    assert!(gauges["server-sidecar"]["workers"] == 2.0, "{gauges:?}");
    cluster.down();
}
