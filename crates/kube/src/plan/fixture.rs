//! Fixtures for the tests of this crate: plans and clusters in few words.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{
    ClusterNode, ClusterSpec, Job, MeshProvider, MeshSpec, Path, Place, Plan, Point, ServerSpec,
    TestbedSpec, Timing, Via, fixture,
};

/// `bridge+runsc@a`.
pub(crate) fn place(text: &str) -> Place {
    let (kind, node) = text.split_once('@').unwrap();
    let (network, runtime) =
        kind.split_once('+').map_or((kind, None), |(network, runtime)| (network, Some(runtime)));
    let runtime = runtime.map(str::to_owned);
    Place { network: network.into(), node: node.into(), more_nodes: Vec::new(), runtime }
}

pub(crate) fn path(name: &str, from: &str, to: &str, via: Via) -> Path {
    Path { from: place(from), to: place(to), via, ..fixture::path(name) }
}

pub(crate) fn point(workload: &str, program: &str) -> Point {
    let timing = Timing { warmup_ns: 0, window_ns: 1, interval_ns: 1, timeout_ns: 1 };
    let job = Job { timing, ..fixture::job(workload, serde_json::Value::Null) };
    let server = ServerSpec { program: program.into(), ..fixture::server() };
    Point { server, ..fixture::point(workload, job) }
}

/// Every point on every path.
pub(crate) fn plan(paths: Vec<Path>, points: Vec<Point>) -> Plan {
    plan_on(&spec(), paths, points)
}

/// The same on this cluster.
pub(crate) fn plan_on(spec: &ClusterSpec, paths: Vec<Path>, points: Vec<Point>) -> Plan {
    let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
    Plan { testbed, ..fixture::plan(paths, points) }
}

pub(crate) fn spec() -> ClusterSpec {
    let node = |name: &str| ClusterNode {
        name: name.into(),
        node: None,
        labels: BTreeMap::new(),
        zone: None,
        link_bits_per_s: None,
    };
    ClusterSpec {
        context: None,
        kubeconfig: None,
        namespace: None,
        image: "hopbench:0.1.0".into(),
        pull_policy: "Never".into(),
        pull_secrets: Vec::new(),
        nodes: ["a", "b", "c"].map(node).into(),
        networks: BTreeMap::new(),
        runtimes: BTreeMap::new(),
        servers: BTreeMap::new(),
        peers: None,
        patch: None,
        objects: Vec::new(),
        mesh: MeshSpec {
            provider: MeshProvider::Envoy,
            image: "envoy".into(),
            revision: None,
            families: BTreeSet::new(),
        },
        gateway: None,
        gateways: BTreeMap::new(),
        prometheus: None,
        network_policy: false,
        start_timeout_ns: 60_000_000_000,
        allow_commands: false,
    }
}
