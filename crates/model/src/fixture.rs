//! Builders of plans, jobs, records and their parts, for the tests of every crate.
//!
//! Each builds the smallest complete value. A test names what it is about and takes the rest from
//! here: `Job { connections: 4, ..fixture::job("rr", json!({})) }`. The program does not use this
//! module.

use serde_json::json;

use crate::{
    Cell, Cost, EngineKind, Environment, Job, LabNode, LabSpec, Nanos, NodeSettings, PLAN_SCHEMA,
    Pacing, Params, Path, Place, Plan, Point, RECORD_SCHEMA, Record, SECOND, Schedule, SearchGoal,
    SearchSpec, ServerSpec, TestbedSpec, Timing,
};

/// A closed loop of one connection for 1 s, on one thread with epoll.
pub fn job(workload: &str, params: impl Into<Params>) -> Job {
    Job {
        workload: workload.to_owned(),
        kind: None,
        params: params.into(),
        schedule: Schedule::Closed,
        burst: 1,
        engine: EngineKind::Epoll,
        connections: 1,
        local_addresses: Vec::new(),
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: timing(SECOND),
        seed: 1,
    }
}

/// A window of one interval without a warm-up, and a timeout of 1 s.
pub fn timing(window_ns: Nanos) -> Timing {
    Timing { warmup_ns: 0, window_ns, interval_ns: window_ns, timeout_ns: SECOND }
}

/// A pod of this network, or the host, without a sandbox.
pub fn place(network: &str, node: &str) -> Place {
    Place {
        network: network.to_owned(),
        node: node.to_owned(),
        more_nodes: Vec::new(),
        runtime: None,
    }
}

/// A path from `host@a` to `host@a` with one client and one server.
pub fn path(name: &str) -> Path {
    Path::straight(name, place("host", "a"), place("host", "a"))
}

/// The agent's own server.
pub fn server() -> ServerSpec {
    let program = ServerSpec::AGENT.to_owned();
    ServerSpec { program, request: "/".to_owned(), response_bytes: None }
}

/// A point of the workload `name`, at which nothing varies.
pub fn point(name: &str, job: Job) -> Point {
    let (workload, point) = (name.to_owned(), Default::default());
    Point { workload, point, job, server: server(), search: None, peer: None }
}

/// A search for this, each trial made once, with at most 1 % of errors.
pub fn search(goal: SearchGoal) -> SearchSpec {
    SearchSpec { goal, repeats: 1, errors_share: 0.01, equal_load: false, short: None }
}

/// A lab with these nodes, all in one zone.
pub fn lab(nodes: &[&str]) -> LabSpec {
    let node = |name: &&str| LabNode {
        name: (*name).to_owned(),
        zone: "zone".to_owned(),
        link_bits_per_s: None,
        server_work_ns: None,
        stands_for: None,
        settings: NodeSettings::default(),
    };
    let nodes = nodes.iter().map(node).collect();
    LabSpec { nodes, mtu: 1500, zone_link_bits_per_s: None, zone_delay_ns: 0 }
}

/// Every path with every point, path by path.
pub fn cells(paths: usize, points: usize) -> Vec<Cell> {
    let of_path = |path| (0..points).map(move |point| Cell { path, point });
    (0..paths).flat_map(of_path).collect()
}

/// One round of every path with every point, in a lab of one node.
pub fn plan(paths: Vec<Path>, points: Vec<Point>) -> Plan {
    Plan {
        schema: PLAN_SCHEMA.to_owned(),
        name: "test".to_owned(),
        testbed: TestbedSpec::Lab(lab(&["a"])),
        cells: cells(paths.len(), points.len()),
        paths,
        points,
        rounds: 1,
        budget_ns: None,
        baseline: None,
        twin: None,
        stop: None,
        minimum_effect: 0.0,
        subjects: Vec::new(),
        stay_connected: false,
        seed: 1,
    }
}

/// The first round's record of 1 s with these metrics.
pub fn record(metrics: &[(&str, f64)]) -> Record {
    Record {
        schema: RECORD_SCHEMA.to_owned(),
        run_id: String::new(),
        path: String::new(),
        workload: String::new(),
        point: Default::default(),
        round: 1,
        session: 1,
        started_at: String::new(),
        window_s: 1.0,
        limited_by: String::new(),
        limited_because: String::new(),
        explanation: Vec::new(),
        metrics: metrics.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        latency: Default::default(),
        intervals: Vec::new(),
        cost: Cost::default(),
        proof: Vec::new(),
        invariants: Vec::new(),
        warnings: Vec::new(),
        statuses: Default::default(),
        errors: Default::default(),
        settings: Default::default(),
        job: json!({}),
        environment: Environment::default(),
        search: None,
        testbed_changed: None,
        incomplete: None,
        error: None,
    }
}
