//! Pods that do not get ready: the cluster's own words, on the paths concerned only.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hopbench_kube::{Cluster, labels};
use hopbench_model::{
    ClusterSpec, GatewaySpec, Plan, PodNetwork, SECOND, TestbedSpec, Via, fixture,
};
use hopbench_testbed::{AgentId, Testbed};
use hopbench_wire::Hello;
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota, Service};
use kube::Api;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::common::{Ground, cell, eventually, ground, hello, path, plan, point, spec};

/// A network kind whose agents are patched so.
fn patched(spec: &mut ClusterSpec, name: &str, agent: &Value) {
    let mut container = json!({"name": "agent"});
    container.as_object_mut().unwrap().extend(agent.as_object().unwrap().clone());
    let patch = json!({"spec": {"containers": [container]}});
    spec.networks
        .insert(name.to_owned(), PodNetwork { patch: Some(patch), ..PodNetwork::default() });
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_keeps_pods_from_starting_is_told_and_the_others_go_on() {
    let Some(ground) = ground("pods in trouble") else { return };
    let mut spec = spec();
    patched(&mut spec, "huge", &json!({"resources": {"requests": {"cpu": "1000"}}}));
    patched(&mut spec, "absent", &json!({"image": "hopbench.test/absent:1"}));
    let pulled = json!({"image": "registry.invalid/absent:1", "imagePullPolicy": "IfNotPresent"});
    patched(&mut spec, "pulled", &pulled);
    patched(&mut spec, "crashing", &json!({"args": ["serve", "--no-such-flag"]}));
    let kinds = ["huge", "absent", "pulled", "crashing"];
    let mut paths = vec![path("fine", "pod@a", "pod@b", Via::Direct)];
    paths.extend(kinds.map(|kind| path(kind, "pod@a", &format!("{kind}@b"), Via::Direct)));
    let plan = plan(&spec, paths);
    let mut log = tempfile::tempfile().unwrap();
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&lines);
    let mut cluster = Cluster::new(&spec, Some(log.try_clone().unwrap()))
        .by(ground.access())
        .telling(move |line| heard.lock().unwrap().push(line.to_owned()));
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "fine");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.servers[0]).unwrap();
    let told = BTreeMap::from(kinds.map(|kind| {
        let (path, point) = cell(&plan, kind);
        (kind, cluster.route(path, point).unwrap_err().text)
    }));
    for (kind, parts) in [
        (
            "huge",
            &[
                "huge@b: pod huge-b is not ready: Unschedulable: 0/3 nodes are available",
                "Insufficient cpu",
            ][..],
        ),
        ("absent", &["ErrImageNeverPull", "hopbench kube image"]),
        ("pulled", &["registry.invalid/absent:1", "ImagePull", "name an image"]),
        ("crashing", &["pod crashing-b is not ready", "code 2", "--no-such-flag"]),
    ] {
        for part in parts {
            assert!(told[kind].contains(part), "{kind}: `{part}` is not in: {}", told[kind]);
        }
    }
    let namespace = cluster.namespace().unwrap().to_owned();
    drop(cluster);
    ground.assert_gone(&namespace);
    let lines = lines.lock().unwrap();
    assert_eq!(lines[0], format!("starting 6 pods in namespace {namespace}"));
    assert!(lines[1].starts_with("nodes: a = n"), "{lines:?}");
    assert_eq!(lines[2..], [format!("removing namespace {namespace}")]);
    let mut noted = String::new();
    log.rewind().unwrap();
    log.read_to_string(&mut noted).unwrap();
    for kind in kinds {
        assert!(
            noted.contains(&format!("kubernetes: {kind}@b: pod {kind}-b is not ready")),
            "{kind}: {noted}"
        );
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_path_does_without_an_onlooker_that_cannot_start() {
    let Some(ground) = ground("an onlooker that cannot start") else { return };
    let mut spec = spec();
    patched(&mut spec, "pod", &json!({"resources": {"requests": {"cpu": "1000"}}}));
    let entered = path("port", "bridge@a", "bridge@b", Via::NodePort("c".into()));
    let plan = plan(&spec, vec![entered]);
    let mut cluster = ground.cluster(&spec);
    assert_eq!(cluster.missing(&plan), []);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "port");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.servers[0]).unwrap();
    assert_eq!(route.onlookers(), []);
    let absent = route.absent_onlookers();
    let why = &absent[&AgentId("pod@c/onlooker".to_owned())];
    assert!(why.starts_with("pod pod-c-onlooker is not ready"), "{why}");
    let namespace = cluster.namespace().unwrap().to_owned();
    drop(cluster);
    ground.assert_gone(&namespace);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_load_balancer_without_an_address_holds_up_no_other_path() {
    let Some(ground) = ground("a load balancer without an address") else { return };
    let spec = spec();
    let paths = [("balanced", Via::LoadBalancer), ("direct", Via::Direct)];
    let plan = plan(&spec, paths.map(|(name, via)| path(name, "pod@a", "pod@b", via)).into());
    let mut cluster = ground.cluster(&spec);
    let began = Instant::now();
    cluster.up(&plan).unwrap();
    let waited = began.elapsed();
    assert!(waited < Duration::from_nanos(spec.start_timeout_ns), "for an address: {waited:?}");
    let (path, point) = cell(&plan, "direct");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.servers[0]).unwrap();
    let (path, point) = cell(&plan, "balanced");
    let told = cluster.route(path, point).unwrap_err().text;
    assert!(told.contains("nobody gave its Service of type LoadBalancer an address"), "{told}");
    // Whoever hands out addresses takes their time.
    let namespace = cluster.namespace().unwrap().to_owned();
    let services: Api<Service> = Api::namespaced(ground.access.client.clone(), &namespace);
    let found = ground.access.ask("services", services.list(&ListParams::default())).unwrap().items;
    let name = found[0].metadata.name.clone().unwrap();
    let status =
        Patch::Merge(json!({"status": {"loadBalancer": {"ingress": [{"ip": "10.199.0.50"}]}}}));
    ground
        .access
        .ask("an address", services.patch_status(&name, &PatchParams::default(), &status))
        .unwrap();
    assert_eq!(cluster.route(path, point).unwrap().target.to_string(), "10.199.0.50:7474");
    cluster.down();
    ground.assert_gone(&namespace);
}

