//! Tests of the parts that pods get for each mesh, and of what cannot be measured with it.

use std::collections::BTreeMap;

use hopbench_mesh::Protocol;
use hopbench_model::{
    ClusterSpec, GatewaySpec, MeshMode, MeshProvider, ParentGateway, Path, Plan, PodSettings,
    Subject, TestbedSpec, Variant, Via,
};
use serde_json::json;

use super::super::needs::missing;
use super::sidecars;
use crate::objects::sidecar::Sidecar;
use crate::plan::fixture::{path, plan, plan_on, point, spec};
use crate::plan::placement::placement;
use crate::plan::services::services;
use crate::provision::built::fixture::with_nginx;

fn meshed(name: &str, via: Via, mesh: MeshMode, variant: Variant) -> Path {
    let variant = (!mesh.is_none() || matches!(via, Via::Gateway(_))).then_some(variant);
    Path { mesh, variant, ..path(name, "pod@a", "pod@b", via) }
}

fn of_provider(provider: MeshProvider) -> ClusterSpec {
    let mut spec = spec();
    spec.mesh.provider = provider;
    spec.mesh.revision = (provider == MeshProvider::Istio).then(|| "canary".to_owned());
    spec
}

fn planned(spec: &ClusterSpec, paths: Vec<Path>) -> Plan {
    let points = vec![point("rr", "hopbench"), point("http", "hopbench")];
    Plan { testbed: TestbedSpec::Kubernetes(Box::new(spec.clone())), ..plan(paths, points) }
}

fn modes() -> Vec<Path> {
    let mode = |mode: MeshMode| meshed(mode.name(), Via::Direct, mode, Variant::plain());
    let mut paths: Vec<Path> = MeshMode::ALL.map(mode).into();
    paths.push(meshed("svc", Via::ClusterIp, MeshMode::Both, Variant::plain()));
    paths
}

/// The parts of each pod, and the ports of each Service, by name.
type Given = (BTreeMap<String, Sidecar>, BTreeMap<String, BTreeMap<String, u16>>);

fn given(provider: MeshProvider, paths: Vec<Path>) -> Given {
    let spec = of_provider(provider);
    let placement = placement(&planned(&spec, paths));
    let pods =
        sidecars(&spec, &placement).into_iter().map(|(pod, sidecar)| (pod.to_string(), sidecar));
    let services =
        services(&spec, &placement).into_iter().map(|service| (service.name, service.sidecars));
    (pods.collect(), services.collect())
}

fn assert_given(given: &Given, pods: &[(&str, Sidecar)]) {
    for (pod, expected) in pods {
        assert_eq!(given.0.get(*pod), Some(expected), "{pod}");
    }
    assert_eq!(given.0.len(), pods.len(), "{:?}", given.0.keys());
    let ports = [("http-agent", 17_012), ("tcp-agent", 17_002)];
    let ports = ports.map(|(name, port)| (name.to_owned(), port)).into();
    assert_eq!(given.1, BTreeMap::from([("path0-svc".to_owned(), ports)]));
}

