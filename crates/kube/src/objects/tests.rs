//! Objects compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use hopbench_control::conductor::RunKey;
use hopbench_control::keys::KeyPair;
use hopbench_model::{ClusterSpec, Plan, PodNetwork, ServerImage, Via};
use serde_json::{Value, json};

use crate::blueprint::{self, Blueprint, Ground};
use crate::demand::Demand;
use crate::fixture::{path, plan, point, spec};
use crate::labels::Run;
use crate::nodes::NodeFacts;
use crate::objects::security::Level;
use crate::pod::PodId;
use crate::sidecar::Sidecar;

fn nodes() -> BTreeMap<String, NodeFacts> {
    let node = |(name, last): (&str, u8)| {
        let facts =
            NodeFacts { name: format!("n{last}"), addresses: vec![[10, 0, 0, last].into()], ..NodeFacts::default() };
        (name.to_owned(), facts)
    };
    [("a", 1), ("b", 2), ("c", 3)].map(node).into()
}

/// A seed of 32 such bytes.
fn seed(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

/// How the agents know the conductor whose seed is 32 bytes of 255.
fn conductor() -> RunKey {
    let keys: KeyPair = seed(255).parse().unwrap();
    format!("{:016x}:{}", 1, keys.public()).parse().unwrap()
}

/// Key pairs for the agents: the first has a seed of 1s, the second of 2s.
fn agents(demand: &Demand) -> BTreeMap<PodId, KeyPair> {
    let agents = demand.pods.iter().filter(|pod| pod.has_agent());
    agents.zip(1..).map(|(pod, number)| (pod.clone(), seed(number).parse().unwrap())).collect()
}

/// The namespace and all objects in it, in the order in which they are made.
fn objects(spec: &ClusterSpec, plan: &Plan, sidecar: Option<&Sidecar>) -> Vec<Value> {
    let demand = Demand::of(plan);
    let nodes = nodes();
    let sidecars: BTreeMap<PodId, Sidecar> =
        demand.pods.iter().filter_map(|pod| Some((pod.clone(), sidecar?.clone()))).collect();
    let ground = Ground { spec, demand: &demand, nodes: &nodes, sidecars: &sidecars };
    let name = "0123456789".to_owned();
    let mut run = Run { namespace: format!("hopbench-{name}"), name, owner: String::new() };
    let (level, _) = blueprint::level(&blueprint::pods(&ground, &run).unwrap(), BTreeMap::new());
    let (namespace, mut owner) = blueprint::frame(&run, level, "test", "conductor").unwrap();
    owner.data.as_mut().unwrap().insert("version".into(), "VERSION".into());
    run.owner = "6f9c0e7e-0000-4000-8000-000000000001".to_owned();
    let blueprint = Blueprint::of(&ground, &run, &conductor(), &agents(&demand)).unwrap();
    let mut all = vec![serde_json::to_value(namespace).unwrap(), serde_json::to_value(owner).unwrap()];
    all.extend(blueprint.secrets.iter().map(|secret| serde_json::to_value(secret).unwrap()));
    all.extend(blueprint.network_policy.iter().map(|policy| serde_json::to_value(policy).unwrap()));
    all.extend(blueprint.services.iter().map(|service| serde_json::to_value(service).unwrap()));
    all.extend(blueprint.pods.values().map(|pod| serde_json::to_value(pod).unwrap()));
    all
}

fn goldens() -> Vec<(&'static str, Vec<Value>)> {
    let plain = plan(vec![path("direct", "bridge@a", "bridge@b", Via::Direct)], vec![point("rr", "hopbench")]);
    let mut service = path("node-port", "pod@a", "pod+runsc@b", Via::NodePort("c".into()));
    service.backends = 2;
    let services = plan(
        vec![service, path("balanced", "pod@a", "pod@b", Via::LoadBalancer)],
        vec![point("udp", "hopbench"), point("http", "nginx")],
    );
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
        vec![path("out", "host@a", "host@a", Via::Direct), path("in", "pod@b", "host@a", Via::Direct)],
        vec![point("ping", "hopbench")],
    );
    let mut patched = spec();
    patched.patch = Some(json!({
        "metadata": {"labels": {"team": "net"}},
        "spec": {"containers": [{"name": "agent", "resources": {"limits": {"cpu": "2"}}}], "hostAliases": []},
    }));
    let macvlan = PodNetwork {
        annotations: BTreeMap::from([("k8s.v1.cni.cncf.io/networks".into(), "macvlan".into())]),
        labels: BTreeMap::from([("kind".into(), "macvlan".into())]),
        interface: Some("net1".into()),
        ..PodNetwork::default()
    };
    patched.networks.insert("macvlan".into(), macvlan);
    let attached = plan(vec![path("p", "macvlan@a", "macvlan@b", Via::Direct)], vec![point("rr", "hopbench")]);
    let sidecar = Sidecar {
        containers: vec![json!({"name": "sidecar", "image": "envoy"})],
        init_containers: vec![json!({"name": "before", "image": "init"})],
        also: [].into(),
        volumes: vec![json!({"name": "bootstrap", "secret": {"secretName": "bootstrap"}})],
        labels: BTreeMap::from([("mesh".into(), "on".into())]),
        annotations: BTreeMap::from([("mesh/ports".into(), "7474".into())]),
    };
    vec![
        ("plain", objects(&spec(), &plain, None)),
        ("services", objects(&with_programs, &services, None)),
        ("host", objects(&spec(), &host, None)),
        ("patched", objects(&patched, &attached, None)),
        ("sidecar", objects(&spec(), &plain, Some(&sidecar))),
    ]
}

