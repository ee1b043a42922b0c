//! Plans that take no time.

use std::collections::BTreeMap;

use hopbench_model::{Job, Path, Plan, Point, Timing, Via, fixture};
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

/// A path of this name, with so many clients and servers.
pub(crate) fn path(name: &str, clients: u32, backends: u32) -> Path {
    let via = if backends > 1 { Via::ClusterIp } else { Via::Direct };
    Path { via, clients, backends, ..fixture::path(name) }
}

/// A job with a window of so many ms.
pub(crate) fn job(workload: &str, params: Value, connections: u32, window_ms: u64) -> Job {
    let timing =
        Timing { interval_ns: 20 * MS, timeout_ns: 2000 * MS, ..fixture::timing(window_ms * MS) };
    Job { connections, timing, ..fixture::job(workload, params) }
}

/// The point of a job, called by what varies.
pub(crate) fn point(workload: &str, point: &[(&str, Value)], job: Job) -> Point {
    let point: BTreeMap<_, _> =
        point.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Point { point, ..fixture::point(workload, job) }
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
    Plan { rounds, seed: 7, ..fixture::plan(paths, points) }
}
