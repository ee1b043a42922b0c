//! A results folder that is made up: nothing was measured.

use std::fs;
use std::path::Path;

use hopbench_model::{
    Cell, EngineKind, Job, LabNode, LabSpec, MeshMode, PLAN_SCHEMA, Pacing, Place, Plan, Point, RUN_SCHEMA, RunFile,
    RunStatus, SECOND, Schedule, ServerSpec, TestbedSpec, Timing, Via,
};
use serde_json::json;

/// One with two paths, one workload and two rounds.
pub(crate) fn folder(dir: &Path) {
    let node = |name: &str| LabNode { name: name.to_owned(), zone: "z".to_owned(), link_bits_per_s: None };
    let path = |network: &str| {
        let place = |node: &str| Place { network: network.to_owned(), node: node.to_owned(), runtime: None };
        let (from, to) = (place("a"), place("b"));
        hopbench_model::Path {
            name: network.to_owned(),
            from,
            to,
            via: Via::Direct,
            clients: 1,
            backends: 1,
            mesh: MeshMode::None,
            variant: None,
        }
    };
    let timing = Timing { warmup_ns: 0, window_ns: SECOND, interval_ns: SECOND, timeout_ns: SECOND };
    let job = Job {
        workload: "stream".to_owned(),
        params: json!({}),
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing,
        seed: 1,
    };
    let server = ServerSpec { program: ServerSpec::AGENT.to_owned(), request: "/".to_owned(), response_bytes: None };
    let plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        name: "made-up".to_owned(),
        testbed: TestbedSpec::Lab(LabSpec {
            nodes: vec![node("a"), node("b")],
            mtu: 1500,
            zone_link_bits_per_s: None,
            zone_delay_ns: 0,
        }),
        paths: vec![path("host"), path("bridge")],
        points: vec![Point { search: None, workload: "bulk".to_owned(), point: Default::default(), job, server }],
        cells: vec![Cell { path: 0, point: 0 }, Cell { path: 1, point: 0 }],
        rounds: 2,
        baseline: Some("host".to_owned()),
        seed: 1,
        twin: None,
        stop: None,
        minimum_effect: 0.0,
    };
    let run = RunFile {
        schema: RUN_SCHEMA.to_owned(),
        run_id: "r1".to_owned(),
        status: RunStatus::Complete,
        session: 1,
        started_at: "2026-03-01T12:00:00Z".to_owned(),
        ended_at: None,
        plan,
        scenario: "name: made-up\n".to_owned(),
        environment: Default::default(),
        testbed: Default::default(),
        failures: Vec::new(),
        skipped: Vec::new(),
        notes: Vec::new(),
        stopped: Vec::new(),
    };
    fs::write(dir.join("run.json"), serde_json::to_string(&run).expect("run.json")).expect("a folder to write to");
    let record = |path: &str, round: u32, rate: f64| {
        json!({
            "schema": "hopbench.record/1", "run_id": "r1", "path": path, "workload": "bulk", "point": {}, "round": round,
            "started_at": "2026-03-01T12:00:00Z", "window_s": 1.0, "limited_by": "unknown",
            "metrics": {"received_bits_per_s": rate}, "cost": {}, "invariants": [], "warnings": [],
            "proof": [{"hop": "server", "evidence": "made up", "ok": true}],
            "job": {}, "environment": {},
        })
    };
    let rates = [("host", 1, 8e9), ("bridge", 1, 4e9), ("bridge", 2, 5e9), ("host", 2, 1e10)];
    let lines: Vec<String> = rates.iter().map(|(path, round, rate)| record(path, *round, *rate).to_string()).collect();
    fs::write(dir.join("records.jsonl"), lines.join("\n") + "\n").expect("a folder to write to");
}
