//! Tests of the cluster's meters, with a container whose CPU is known.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hopbench_kube::meters::{Container, MeterTarget, Readings, read};
use hopbench_model::{GatewaySpec, PrometheusSpec, Via};
use hopbench_testbed::{Metered, MeteredKind, Testbed};
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::common::{Ground, cell, eventually, ground, path, plan, spec};

const NAMESPACE: &str = "hopbench-test-meters";
const SOURCES: [&str; 3] = ["cadvisor", "kubelet", "prometheus"];

/// Loops that ask for a whole CPU and get a fifth: one in a plain container, one in a sandbox where
/// the cluster has those.
fn burning(ground: &Ground) -> Vec<MeterTarget> {
    let client = &ground.access.client;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": NAMESPACE}})).unwrap();
    ground.access.ask("namespace", namespaces.create(&PostParams::default(), &namespace)).unwrap();
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let burn = |name: &str, class: Option<&str>| {
        // Prometheus remembers one of the same name for some minutes.
        let who = name.to_owned();
        let name = &format!("{name}-{}", std::process::id());
        let pod = json!({
            "metadata": {"name": name},
            "spec": {
                "runtimeClassName": class,
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": false,
                "containers": [{
                    "name": "burn",
                    "image": "hopbench.test/busybox:1",
                    "imagePullPolicy": "Never",
                    "command": ["sh", "-c", "while :; do :; done"],
                    "resources": {"requests": {"cpu": "200m"}, "limits": {"cpu": "200m"}},
                }],
            },
        });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        eventually("the namespace has its account", || {
            ground.access.ask("pod", pods.create(&PostParams::default(), &pod)).is_ok()
        });
        let mut node = String::new();
        eventually("the loop runs", || {
            let pod = ground.access.ask("pod", pods.get(name)).unwrap();
            node = pod.spec.and_then(|spec| spec.node_name).unwrap_or_default();
            pod.status.and_then(|status| status.phase).as_deref() == Some("Running")
        });
        let container =
            Container { namespace: NAMESPACE.into(), pod: name.clone(), name: "burn".into() };
        MeterTarget { who, what: MeteredKind::Agent, node, container: Some(container) }
    };
    let mut targets = vec![burn("plain", None)];
    if ground.has_gvisor("meters") {
        targets.push(burn("sandboxed", Some("gvisor")));
    }
    targets
}

/// Takes the loops away, however the test ends.
struct Away<'a>(&'a Ground);

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let namespaces: Api<Namespace> = Api::all(self.0.access.client.clone());
        let _ = self
            .0
            .access
            .ask("namespace", namespaces.delete(NAMESPACE, &DeleteParams::background()));
        self.0.wait_for_the_end_of(NAMESPACE);
    }
}

