//! Tests of the objects of whole runs.
//!
//! The smallest run is compared with a file that a person has looked at. `UPDATE_GOLDEN=1` writes
//! it anew. Other runs are that file with the differences that stand in the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use hopbench_control::conductor::RunKey;
use hopbench_control::keys::KeyPair;
use hopbench_model::{
    Affinity, ClusterSpec, Path, Peer, PeerImage, Plan, PodNetwork, PodSettings, ServerImage,
    Subject, Variant, Via,
};
use hopbench_testbed::placement::{AGENT_PORT, Placement, PodId};
use serde_json::{Value, json};

use crate::api::labels::RunIdentity;
use crate::objects::blueprint::{self, Blueprint, Ground};
use crate::objects::security::Level;
use crate::objects::sidecar::Sidecar;
use crate::plan::attachment::has_agent;
use crate::plan::fixture::{path, plan, point, spec};
use crate::plan::nodes::NodeFacts;
use crate::plan::placement::placement;

fn nodes() -> BTreeMap<String, NodeFacts> {
    let node = |(name, last): (&str, u8)| {
        let facts = NodeFacts {
            name: format!("n{last}"),
            addresses: vec![[10, 0, 0, last].into()],
            ..NodeFacts::default()
        };
        (name.to_owned(), facts)
    };
    [("a", 1), ("b", 2), ("c", 3)].map(node).into()
}