/// A namespace that somebody made for a run, with what they want of it.
fn prepared(ground: &Ground, run: &str, more: &[(&str, &str)]) -> String {
    let all = [labels::MANAGED_BY, (labels::RUN, run)];
    let labels: BTreeMap<&str, &str> = all.into_iter().chain(more.iter().copied()).collect();
    let name = hopbench_kube::names::namespace(run);
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap();
    let namespaces: Api<Namespace> = Api::all(ground.access.client.clone());
    ground
        .access
        .ask("a namespace", namespaces.create(&PostParams::default(), &namespace))
        .unwrap();
    name
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_quota_is_told_with_its_words() {
    let Some(ground) = ground("a quota") else { return };
    let namespace = prepared(&ground, "quota00000", &[]);
    let quotas: Api<ResourceQuota> = Api::namespaced(ground.access.client.clone(), &namespace);
    let quota: ResourceQuota = serde_json::from_value(
        json!({"metadata": {"name": "few"}, "spec": {"hard": {"pods": "2"}}}),
    )
    .unwrap();
    ground.access.ask("a quota", quotas.create(&PostParams::default(), &quota)).unwrap();
    eventually("the quota is counted", || {
        let quota = ground.access.ask("the quota", quotas.get("few")).unwrap();
        quota.status.is_some_and(|status| status.hard.is_some_and(|hard| !hard.is_empty()))
    });
    let spec = spec();
    let paths = ["a", "b", "c"]
        .map(|node| path(node, &format!("pod@{node}"), &format!("pod@{node}"), Via::Direct));
    let plan = plan(&spec, paths.into());
    let mut cluster = Cluster::new(&spec, None).by(ground.access()).named("quota00000");
    // Which two pods there is room for is chance: one path may have both.
    let told = match cluster.up(&plan) {
        Err(fault) => fault.text,
        Ok(()) => {
            let routes = plan.paths.iter().map(|path| cluster.route(path, &plan.points[0]));
            let faults: Vec<String> = routes.filter_map(|route| Some(route.err()?.text)).collect();
            assert_eq!(faults.len(), 2);
            faults.join("\n")
        }
    };
    for part in [
        "the cluster takes no pod pod-",
        "exceeded quota: few",
        "limited: pods=2",
        "have it raised",
    ] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
    drop(cluster);
    ground.assert_gone(&namespace);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_pod_security_refuses_is_told_and_the_others_go_on() {
    let Some(ground) = ground("pod security") else { return };
    let enforced = [("pod-security.kubernetes.io/enforce", "restricted")];
    let namespace = prepared(&ground, "security00", &enforced);
    let spec = spec();
    let plan = plan(
        &spec,
        vec![
            path("pods", "pod@a", "pod@b", Via::Direct),
            path("host", "host@a", "pod@b", Via::Direct),
        ],
    );
    let mut cluster = Cluster::new(&spec, None).by(ground.access()).named("security00");
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "pods");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.clients[0]).unwrap();
    let (path, point) = cell(&plan, "host");
    let told = cluster.route(path, point).unwrap_err().text;
    for part in [
        "host@a: the cluster takes no pod host-a",
        "violates PodSecurity \"restricted",
        "host namespaces",
    ] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
    drop(cluster);
    ground.assert_gone(&namespace);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn two_runs_share_a_node_s_own_network() {
    let Some(ground) = ground("two runs on one node's network") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "host@a", "host@b", Via::Direct)]);
    let [mut one, mut other] =
        ["ports00001", "ports00002"].map(|name| ground.cluster(&spec).named(name));
    one.up(&plan).unwrap();
    other.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let ports = [&mut one, &mut other].map(|cluster| {
        let route = cluster.route(path, point).unwrap();
        hello(cluster, &route.servers[0]).unwrap();
        route.target.port()
    });
    assert!(
        ports[0] != ports[1] && ports.iter().all(|port| (20_000..30_000).contains(port)),
        "{ports:?}"
    );
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn agents_of_another_build_measure_nothing() {
    let Some(ground) = ground("agents of another build") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::Direct)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    let theirs = hello(&mut cluster, &route.servers[0]).unwrap();
    cluster.down();
    let mut same = ground.cluster(&spec).only_of(theirs.clone());
    same.up(&plan).unwrap();
    same.route(path, point).unwrap();
    same.down();
    for ours in
        [Hello { commit: "another".into(), ..theirs.clone() }, Hello { protocol: 1, ..theirs }]
    {
        let mut cluster = ground.cluster(&spec).only_of(ours);
        let told = cluster.up(&plan).unwrap_err().text;
        assert!(
            told.contains("n1 has an agent of protocol") && told.contains("hopbench kube image"),
            "{told}"
        );
        assert!(cluster.namespace().is_none(), "it is taken down");
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_gateway_that_nobody_brings_into_being_is_told_in_its_own_words() {
    let Some(ground) = ground("a Gateway in trouble") else { return };
    let of_class = |class: &str| {
        let mut spec = spec();
        spec.start_timeout_ns = 20 * SECOND;
        spec.gateway =
            Some(GatewaySpec { class: Some(class.to_owned()), ..GatewaySpec::default() });
        let fine = path("fine", "pod@a", "pod@b", Via::Direct);
        let paths = vec![fine, path("in", "pod@a", "pod@b", Via::Gateway(String::new()))];
        let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
        let plan = Plan { testbed, ..fixture::plan(paths, vec![point("http")]) };
        (ground.cluster(&spec), plan)
    };
    let (mut cluster, plan) = of_class("contuor");
    let told = cluster.missing(&plan);
    let [need] = &told[..] else { panic!("{told:?}") };
    assert_eq!(need.path.as_deref(), Some("in"));
    assert_eq!(
        need.why,
        "there is no GatewayClass contuor; the cluster has contour, contour-provisioned"
    );
    // The Gateway of a class that is not there is made all the same when nobody looks before.
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "in");
    let told = cluster.route(path, point).unwrap_err().text;
    for words in ["path in: Gateway hopbench-", "is not Programmed: Pending (", "(waited "] {
        assert!(told.contains(words), "{told}");
    }
    let (path, point) = cell(&plan, "fine");
    cluster.route(path, point).unwrap();
}
