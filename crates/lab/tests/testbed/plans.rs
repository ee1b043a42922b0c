//! Plans, as a scenario would make them.
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, EngineKind, Job, LabNode, LabSpec, MeshMode, PLAN_SCHEMA, Pacing, Path, Place, Plan, Point, Schedule,
    ServerSpec, TestbedSpec, Timing, Variant, Via,
};

/// Nodes `a`, `b` and `c` of one zone.
pub(crate) fn spec() -> LabSpec {
    let node =
        |name: &str| LabNode { name: name.to_owned(), zone: "z".to_owned(), link_bits_per_s: Some(10_000_000_000) };
    LabSpec { nodes: ["a", "b", "c"].map(node).to_vec(), mtu: 1500, zone_link_bits_per_s: None, zone_delay_ns: 0 }
}

/// `bridge@a`.
pub(crate) fn place(text: &str) -> Place {
    let (network, node) = text.split_once('@').expect("a place");
    Place { network: network.to_owned(), node: node.to_owned(), runtime: None }
}

/// A path with one client and one server.
pub(crate) fn path(from: &str, to: &str, via: Via) -> Path {
    let name = format!("{from} to {to} {via}");
    Path { name, from: place(from), to: place(to), via, clients: 1, backends: 1, mesh: MeshMode::None, variant: None }
}

/// A path through proxies of this variant.
pub(crate) fn meshed(from: &str, to: &str, via: Via, mesh: MeshMode, variant: &Variant) -> Path {
    let plain = path(from, to, via);
    let name = format!("{} {mesh} {}", plain.name, variant.name).replace([' ', '@'], "-");
    Path { name, mesh, variant: Some(variant.clone()), ..plain }
}

/// A job with nothing special about it.
pub(crate) fn job(workload: &str, connections: u32) -> Job {
    Job {
        workload: workload.to_owned(),
        params: serde_json::Value::Null,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: 1, interval_ns: 1, timeout_ns: 1 },
        seed: 1,
    }
}

/// What the agent itself answers.
pub(crate) fn agent() -> ServerSpec {
    ServerSpec { program: ServerSpec::AGENT.to_owned(), request: "/".to_owned(), response_bytes: None }
}

/// A point of one workload and server.
pub(crate) fn point(workload: &str, server: ServerSpec) -> Point {
    Point { search: None, workload: workload.to_owned(), point: BTreeMap::new(), job: job(workload, 1), server }
}

/// Every path with every point.
pub(crate) fn plan(spec: &LabSpec, paths: Vec<Path>, points: Vec<Point>) -> Plan {
    let cells = (0..paths.len()).flat_map(|path| (0..points.len()).map(move |point| Cell { path, point })).collect();
    Plan {
        schema: PLAN_SCHEMA.to_owned(),
        name: "test".to_owned(),
        testbed: TestbedSpec::Lab(spec.clone()),
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