/// A seed of 32 such bytes.
fn seed(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

/// The key by which the agents know their conductor. Its seed is 32 bytes of 255.
fn conductor() -> RunKey {
    let keys: KeyPair = seed(255).parse().unwrap();
    format!("{:016x}:{}", 1, keys.public()).parse().unwrap()
}

/// Key pairs for the agents: the first has a seed of 1s, the second of 2s.
fn agents(spec: &ClusterSpec, placement: &Placement) -> BTreeMap<PodId, KeyPair> {
    let agents = placement.pods.iter().filter(|pod| has_agent(spec, pod));
    agents.zip(1..).map(|(pod, number)| (pod.clone(), seed(number).parse().unwrap())).collect()
}

/// The namespace and all objects in it, in the order in which they are made.
fn objects(spec: &ClusterSpec, plan: &Plan, sidecar: Option<&Sidecar>) -> Vec<Value> {
    let placement = placement(plan);
    let nodes = nodes();
    let sidecars: BTreeMap<PodId, Sidecar> =
        placement.pods.iter().filter_map(|pod| Some((pod.clone(), sidecar?.clone()))).collect();
    let ground = Ground {
        spec,
        placement: &placement,
        nodes: &nodes,
        sidecars: &sidecars,
        host_port: AGENT_PORT,
    };
    let name = "0123456789".to_owned();
    let mut run = RunIdentity {
        namespace: format!("hopbench-{name}"),
        name,
        is_guest: false,
        owner: String::new(),
    };
    let (level, _) = blueprint::level(&blueprint::pods(&ground, &run).unwrap(), BTreeMap::new());
    let (namespace, mut owner) = blueprint::frame(&run, level, "test", "conductor").unwrap();
    owner.data.as_mut().unwrap().insert("version".into(), "VERSION".into());
    run.owner = "6f9c0e7e-0000-4000-8000-000000000001".to_owned();
    let keys = agents(spec, &placement);
    let blueprint = Blueprint::of(&ground, &run, &conductor(), &keys).unwrap();
    let mut all =
        vec![serde_json::to_value(namespace).unwrap(), serde_json::to_value(owner).unwrap()];
    all.extend(blueprint.secrets.iter().map(|secret| serde_json::to_value(secret).unwrap()));
    all.extend(blueprint.network_policy.iter().map(|policy| serde_json::to_value(policy).unwrap()));
    all.extend(blueprint.services.iter().map(|service| serde_json::to_value(service).unwrap()));
    all.extend(blueprint.pods.values().map(|pod| serde_json::to_value(pod).unwrap()));
    all
}

/// The objects of some runs, by what is special about them.
fn runs() -> Vec<(&'static str, Vec<Value>)> {
    let plain = plan(
        vec![path("direct", "bridge@a", "bridge@b", Via::Direct)],
        vec![point("rr", "hopbench")],
    );
    let mut service = path("node-port", "pod@a", "pod+runsc@b", Via::NodePort("c".into()));
    service.backends = 2;
    let mut balanced = path("balanced", "pod@a", "pod@b", Via::LoadBalancer);
    balanced.affinity = Affinity::ClientIp;
    let services =
        plan(vec![service, balanced], vec![point("udp", "hopbench"), point("http", "nginx")]);
    let mut with_programs = spec();
    let nginx = ServerImage {
        image: "nginx:1".into(),
        port: 80,
        cpu_millis: Some(1500),
        args: vec!["-g".into(), "daemon off;".into()],
        request: None,
    };
    with_programs.servers.insert("nginx".into(), nginx);
    with_programs.network_policy = true;
    let host = plan(
        vec![
            path("out", "host@a", "host@a", Via::Direct),
            path("in", "pod@b", "host@a", Via::Direct),
        ],
        vec![point("ping", "hopbench")],
    );
    let mut patched = spec();
    patched.patch = Some(json!({
        "metadata": {"labels": {"team": "net"}},
        "spec": {
            "containers": [{"name": "agent", "resources": {"limits": {"cpu": "2"}}}],
            "hostAliases": [],
        },
    }));
    let macvlan = PodNetwork {
        annotations: BTreeMap::from([("k8s.v1.cni.cncf.io/networks".into(), "macvlan".into())]),
        labels: BTreeMap::from([("kind".into(), "macvlan".into())]),
        interface: Some("net1".into()),
        ..PodNetwork::default()
    };
    patched.networks.insert("macvlan".into(), macvlan);
    let attached =
        plan(vec![path("p", "macvlan@a", "macvlan@b", Via::Direct)], vec![point("rr", "hopbench")]);
    let sidecar = Sidecar {
        containers: vec![json!({"name": "sidecar", "image": "envoy"})],
        init_containers: vec![json!({"name": "before", "image": "init"})],
        is_on_node: false,
        also: [].into(),
        volumes: vec![json!({"name": "bootstrap", "secret": {"secretName": "bootstrap"}})],
        labels: BTreeMap::from([("mesh".into(), "on".into())]),
        annotations: BTreeMap::from([("mesh/ports".into(), "7474".into())]),
    };
    let mut with_tools = spec();
    with_tools.peers = Some(PeerImage { image: "tools:1".into() });
    let mut by_tool = point("http", "hopbench");
    by_tool.peer = Some(Peer { tool: "wrk".into(), of: "http".into() });
    let tools = plan(
        vec![path("asked", "pod@a", "pod@b", Via::ClusterIp)],
        vec![point("rr", "hopbench"), by_tool.clone()],
    );
    let mut with_both = with_programs.clone();
    with_both.peers.clone_from(&with_tools.peers);
    let tools_on_host = plan(
        vec![path("out", "host@a", "host@b", Via::Direct)],
        vec![point("ping", "hopbench"), point("http", "nginx"), by_tool],
    );
    vec![
        ("tools", objects(&with_tools, &tools, None)),
        ("tools on host", objects(&with_both, &tools_on_host, None)),
        ("plain", objects(&spec(), &plain, None)),
        ("services", objects(&with_programs, &services, None)),
        ("host", objects(&spec(), &host, None)),
        ("patched", objects(&patched, &attached, None)),
        ("sidecar", objects(&spec(), &plain, Some(&sidecar))),
    ]
}

/// The objects of the run of this name.
fn of_run(name: &str) -> Vec<Value> {
    let found = runs().into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no run {name}")).1
}

fn golden_file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/plain.json"))
}