#[test]
fn envoys_are_containers_whose_bootstraps_are_in_secrets() {
    let security = json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    });
    let probe = |port: u16| {
        json!({
            "tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": 120,
        })
    };
    let arguments = [
        "--config-path",
        "/etc/hopbench/bootstrap.json",
        "--disable-hot-restart",
        "--concurrency",
        "2",
        "--log-level",
        "warning",
    ];
    let envoy = |name: &str, pod: &str| {
        let container = json!({
            "name": name,
            "image": "envoy",
            "imagePullPolicy": "Never",
            "args": arguments,
            "startupProbe": probe(15_021),
            "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
            "securityContext": security,
            "volumeMounts": [{"name": "bootstrap", "mountPath": "/etc/hopbench", "readOnly": true}],
        });
        let secret = json!({"secretName": format!("envoy-{pod}"), "defaultMode": 0o444});
        let volume = json!({"name": "bootstrap", "secret": secret});
        Sidecar { containers: vec![container], volumes: vec![volume], ..Sidecar::default() }
    };
    let service = |name: &str, port: u16, totals: u16| {
        json!({
            "name": name,
            "image": "hopbench:0.1.0",
            "imagePullPolicy": "Never",
            "args": [
                name, "--listen", format!("[::]:{port}"), "--admin",
                format!("127.0.0.1:{totals}"),
            ],
            "ports": [{"name": name, "containerPort": port, "protocol": "TCP"}],
            "startupProbe": probe(port),
            "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
            "securityContext": security,
        })
    };
    let asked = vec![service("policy", 15_010, 15_020), service("telemetry", 15_011, 15_021)];
    let mut paths = modes();
    let checked = Variant { policy_check: true, policy_report: true, ..Variant::plain() };
    let checked = Variant { name: "checked".into(), ..checked };
    paths.push(meshed("gateway", Via::Gateway("c".into()), MeshMode::Server, checked));
    let expected = [
        ("pod@a/client", envoy("envoy-sidecar", "pod-a-client")),
        ("pod@b", envoy("envoy-sidecar", "pod-b")),
        ("pod@b/checked", envoy("envoy-sidecar", "pod-b-checked")),
        ("pod@b/policy-checked", Sidecar { containers: asked, ..Sidecar::default() }),
        ("pod@b/svc", envoy("envoy-sidecar", "pod-b-svc")),
        ("pod@c/gateway-gateway", envoy("envoy-gateway", "pod-c-gateway-gateway")),
    ];
    assert_given(&given(MeshProvider::Envoy, paths), &expected);
}

/// A pod that asks a mesh for its sidecar, and has these ports beside its agent's.
fn asking<const N: usize>(
    labels: &[(&str, &str)],
    annotations: [(&str, &str); N],
    also: &[u16],
) -> Sidecar {
    let texts = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
        all.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let protocol = |port: u16| if port < 17_010 { Protocol::Tcp } else { Protocol::Http };
    let also = also.iter().map(|port| (*port, protocol(*port))).collect();
    Sidecar { labels: texts(labels), annotations: texts(&annotations), also, ..Sidecar::default() }
}

/// A port for each mode and protocol.
const ALL: [u16; 6] = [17_000, 17_001, 17_002, 17_010, 17_011, 17_012];

#[test]
fn istio_is_told_which_ports_to_take() {
    let config = "{\"concurrency\":2,\"holdApplicationUntilProxyStarts\":true,\
                  \"proxyStatsMatcher\":{\"inclusionRegexps\":[\
                  \".*(downstream_cx_total|downstream_rq_total|upstream_cx_total|\
                  upstream_cx_connect_.*|upstream_rq_total|upstream_rq_retry|downstream_cx_active|\
                  upstream_cx_active)\"]}}";
    let asking = |inbound: &str, outbound: &str, also: &[u16]| {
        let annotations = [
            ("traffic.sidecar.istio.io/includeInboundPorts", inbound),
            ("traffic.sidecar.istio.io/includeOutboundIPRanges", ""),
            ("traffic.sidecar.istio.io/includeOutboundPorts", outbound),
            ("proxy.istio.io/config", config),
        ];
        asking(
            &[
                ("hopbench.dev/variant", "plain"),
                ("istio.io/rev", "canary"),
                ("sidecar.istio.io/inject", "true"),
            ],
            annotations,
            also,
        )
    };
    let expected = [
        ("pod@a", asking("", "17001,17002,17011,17012", &[])),
        ("pod@b", asking("17000,17002,17010,17012", "", &ALL)),
        ("pod@b/svc", asking("17002,17012", "", &[17_002, 17_012])),
    ];
    assert_given(&given(MeshProvider::Istio, modes()), &expected);
}

#[test]
fn http2_has_ports_of_its_own_that_say_so() {
    let spec = of_provider(MeshProvider::Istio);
    let mut http2 = point("http", "hopbench");
    http2.job.params = json!({"http2": true}).into();
    let paths = vec![meshed("svc", Via::ClusterIp, MeshMode::Both, Variant::plain())];
    let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
    let plan = Plan { testbed, ..plan(paths, vec![point("http", "hopbench"), http2]) };
    let placement = placement(&plan);
    let pods = sidecars(&spec, &placement);
    let (_, server) = pods.iter().find(|(pod, _)| pod.to_string() == "pod@b/svc").unwrap();
    let also = [(17_012, Protocol::Http), (17_032, Protocol::Http2)];
    assert_eq!(server.also, also.into());
    let inbound = "traffic.sidecar.istio.io/includeInboundPorts";
    assert_eq!(server.annotations[inbound], "17012,17032");
    let services = services(&spec, &placement);
    assert_eq!(services[0].sidecars["http2-agent"], 17_032);
}

