//! Plans that take no time.

use std::collections::BTreeMap;

use hopbench_model::{
    Cell, EngineKind, Job, LabNode, LabSpec, MeshMode, Pacing, Path, Place, Plan, Point, Schedule, ServerSpec,
    TestbedSpec, Timing, Via,
};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

/// A path of this name, with so many clients and servers.
pub(crate) fn path(name: &str, clients: u32, backends: u32) -> Path {
    let place = Place { network: "host".to_owned(), node: "a".to_owned(), runtime: None };
    let via = if backends > 1 { Via::ClusterIp } else { Via::Direct };
    Path {
        name: name.to_owned(),
        from: place.clone(),
        to: place,
        via,
        clients,
        backends,
        mesh: MeshMode::None,
        variant: None,
    }
}

/// A job with a window of so many ms.
pub(crate) fn job(workload: &str, params: Value, connections: u32, window_ms: u64) -> Job {
    Job {
        workload: workload.to_owned(),
        params,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: window_ms * MS, interval_ns: 20 * MS, timeout_ns: 2000 * MS },
        seed: 1,
    }
}

/// The point of a job, called by what varies.
pub(crate) fn point(workload: &str, point: &[(&str, Value)], job: Job) -> Point {
    let point: BTreeMap<_, _> = point.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let server = ServerSpec { program: ServerSpec::AGENT.to_owned(), request: "/".to_owned(), response_bytes: None };
    Point { search: None, workload: workload.to_owned(), point, job, server }
}

/// `latency` at these sizes.
pub(crate) fn latency(sizes: &[u32]) -> Vec<Point> {
    let of = |size: &u32| {
        let text = json!(format!("{size}B"));
        point("latency", &[("size", text.clone())], job("rr", json!({"size": text}), 1, 20))
    };
    sizes.iter().map(of).collect()
}

/// All paths with all points.
pub(crate) fn plan(paths: Vec<Path>, points: Vec<Point>, rounds: u32) -> Plan {
    let cells = (0..paths.len()).flat_map(|path| (0..points.len()).map(move |point| Cell { path, point })).collect();
    let node = LabNode { name: "a".to_owned(), zone: "z".to_owned(), link_bits_per_s: None };
    Plan {
        schema: hopbench_model::PLAN_SCHEMA.to_owned(),
        name: "test".to_owned(),
        testbed: TestbedSpec::Lab(LabSpec {
            nodes: vec![node],
            mtu: 1500,
            zone_link_bits_per_s: None,
            zone_delay_ns: 0,
        }),
        paths,
        points,
        cells,
        rounds,
        baseline: None,
        seed: 7,
        twin: None,
        stop: None,
        minimum_effect: 0.0,
    }
}