/// The smallest run, whole.
#[test]
fn the_smallest_run_is_as_it_was_when_somebody_looked() {
    let file = golden_file();
    let text = format!("{}\n", serde_json::to_string_pretty(&of_run("plain")).unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap_or_default();
    assert!(known == text, "{} differs: UPDATE_GOLDEN=1 writes it anew\n{text}", file.display());
}

/// An object of the golden, with other words for some.
fn golden(kind: &str, name: &str, words: &[(&str, &str)]) -> Value {
    let all: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(golden_file()).unwrap()).unwrap();
    let found = all
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
        .unwrap();
    let text =
        words.iter().fold(found.to_string(), |text, (word, other)| text.replace(*word, other));
    serde_json::from_str(&text).unwrap()
}

/// The namespace for pods of this level, its owner, and the Secrets of these pods' agents.
fn frame(level: &str, pods: &[&str]) -> Vec<Value> {
    let namespace = golden("Namespace", "hopbench-0123456789", &[("restricted", level)]);
    let owner = golden("ConfigMap", "run", &[]);
    let secret = |(pod, number): (&&str, u8)| {
        let (before, after) = (seed(2), seed(number));
        golden("Secret", "agent-bridge-b", &[("bridge-b", *pod), (before.as_str(), after.as_str())])
    };
    [namespace, owner].into_iter().chain(pods.iter().zip(1..).map(secret)).collect()
}

/// The golden's pod, with this name and on this node, changed at these places.
fn pod(name: &str, node: &str, changes: &[(&str, Value)]) -> Value {
    let node = format!("\"{node}\"");
    let mut pod = golden("Pod", "bridge-b", &[("bridge-b", name), ("\"n2\"", node.as_str())]);
    for (at, value) in changes {
        let (parent, field) = at.rsplit_once('/').unwrap();
        match pod.pointer_mut(parent).unwrap_or_else(|| panic!("{name} has nothing at {parent}")) {
            Value::Array(items) if field == "-" => items.push(value.clone()),
            Value::Array(items) => items[field.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[field.replace("~1", "/")] = value.clone(),
        }
    }
    pod
}

/// An object with a `spec`, and with the metadata of all that a run makes.
fn object(version: &str, kind: &str, name: &str, spec: Value) -> Value {
    let mut metadata = golden("Secret", "agent-bridge-b", &[])["metadata"].clone();
    metadata["name"] = name.into();
    let mut object = json!({"apiVersion": version, "kind": kind});
    object["metadata"] = metadata;
    object["spec"] = spec;
    object
}

fn assert_run(name: &str, expected: &[Value]) {
    let found = of_run(name);
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{name}");
    }
    assert_eq!(found.len(), expected.len(), "{name}");
}