/// The annotations that list ports on the way in, and on the way out.
const TAKEN_BY_ISTIO: [&str; 2] = [
    "traffic.sidecar.istio.io/includeInboundPorts",
    "traffic.sidecar.istio.io/includeOutboundPorts",
];
const SKIPPED_BY_LINKERD: [&str; 2] =
    ["config.linkerd.io/skip-inbound-ports", "config.linkerd.io/skip-outbound-ports"];

/// The pods of a plan that get something, with the ports in two annotations.
fn listed(spec: &ClusterSpec, plan: &Plan, annotations: [&str; 2]) -> Vec<String> {
    let pods = sidecars(spec, &placement(plan)).into_iter();
    let of_pod = pods.map(|(pod, parts)| {
        assert!(!parts.also.contains_key(&8080), "{pod}: the agent would take the program's port");
        let [inbound, outbound] = annotations
            .map(|name| parts.annotations.get(name).cloned().unwrap_or_else(|| "-".to_owned()));
        format!("{pod} in [{inbound}] out [{outbound}]")
    });
    of_pod.collect()
}

/// It has one port for all modes.
#[test]
fn a_server_program_and_its_clients_are_in_the_mesh_or_not() {
    let of = |provider, annotations| {
        let spec = with_nginx(provider);
        let plan = plan_on(&spec, modes(), vec![point("http", "nginx")]);
        listed(&spec, &plan, annotations)
    };
    let taken = [
        "pod@a/mesh in [] out [8080]",
        "pod@b/svc:nginx in [8080] out []",
        "pod@b/mesh:nginx in [8080] out []",
    ];
    assert_eq!(of(MeshProvider::Istio, TAKEN_BY_ISTIO), taken);
    let skipped = ["pod@a/mesh", "pod@b/svc:nginx", "pod@b/mesh:nginx"];
    let skipped = skipped.map(|pod| format!("{pod} in [7474] out [7474]"));
    assert_eq!(of(MeshProvider::Linkerd, SKIPPED_BY_LINKERD), skipped);
}

#[test]
fn a_program_of_a_path_without_a_sidecar_is_left_alone() {
    let of = |provider, annotations| {
        let spec = with_nginx(provider);
        let path = |mode: MeshMode| meshed(mode.name(), Via::Direct, mode, Variant::plain());
        let paths = vec![path(MeshMode::None), path(MeshMode::Client)];
        let points = vec![point("http", "nginx"), point("rr", "hopbench")];
        let mut plan = plan_on(&spec, paths, points);
        // The program answers on the first path, and the agent on the other one.
        plan.cells.retain(|cell| cell.path == cell.point);
        listed(&spec, &plan, annotations)
    };
    let istio = ["pod@a in [] out [17001]", "pod@b in [-] out [-]"];
    assert_eq!(of(MeshProvider::Istio, TAKEN_BY_ISTIO), istio);
    let linkerd = ["pod@a in [7474] out [7474,8080]", "pod@b in [-] out [-]"];
    assert_eq!(of(MeshProvider::Linkerd, SKIPPED_BY_LINKERD), linkerd);
}

#[test]
fn linkerd_is_told_which_ports_to_skip() {
    let asking = |inbound: &str, outbound: &str, bytes: &str, also: &[u16]| {
        let annotations = [
            ("linkerd.io/inject", "enabled"),
            ("config.linkerd.io/skip-inbound-ports", inbound),
            ("config.linkerd.io/skip-outbound-ports", outbound),
            ("config.linkerd.io/opaque-ports", bytes),
            ("config.linkerd.io/proxy-cpu-limit", "2"),
            ("config.linkerd.io/proxy-await", "enabled"),
        ];
        asking(&[("hopbench.dev/variant", "plain")], annotations, also)
    };
    let expected = [
        ("pod@a", asking("7474", "7474,17000,17010", "17000,17001,17002", &[])),
        ("pod@b", asking("7474,17001,17011", "7474", "17000,17001,17002", &ALL)),
        ("pod@b/svc", asking("7474", "7474", "17002", &[17_002, 17_012])),
    ];
    assert_given(&given(MeshProvider::Linkerd, modes()), &expected);
}