#[test]
fn objects_are_as_they_were_when_somebody_looked() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for (name, objects) in goldens() {
        let text = format!("{}\n", serde_json::to_string_pretty(&objects).unwrap());
        let file = folder.join(format!("{name}.json"));
        if update {
            fs::write(&file, &text).unwrap();
        }
        let known = fs::read_to_string(&file).unwrap_or_default();
        assert!(known == text, "{} differs: UPDATE_GOLDEN=1 writes it anew\n{text}", file.display());
    }
}

/// Who gets hold of one pod's Secret has that agent's key, and nobody else's.
#[test]
fn each_pod_has_its_own_key_and_no_object_has_the_conductors() {
    let mut agents = 0;
    for (name, objects) in goldens() {
        let of_kind = |kind: &'static str| objects.iter().filter(move |object| object["kind"] == kind);
        let mut keys = BTreeSet::new();
        for pod in of_kind("Pod") {
            let volumes = pod["spec"]["volumes"].as_array().unwrap();
            let secrets = volumes.iter().filter_map(|volume| volume["secret"]["secretName"].as_str());
            let secrets: Vec<&str> = secrets.filter(|secret| secret.starts_with("agent-")).collect();
            let own = format!("agent-{}", pod["metadata"]["name"].as_str().unwrap());
            assert_eq!(secrets, [own.as_str()], "{name}");
            let secret = of_kind("Secret").find(|secret| secret["metadata"]["name"] == own).unwrap();
            let data = secret["stringData"].as_object().unwrap();
            let words: Vec<&str> = data["credentials"].as_str().unwrap().split_whitespace().collect();
            assert_eq!((data.len(), &words[1..]), (1, &[conductor().to_string().as_str()][..]), "{name}");
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

#[test]
fn everything_has_the_runs_label_and_an_owner() {
    for (name, objects) in goldens() {
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
        let (_, objects) = goldens().into_iter().find(|(known, _)| *known == name).unwrap();
        objects[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"].as_str().unwrap().to_owned()
    };
    assert_eq!(["plain", "services", "host"].map(level), ["restricted", "restricted", "privileged"]);
    // A sidecar that says nothing of its rights has too many.
    assert_eq!(level("sidecar"), "privileged");
    let beyond = |patch: Value| {
        let mut spec = spec();
        spec.patch = Some(patch);
        let plan = plan(vec![path("p", "pod@a", "pod@b", Via::Direct)], vec![point("rr", "hopbench")]);
        let demand = Demand::of(&plan);
        let (nodes, sidecars) = (nodes(), BTreeMap::new());
        let ground = Ground { spec: &spec, demand: &demand, nodes: &nodes, sidecars: &sidecars };
        let run = Run { name: "r".into(), namespace: "n".into(), owner: String::new() };
        let (level, beyond) = blueprint::level(&blueprint::pods(&ground, &run).unwrap(), BTreeMap::new());
        assert_eq!(level == Level::Privileged, !beyond.is_empty());
        beyond.get("pod@a").map(|what| what.join(", ")).unwrap_or_default()
    };
    let agent = |security: Value| json!({"spec": {"containers": [{"name": "agent", "securityContext": security}]}});
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
    let sysctl = json!({"spec": {"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}});
    assert_eq!(beyond(sysctl), "sysctl net.core.somaxconn");
}