#[test]
fn backends_have_the_labels_of_their_services_and_programs_are_beside_agents() {
    let pods = [
        "pod-a",
        "pod-b-balanced",
        "pod-b-balanced-nginx",
        "pod-runsc-b-node-port",
        "pod-runsc-b-node-port-2",
        "pod-runsc-b-node-port-nginx",
        "pod-runsc-b-node-port-nginx-2",
    ];
    let mut expected = frame("restricted", &[&pods[..], &["pod-c-onlooker"]].concat());
    let node = |last: u8| json!({"ipBlock": {"cidr": format!("10.0.0.{last}/32")}});
    let policy = json!({
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [{"podSelector": {}}, node(1), node(2), node(3)]}],
        // A path leaves the cluster by its load balancer.
        "egress": [{}],
    });
    expected.push(object("networking.k8s.io/v1", "NetworkPolicy", "run", policy));
    for (path, kind) in [("path0-balanced", "LoadBalancer"), ("path1-node-port", "NodePort")] {
        let port = |name: &str, number: u16, protocol: &str| {
            json!({
                "name": name, "port": number, "targetPort": name, "protocol": protocol,
            })
        };
        let service = |name: &str, ports: Value| {
            let selector = json!({format!("service.hopbench.dev/{name}"): ""});
            let mut spec = json!({"type": kind, "selector": selector, "ports": ports});
            if path.contains("balanced") {
                spec["sessionAffinity"] = json!("ClientIP");
            }
            object("v1", "Service", name, spec)
        };
        expected.push(service(
            path,
            json!([port("agent", 7474, "TCP"), port("agent-udp", 7474, "UDP")]),
        ));
        expected.push(service(&format!("{path}-nginx"), json!([port("program", 80, "TCP")])));
    }
    let nginx = json!({
        "name": "program",
        "image": "nginx:1",
        "imagePullPolicy": "Never",
        "args": ["-g", "daemon off;"],
        "ports": [{"containerPort": 80, "name": "program", "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "1500m"}, "requests": {"cpu": "10m", "memory": "32Mi"}},
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "startupProbe": {
            "failureThreshold": 120, "periodSeconds": 1, "tcpSocket": {"port": "program"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"mountPath": "/tmp", "name": "tmp"}],
    });
    let behind =
        |service: &str| (format!("/metadata/labels/service.hopbench.dev~1{service}"), json!(""));
    let sandboxed = ("/spec/runtimeClassName".to_owned(), json!("gvisor"));
    let with_program = [
        ("/spec/containers/-".to_owned(), nginx),
        ("/spec/volumes/-".to_owned(), json!({"name": "tmp", "emptyDir": {}})),
        // It listens on port 80 without root.
        (
            "/spec/securityContext/sysctls".to_owned(),
            json!([{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]),
        ),
    ];
    expected.push(pod("pod-a", "n1", &[]));
    for name in &pods[1..] {
        let service = if name.contains("balanced") { "path0-balanced" } else { "path1-node-port" };
        let has_program = name.contains("nginx");
        let mut changes = vec![behind(&if has_program {
            format!("{service}-nginx")
        } else {
            service.to_owned()
        })];
        if name.contains("runsc") {
            changes.push(sandboxed.clone());
        } else if has_program {
            // The agent reads what the program spends.
            changes.push(("/spec/shareProcessNamespace".to_owned(), json!(true)));
        }
        if has_program {
            changes.extend(with_program.clone());
        }
        let changes: Vec<(&str, Value)> =
            changes.iter().map(|(at, value)| (at.as_str(), value.clone())).collect();
        expected.push(pod(name, "n2", &changes));
    }
    // No other agent is on the node that the traffic enters.
    let mut alone = pod("pod-c-onlooker", "n3", &[]);
    let arguments = alone["spec"]["containers"][0]["args"].as_array_mut().unwrap();
    assert_eq!(arguments.remove(1), "--both-ends");
    expected.push(alone);
    assert_run("services", &expected);
}

#[test]
fn tools_rest_beside_the_agents_and_have_a_port_of_the_service() {
    let mut expected = frame("restricted", &["pod-a", "pod-b-asked"]);
    let service = "service.hopbench.dev/path0-asked";
    let ports = json!([
        {"name": "agent", "port": 7474, "targetPort": "agent", "protocol": "TCP"},
        {"name": "peer", "port": 5201, "targetPort": 5201, "protocol": "TCP"},
    ]);
    let spec = json!({"type": "ClusterIP", "selector": {service: ""}, "ports": ports});
    expected.push(object("v1", "Service", "path0-asked", spec));
    let mut agent = golden("Pod", "bridge-b", &[])["spec"]["containers"][0].clone();
    // Tools have the pod's user.
    agent["securityContext"].as_object_mut().unwrap().remove("runAsUser");
    let tools = json!({
        "name": "peer",
        "image": "tools:1",
        "imagePullPolicy": "Never",
        "command": ["sleep", "2147483647"],
        "env": [{"name": "LC_ALL", "value": "C"}, {"name": "HOME", "value": "/tmp"}],
        "resources": agent["resources"],
        "securityContext": agent["securityContext"],
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [{"mountPath": "/tmp", "name": "tmp"}],
    });
    let changes = [
        ("/spec/containers/-", tools),
        ("/spec/volumes/-", json!({"name": "tmp", "emptyDir": {}})),
    ];
    expected.push(pod("pod-a", "n1", &changes));
    // The agent that is asked without a credential answers all the same.
    let answers = [
        ("/metadata/labels/service.hopbench.dev~1path0-asked", json!("")),
        ("/spec/containers/0/args/-", json!("--http")),
    ];
    expected.push(pod("pod-b-asked", "n2", &[&changes[..], &answers].concat()));
    assert_run("tools", &expected);
}

#[test]
fn pods_in_their_nodes_networks_have_ports_of_their_own_and_send_echoes_as_root() {
    let mut expected = frame("privileged", &["host-a", "host-a-2", "pod-b"]);
    let host = [("/spec/hostNetwork", json!(true)), ("/spec/dnsPolicy", json!("Default"))];
    let agent = "/spec/containers/0/securityContext";
    let at = |field: &str| format!("{agent}/{field}");
    let (capability, root, user) = (at("capabilities/add"), at("runAsNonRoot"), at("runAsUser"));
    let sends = [(&*capability, json!(["NET_RAW"])), (&*root, json!(false)), (&*user, json!(0))];
    expected.push(pod("host-a", "n1", &[&host[..], &sends].concat()));
    let port = [
        ("/spec/containers/0/args/5", json!("7475")),
        ("/spec/containers/0/ports/0/containerPort", json!(7475)),
        ("/spec/containers/0/ports/1/containerPort", json!(7475)),
    ];
    expected.push(pod("host-a-2", "n1", &[&host[..], &port].concat()));
    let echoes = json!([{"name": "net.ipv4.ping_group_range", "value": "0 2147483647"}]);
    expected.push(pod("pod-b", "n2", &[("/spec/securityContext/sysctls", echoes)]));
    assert_run("host", &expected);
}

#[test]
fn a_network_and_a_patch_change_all_pods() {
    let mut expected = frame("restricted", &["macvlan-a", "macvlan-b"]);
    let changes = [
        ("/metadata/annotations", json!({"k8s.v1.cni.cncf.io/networks": "macvlan"})),
        ("/metadata/labels/kind", json!("macvlan")),
        ("/metadata/labels/team", json!("net")),
        ("/spec/containers/0/resources/limits/cpu", json!("2")),
        ("/spec/hostAliases", json!([])),
    ];
    expected.extend([pod("macvlan-a", "n1", &changes), pod("macvlan-b", "n2", &changes)]);
    assert_run("patched", &expected);
}

#[test]
fn every_pod_has_the_secrets_for_its_images() {
    let variant = Variant { policy_check: true, ..Variant::plain() };
    let entered = path("in", "host@a", "pod@b", Via::Gateway("c".into()));
    let paths = vec![
        Path { variant: Some(variant), ..entered },
        path("service", "pod@a", "pod@b", Via::NodePort("c".into())),
    ];
    let plan = plan(paths, vec![point("rr", "hopbench")]);
    let references = |spec: &ClusterSpec| -> BTreeMap<String, Value> {
        let objects = objects(spec, &plan, None);
        let pods = objects.iter().filter(|object| object["kind"] == "Pod");
        pods.map(|pod| {
            let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
            (name, pod["spec"]["imagePullSecrets"].clone())
        })
        .collect()
    };
    let mut spec = spec();
    let none = references(&spec);
    assert!(none.len() > 4 && none.values().all(Value::is_null), "{none:?}");
    spec.pull_secrets = vec!["registry".into(), "mirror".into()];
    let expected = json!([{"name": "registry"}, {"name": "mirror"}]);
    let expected: BTreeMap<String, Value> =
        none.keys().map(|name| (name.clone(), expected.clone())).collect();
    assert_eq!(references(&spec), expected);
}

#[test]
fn a_sidecar_comes_with_all_its_parts() {
    let mut expected = frame("privileged", &["bridge-a", "bridge-b"]);
    let changes = [
        ("/metadata/annotations", json!({"mesh/ports": "7474"})),
        ("/metadata/labels/mesh", json!("on")),
        ("/spec/containers/-", json!({"name": "sidecar", "image": "envoy"})),
        ("/spec/initContainers", json!([{"name": "before", "image": "init"}])),
        // The agent reads what the sidecar spends.
        ("/spec/shareProcessNamespace", json!(true)),
        ("/spec/volumes/-", json!({"name": "bootstrap", "secret": {"secretName": "bootstrap"}})),
    ];
    expected.extend([pod("bridge-a", "n1", &changes), pod("bridge-b", "n2", &changes)]);
    assert_run("sidecar", &expected);
}

/// They cannot be sent against anybody.
#[test]
fn agents_look_at_gateways_and_services_where_they_may() {
    let variant = Variant { policy_check: true, policy_report: true, ..Variant::plain() };
    let ends = path("in", "pod@a", "pod@b", Via::Gateway("c".into()));
    let path = Path { variant: Some(variant), ..ends };
    let placement = placement(&plan(vec![path], vec![point("rr", "hopbench")]));
    let gateway = Sidecar {
        containers: vec![json!({"name": "envoy-gateway", "image": "envoy"})],
        ..Sidecar::default()
    };
    let pods = |spec: &ClusterSpec| -> BTreeMap<String, Value> {
        let helpers = placement.pods.iter().filter(|pod| !pod.is_end());
        let sidecars = helpers.map(|pod| (pod.clone(), gateway.clone())).collect();
        let (placement, nodes, sidecars) = (&placement, &nodes(), &sidecars);
        let ground = Ground { spec, placement, nodes, sidecars, host_port: AGENT_PORT };
        let run = RunIdentity {
            name: "r".into(),
            namespace: "n".into(),
            is_guest: false,
            owner: String::new(),
        };
        let pods = blueprint::pods(&ground, &run).unwrap().into_iter();
        pods.map(|(id, pod)| (id.to_string(), pod)).collect()
    };
    let names = |pod: &Value| -> Vec<String> {
        let containers = pod["spec"]["containers"].as_array().unwrap().iter();
        containers.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let helpers = ["pod@b/policy", "pod@c/gateway-in"];
    let all = pods(&spec());
    assert_eq!(all.keys().collect::<Vec<_>>(), ["pod@a", "pod@b", helpers[0], helpers[1]]);
    let arguments = |pod: &str| all[pod]["spec"]["containers"][0]["args"].clone();
    for pod in helpers {
        assert_eq!(names(&all[pod]), ["agent", "envoy-gateway"], "{pod}");
        assert_eq!(all[pod]["spec"]["shareProcessNamespace"], true, "{pod}");
        let mut of_end = arguments("pod@b");
        assert_eq!(of_end.as_array_mut().unwrap().remove(1), "--both-ends");
        assert_eq!(arguments(pod), of_end, "{pod}");
    }
    let mut apart = spec();
    apart.patch = Some(json!({"spec": {"shareProcessNamespace": false}}));
    let all = pods(&apart);
    for pod in helpers {
        assert_eq!(names(&all[pod]), ["envoy-gateway"], "{pod}");
    }
    assert_eq!(names(&all["pod@b"]), ["agent"]);
}

/// The Secret of one pod has that agent's key, and no other.
#[test]
fn each_pod_has_its_own_key_and_no_object_has_the_conductors() {
    let mut agents = 0;
    for (name, objects) in runs() {
        let of_kind =
            |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
        let mut keys = BTreeSet::new();
        for pod in of_kind("Pod") {
            let volumes = pod["spec"]["volumes"].as_array().unwrap();
            let secrets =
                volumes.iter().filter_map(|volume| volume["secret"]["secretName"].as_str());
            let secrets: Vec<&str> =
                secrets.filter(|secret| secret.starts_with("agent-")).collect();
            let own = format!("agent-{}", pod["metadata"]["name"].as_str().unwrap());
            assert_eq!(secrets, [own.as_str()], "{name}");
            let secret =
                of_kind("Secret").find(|secret| secret["metadata"]["name"] == own).unwrap();
            let data = secret["stringData"].as_object().unwrap();
            let words: Vec<&str> =
                data["credentials"].as_str().unwrap().split_whitespace().collect();
            assert_eq!(
                (data.len(), &words[1..]),
                (1, &[conductor().to_string().as_str()][..]),
                "{name}"
            );
            assert!(keys.insert(words[0].to_owned()), "{name}: two agents have one key");
        }
        assert_eq!(of_kind("Secret").count(), keys.len(), "{name}");
        // Whatever else there is has none of them, and nothing has the conductor's.
        for object in &objects {
            let text = object.to_string();
            let found = keys.iter().filter(|key| text.contains(*key)).count();
            assert_eq!(found, usize::from(object["kind"] == "Secret"), "{name}: {object}");
            assert!(!text.contains(&seed(255)), "{name}: {object}");
        }
        agents += keys.len();
    }
    assert!(agents > 8, "{agents} agents");
}

/// Containers of one user that share processes could read each other's files, and end each other.
#[test]
fn no_container_that_shares_processes_with_an_agent_has_its_user() {
    let (mut beside, mut root) = (0, Vec::new());
    for (name, objects) in runs() {
        for pod in objects.iter().filter(|object| object["kind"] == "Pod") {
            let user = |container: &Value| {
                let security = [&container["securityContext"], &pod["spec"]["securityContext"]];
                security.iter().find_map(|one| one["runAsUser"].as_u64()).unwrap()
            };
            let containers = pod["spec"]["containers"].as_array().unwrap();
            let (agents, others): (Vec<&Value>, Vec<&Value>) =
                containers.iter().partition(|one| one["name"] == "agent");
            for other in others.iter().filter(|other| user(other) == user(agents[0])) {
                assert_eq!(user(other), 0, "{name}: {other}");
                assert!(pod["spec"]["shareProcessNamespace"].is_null(), "{name}: {other}");
                root.push(other["name"].clone());
            }
            beside += others.len();
        }
    }
    assert!(beside > 5, "{beside} containers");
    assert_eq!(root, ["peer"], "tools that send echoes from a node's own network");
}

#[test]
fn a_subject_has_agents_of_its_image_and_programs_with_its_variables() {
    let of = |subject: &str| Path {
        subject: Some(subject.to_owned()),
        ..path(&format!("p.{subject}"), "pod@a", "pod@b", Via::Direct)
    };
    let pod = PodSettings {
        agent: Some("hopbench:b".into()),
        env: BTreeMap::from([("GOMAXPROCS".into(), "2".into())]),
        ..PodSettings::default()
    };
    let old = Subject { name: "old".into(), ..Subject::default() };
    let new = Subject { name: "new".into(), pod, ..Subject::default() };
    let plan = Plan {
        subjects: vec![old, new],
        ..plan(vec![of("old"), of("new")], vec![point("http", "nginx")])
    };
    let mut spec = spec();
    let nginx = ServerImage {
        image: "nginx:1".into(),
        port: 80,
        cpu_millis: None,
        args: Vec::new(),
        request: None,
    };
    spec.servers.insert("nginx".into(), nginx);
    let container = |container: &Value| {
        let text = |key: &str| container[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("image"), container["env"].clone())
    };
    let pods: BTreeMap<String, Vec<(String, String, Value)>> = objects(&spec, &plan, None)
        .iter()
        .filter(|object| object["kind"] == "Pod")
        .map(|pod| {
            let containers = pod["spec"]["containers"].as_array().unwrap();
            let name = pod["metadata"]["name"].as_str().unwrap().to_owned();
            (name, containers.iter().map(container).collect())
        })
        .collect();
    let is = |name: &str, image: &str, env: Value| (name.to_owned(), image.to_owned(), env);
    let variable = json!([{"name": "GOMAXPROCS", "value": "2"}]);
    let expected = [
        ("pod-a", vec![is("agent", "hopbench:0.1.0", Value::Null)]),
        ("pod-a-new", vec![is("agent", "hopbench:b", Value::Null)]),
        (
            "pod-b-nginx",
            vec![is("agent", "hopbench:0.1.0", Value::Null), is("program", "nginx:1", Value::Null)],
        ),
        (
            "pod-b-new-nginx",
            vec![is("agent", "hopbench:b", Value::Null), is("program", "nginx:1", variable)],
        ),
    ];
    assert_eq!(pods, BTreeMap::from(expected.map(|(name, all)| (name.to_owned(), all))));
}

#[test]
fn everything_has_the_runs_label_and_an_owner() {
    for (name, objects) in runs() {
        for object in &objects {
            let labels = &object["metadata"]["labels"];
            assert_eq!(labels["hopbench.dev/run"], "0123456789", "{name}: {object}");
            assert_eq!(labels["app.kubernetes.io/managed-by"], "hopbench", "{name}: {object}");
            let owned = object["metadata"].get("ownerReferences").is_some();
            let is_first = object["kind"] == "Namespace" || object["kind"] == "ConfigMap";
            assert_eq!(owned, !is_first, "{name}: {object}");
        }
    }
}

#[test]
fn the_namespace_allows_what_its_pods_need_and_no_more() {
    let level = |name: &str| {
        of_run(name)[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        ["plain", "services", "host"].map(level),
        ["restricted", "restricted", "privileged"]
    );
    // A sidecar that says nothing of its rights has too many.
    assert_eq!(level("sidecar"), "privileged");
    let beyond = |patch: Value| {
        let mut spec = spec();
        spec.patch = Some(patch);
        let plan =
            plan(vec![path("p", "pod@a", "pod@b", Via::Direct)], vec![point("rr", "hopbench")]);
        let placement = placement(&plan);
        let (nodes, sidecars) = (nodes(), BTreeMap::new());
        let (placement, nodes, sidecars) = (&placement, &nodes, &sidecars);
        let ground = Ground { spec: &spec, placement, nodes, sidecars, host_port: AGENT_PORT };
        let run = RunIdentity {
            name: "r".into(),
            namespace: "n".into(),
            is_guest: false,
            owner: String::new(),
        };
        let (level, beyond) =
            blueprint::level(&blueprint::pods(&ground, &run).unwrap(), BTreeMap::new());
        assert_eq!(level == Level::Privileged, !beyond.is_empty());
        beyond.get("pod@a").map(|what| what.join(", ")).unwrap_or_default()
    };
    let agent = |security: Value| {
        json!({
            "spec": {"containers": [{"name": "agent", "securityContext": security}]},
        })
    };
    assert_eq!(beyond(json!({})), "");
    assert_eq!(beyond(agent(json!({"capabilities": {"add": ["NET_BIND_SERVICE"]}}))), "");
    assert_eq!(
        beyond(agent(json!({"capabilities": {"add": ["NET_ADMIN"]}}))),
        "capability NET_ADMIN in container agent"
    );
    assert_eq!(beyond(agent(json!({"runAsUser": 0}))), "the user root in container agent");
    assert_eq!(beyond(agent(json!({"privileged": true}))), "privilege in container agent");
    let host_path = json!({"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}});
    assert_eq!(beyond(host_path), "a volume of type hostPath");
    let sysctl = json!({
        "spec": {"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}},
    });
    assert_eq!(beyond(sysctl), "sysctl net.core.somaxconn");
}