#[test]
fn a_variant_annotates_its_pods_and_labels_them() {
    let annotations = [("sidecar.istio.io/logLevel".to_owned(), "off".to_owned())];
    let quiet =
        Variant { name: "quiet+x".into(), annotations: annotations.into(), ..Variant::plain() };
    let path = meshed("p", Via::Direct, MeshMode::Server, quiet.clone());
    let (pods, _) = given(MeshProvider::Istio, vec![path.clone()]);
    let server = &pods["pod@b"];
    assert_eq!(server.labels["hopbench.dev/variant"], "quiet-x");
    assert_eq!(server.annotations["sidecar.istio.io/logLevel"], "off");
    assert!(!pods.contains_key("pod@a"), "the client has no sidecar");
    let told = |provider| {
        let spec = of_provider(provider);
        let placement = placement(&planned(&spec, vec![path.clone()]));
        let mut all = placement.paths.values().flat_map(|ends| missing(&spec, ends));
        all.next().map(|need| need.why)
    };
    assert_eq!(told(MeshProvider::Istio), None);
    let annotations = [("proxy.istio.io/config".to_owned(), "{}".to_owned())];
    let mut own = path.clone();
    own.variant = Some(Variant { annotations: annotations.into(), ..quiet });
    let spec = of_provider(MeshProvider::Istio);
    let placement = placement(&planned(&spec, vec![own]));
    let needs: Vec<_> = placement.paths.values().flat_map(|ends| missing(&spec, ends)).collect();
    assert_eq!(needs[0].why, "variant quiet+x: hopbench itself says proxy.istio.io/config");
    let why = "variant quiet+x: its annotations are for a mesh of the cluster";
    assert_eq!(told(MeshProvider::Envoy).as_deref(), Some(why));
}

#[test]
fn a_subject_has_proxies_of_its_image() {
    let parts = |provider| {
        let spec = of_provider(provider);
        let of = |subject: &str, via: Via| Path {
            subject: Some(subject.to_owned()),
            ..meshed(&format!("{via}.{subject}"), via, MeshMode::Server, Variant::plain())
        };
        let mut paths = vec![of("old", Via::Direct), of("new", Via::Direct)];
        if provider == MeshProvider::Envoy {
            paths.push(of("new", Via::Gateway("c".into())));
        }
        let pod = PodSettings { proxy: Some("envoy:2".into()), ..PodSettings::default() };
        let old = Subject { name: "old".into(), ..Subject::default() };
        let new = Subject { name: "new".into(), pod, ..Subject::default() };
        let plan = Plan { subjects: vec![old, new], ..planned(&spec, paths) };
        let all = sidecars(&spec, &placement(&plan)).into_iter();
        all.map(|(pod, part)| (pod.to_string(), part)).collect::<BTreeMap<_, _>>()
    };
    let ours = parts(MeshProvider::Envoy);
    let images: BTreeMap<&str, &str> = ours
        .iter()
        .map(|(pod, part)| (pod.as_str(), part.containers[0]["image"].as_str().unwrap()))
        .collect();
    let expected = [
        ("pod@b", "envoy"),
        ("pod@b~new", "envoy:2"),
        ("pod@c~new/gateway-gateway@c.new", "envoy:2"),
    ];
    assert_eq!(images, BTreeMap::from(expected));
    let injected = parts(MeshProvider::Istio);
    let image = |pod: &str| injected[pod].annotations.get("sidecar.istio.io/proxyImage");
    assert_eq!((image("pod@b"), image("pod@b~new")), (None, Some(&"envoy:2".to_owned())));
}

/// A client that connects to its own sidecar needs its servers' addresses at the start. So no two
/// pods may wait for each other.
#[test]
fn nobody_who_connects_to_its_own_sidecar_is_a_server() {
    let spec = of_provider(MeshProvider::Envoy);
    let mut paths = modes();
    let back =
        Path { name: "back".into(), ..meshed("", Via::Direct, MeshMode::Both, Variant::plain()) };
    paths.push(Path { from: back.to.clone(), to: back.from.clone(), ..back });
    let placement = placement(&planned(&spec, paths));
    for ends in placement.paths.values().filter(|ends| ends.path.mesh.has_client()) {
        let served = |pod| placement.paths.values().any(|other| other.servers.contains(pod));
        assert!(!ends.clients.iter().any(served), "{:?}", ends.clients);
    }
}