/// Readings by who and source.
type Found = BTreeMap<(String, &'static str), Metered>;

/// The readings of targets by all sources, newer than `than`.
fn readings(ground: &Ground, targets: &[MeterTarget], than: &Found) -> Found {
    let prometheus = PrometheusSpec::Service {
        namespace: "monitoring".to_owned(),
        name: "prometheus".to_owned(),
        port: 9090,
    };
    let clocks = Arc::default();
    let mut found = Found::new();
    let mut notes = Vec::new();
    eventually("readings of all three", || {
        let Readings { metered, notes: said } = ground.access.runtime.block_on(read(
            &ground.access.client,
            Some(&prometheus),
            targets,
            &clocks,
        ));
        notes = said;
        for read in metered {
            let key = (read.who.clone(), read.source);
            // cAdvisor begins to count what a limit holds back some time after it begins to count
            // CPU.
            let is_whole = read.throttled_ns.is_some()
                || read.source == "kubelet"
                || read.what == MeteredKind::Node;
            if is_whole && than.get(&key).is_none_or(|before| before.at < read.at) {
                found.insert(key, read);
            }
        }
        found.len() == targets.len() * SOURCES.len()
    });
    found
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn the_meters_agree_on_a_known_load_and_see_it_throttled() {
    let Some(ground) = ground("meters") else { return };
    let _away = Away(&ground);
    let targets = burning(&ground);
    let before = readings(&ground, &targets, &Found::new());
    std::thread::sleep(Duration::from_secs(60));
    let after = readings(&ground, &targets, &before);
    for who in targets.iter().map(|target| target.who.as_str()) {
        let mut cores = BTreeMap::new();
        for source in SOURCES {
            let key = (who.to_owned(), source);
            let (first, last) = (&before[&key], &after[&key]);
            let window = last.at - first.at;
            assert!(window > Duration::from_secs(30), "{key:?}: {window:?}");
            let spent = Duration::from_nanos(last.cpu_ns - first.cpu_ns);
            cores.insert(source, spent.as_secs_f64() / window.as_secs_f64());
            let memory =
                last.memory_bytes.unwrap_or_else(|| panic!("{key:?}: no memory: {last:?}"));
            assert!((1..128 << 20).contains(&memory), "{key:?}: {memory} bytes");
            if source != "kubelet" {
                let throttled = last.throttled_ns.unwrap() - first.throttled_ns.unwrap();
                // On a quiet machine it is held back most of the time; on a busy one it waits for
                // others, too.
                assert!(
                    Duration::from_nanos(throttled) > window / 20,
                    "{key:?}: {throttled} ns of {window:?}"
                );
            }
        }
        let (least, most) =
            cores.values().fold((f64::MAX, 0.0_f64), |(a, b), c| (a.min(*c), b.max(*c)));
        assert!(most <= least * 1.15, "{who}: {cores:?}");
        // The limit is the known answer. A machine that is busy with other things may give less.
        assert!(most <= 0.2 * 1.15 && least > 0.1, "{who}: {cores:?}");
    }
}

/// A port of this machine that leads to Prometheus, as `kubectl port-forward` makes one.
fn forward(ground: &Ground) -> SocketAddr {
    let pods: Api<Pod> = Api::namespaced(ground.access.client.clone(), "monitoring");
    let listed = ground
        .access
        .ask("pods", pods.list(&ListParams::default().labels("app.kubernetes.io/name=prometheus")));
    let pod = listed.unwrap().items.remove(0).name_any();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    ground.access.runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut forwarded = pods.portforward(&pod, &[9090]).await.unwrap();
            let mut far = forwarded.take_stream(9090).unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    address
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_node_is_metered_and_a_meter_that_is_not_there_is_told() {
    let Some(ground) = ground("meters of nodes") else { return };
    let node = |name: &str| MeterTarget {
        who: "a".into(),
        what: MeteredKind::Node,
        node: name.into(),
        container: None,
    };
    for read in readings(&ground, &[node("n1")], &Found::new()).values() {
        assert!(read.cpu_ns > 0 && read.memory_bytes.unwrap() > 0, "{read:?}");
    }
    let nowhere =
        PrometheusSpec::Service { namespace: "monitoring".into(), name: "absent".into(), port: 1 };
    let absent = [node("absent")];
    let said = ground.access.runtime.block_on(read(
        &ground.access.client,
        Some(&nowhere),
        &absent,
        &Arc::default(),
    ));
    assert!(said.metered.is_empty(), "{said:?}");
    let starts = [
        "Prometheus gave no readings: Service monitoring/absent",
        "cAdvisor of node absent",
        "the kubelet of node absent",
    ];
    assert_eq!(said.notes.len(), starts.len(), "{:?}", said.notes);
    assert!(
        said.notes.iter().zip(starts).all(|(note, start)| note.starts_with(start)),
        "{:?}",
        said.notes
    );
    let forwarded = PrometheusSpec::Url(format!("http://{}/", forward(&ground)));
    eventually("Prometheus at a URL", || {
        let said = ground.access.runtime.block_on(read(
            &ground.access.client,
            Some(&forwarded),
            &[node("n1")],
            &Arc::default(),
        ));
        said.metered.iter().any(|read| read.source == "prometheus")
    });
    let refused = PrometheusSpec::Url("http://127.0.0.1:1".into());
    let said = ground.access.runtime.block_on(read(
        &ground.access.client,
        Some(&refused),
        &[node("n1")],
        &Arc::default(),
    ));
    assert!(
        said.notes.iter().any(|note| note.starts_with("Prometheus gave no readings")),
        "{:?}",
        said.notes
    );
}

/// Prometheus' pod stands for a gateway: what counts is that it is found by namespace and labels,
/// and only where a path enters by it.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn the_pods_of_a_gateway_of_others_are_metered() {
    let Some(ground) = ground("the meters of a gateway") else { return };
    let mut spec = spec();
    spec.gateway = Some(GatewaySpec {
        address: Some("10.199.0.11:80".into()),
        namespace: Some("monitoring".into()),
        labels: BTreeMap::from([("app.kubernetes.io/name".into(), "prometheus".into())]),
        ..GatewaySpec::default()
    });
    let ways = [("in", Via::Gateway(String::new())), ("past", Via::Direct)];
    let plan = plan(&spec, ways.map(|(name, via)| path(name, "pod@a", "pod@b", via)).into());
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let mut gateways = |name: &str| {
        let (path, point) = cell(&plan, name);
        let route = cluster.route(path, point).unwrap();
        let all = cluster.meters(&route).unwrap();
        all.into_iter()
            .filter(|one| one.what == MeteredKind::Proxy)
            .map(|one| one.who)
            .collect::<Vec<_>>()
    };
    eventually("somebody metered it", || {
        let found = gateways("in");
        assert!(
            found
                .iter()
                .all(|who| who.starts_with("gateway prometheus-") && who.ends_with("/prometheus")),
            "{found:?}"
        );
        !found.is_empty()
    });
    assert!(gateways("past").is_empty());
}
