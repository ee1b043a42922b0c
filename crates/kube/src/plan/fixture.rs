//! Fixtures for the tests of this crate: plans and clusters in few words.

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, ClusterNode, ClusterSpec, EngineKind, Job, MeshMode, MeshProvider, MeshSpec, PLAN_SCHEMA, Pacing, Path,
    Place, Plan, Point, Schedule, ServerSpec, TestbedSpec, Timing, Via,
};

/// `bridge+runsc@a`.
pub(crate) fn place(text: &str) -> Place {
    let (kind, node) = text.split_once('@').unwrap();
    let (network, runtime) = kind.split_once('+').map_or((kind, None), |(network, runtime)| (network, Some(runtime)));
    Place { network: network.into(), node: node.into(), runtime: runtime.map(str::to_owned) }
}

pub(crate) fn path(name: &str, from: &str, to: &str, via: Via) -> Path {
    Path {
        name: name.into(),
        from: place(from),
        to: place(to),
        via,
        clients: 1,
        backends: 1,
        mesh: MeshMode::None,
        variant: None,
    }
}

pub(crate) fn point(workload: &str, program: &str) -> Point {
    let job = Job {
        workload: workload.into(),
        params: serde_json::Value::Null,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: 1, interval_ns: 1, timeout_ns: 1 },
        seed: 1,
    };
    let server = ServerSpec { program: program.into(), request: "/".into(), response_bytes: None };
    Point { search: None, workload: workload.into(), point: BTreeMap::new(), job, server }
}

/// Every point on every path.
pub(crate) fn plan(paths: Vec<Path>, points: Vec<Point>) -> Plan {
    let cells = (0..paths.len()).flat_map(|path| (0..points.len()).map(move |point| Cell { path, point })).collect();
    Plan {
        schema: PLAN_SCHEMA.into(),
        name: "test".into(),
        testbed: TestbedSpec::Kubernetes(Box::new(spec())),
        paths,
        points,
        cells,
        rounds: 1,
        baseline: None,
        seed: 1,
        twin: None,
        stop: None,
        minimum_effect: 0.0,
    }
}

pub(crate) fn spec() -> ClusterSpec {
    let node = |name: &str| ClusterNode { name: name.into(), node: None, labels: BTreeMap::new(), zone: None };
    ClusterSpec {
        context: None,
        image: "hopbench:0.1.0".into(),
        pull_policy: "Never".into(),
        nodes: ["a", "b", "c"].map(node).into(),
        networks: BTreeMap::new(),
        runtimes: BTreeMap::new(),
        servers: BTreeMap::new(),
        patch: None,
        mesh: MeshSpec { provider: MeshProvider::Envoy, image: "envoy".into(), revision: None },
        gateway: None,
        prometheus: None,
        network_policy: false,
        start_timeout_ns: 60_000_000_000,
    }
}