#[test]
fn pods_of_ambient_are_in_the_mesh_by_their_label() {
    let (pods, services) = given(MeshProvider::IstioAmbient, modes());
    let mode = |pod: &str| pods[pod].labels["istio.io/dataplane-mode"].as_str();
    assert_eq!(
        ["pod@a", "pod@b", "pod@a/mesh", "pod@b/mesh", "pod@b/svc"].map(mode),
        ["none", "none", "ambient", "ambient", "ambient"]
    );
    assert_eq!(pods.len(), 5);
    assert!(pods.values().all(|parts| !parts.has_proxy() && parts.also.is_empty()));
    assert_eq!(pods["pod@a/mesh"].labels["hopbench.dev/variant"], "plain");
    assert!(services.values().all(BTreeMap::is_empty), "the port says nothing: {services:?}");
}

#[test]
fn what_cannot_be_measured_says_why() {
    let told = |provider: MeshProvider, path: Path| -> Vec<String> {
        let spec = of_provider(provider);
        let placement = placement(&planned(&spec, vec![path]));
        placement
            .paths
            .values()
            .flat_map(|ends| missing(&spec, ends))
            .map(|need| need.why)
            .collect()
    };
    let plain = Variant::plain;
    let fine = || meshed("p", Via::Direct, MeshMode::Both, plain());
    for provider in MeshProvider::ALL {
        assert_eq!(told(provider, fine()), Vec::<String>::new());
    }
    let heavy = Variant { name: "heavy".into(), concurrency: 4, ..plain() };
    let shared = meshed("p", Via::Direct, MeshMode::Both, heavy);
    for provider in [MeshProvider::IstioAmbient, MeshProvider::Cilium] {
        let why = told(provider, shared.clone());
        assert!(why[0].contains("all pods of a node share its proxy"), "{why:?}");
    }
    let variant = Variant { name: "no-mtls".into(), mtls: false, ..plain() };
    let path = meshed("p", Via::Direct, MeshMode::Both, variant.clone());
    assert!(
        told(MeshProvider::Istio, path.clone())[0]
            .starts_with("variant no-mtls: how the proxies of istio")
    );
    assert!(told(MeshProvider::Envoy, path).is_empty());
    let gateway = meshed("p", Via::Gateway("c".into()), MeshMode::Server, plain());
    assert!(
        told(MeshProvider::Istio, gateway.clone())[0].starts_with("a gateway of hopbench's own")
    );
    assert!(told(MeshProvider::Envoy, gateway).is_empty());
    let host = Path { to: crate::plan::fixture::place("host@b"), ..fine() };
    assert!(told(MeshProvider::Envoy, host)[0].contains("ports of the node"));
    let outside = meshed("p", Via::Gateway(String::new()), MeshMode::None, plain());
    assert_eq!(told(MeshProvider::Envoy, outside), ["nothing says where the gateway is"]);
}

#[test]
fn sidecars_are_behind_a_gateway_that_the_run_leads_to_them() {
    let behind = |address: Option<&str>, mode: MeshMode| -> Vec<String> {
        let mut spec = of_provider(MeshProvider::Istio);
        let parent = ParentGateway { namespace: "infra".into(), name: "public".into() };
        spec.gateway = Some(GatewaySpec {
            address: address.map(str::to_owned),
            parent: address.is_none().then_some(parent),
            ..GatewaySpec::default()
        });
        let path = meshed("p", Via::Gateway(String::new()), mode, Variant::plain());
        let placement = placement(&planned(&spec, vec![path]));
        let all = placement.paths.values().flat_map(|ends| missing(&spec, ends));
        all.map(|need| need.why).collect()
    };
    assert!(behind(None, MeshMode::Server).is_empty());
    let by_address = behind(Some("203.0.113.7:80"), MeshMode::Server);
    assert!(by_address[0].contains("nobody tells a gateway of others"), "{by_address:?}");
    let both = behind(None, MeshMode::Both);
    assert!(both.iter().any(|why| why.contains("clients have no sidecar")), "{both:?}");
}
