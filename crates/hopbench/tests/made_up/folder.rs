//! A results folder that is made up: nothing was measured.

use std::fs;
use std::path::Path;

use hopbench_model::{Plan, RUN_SCHEMA, RunFile, RunStatus, TestbedSpec, fixture};
use serde_json::json;

/// One with two paths, one workload and two rounds.
pub(crate) fn folder(dir: &Path) {
    let path = |network: &str| hopbench_model::Path {
        from: fixture::place(network, "a"),
        to: fixture::place(network, "b"),
        ..fixture::path(network)
    };
    let point = fixture::point("bulk", fixture::job("stream", json!({})));
    let plan = Plan {
        name: "made-up".to_owned(),
        testbed: TestbedSpec::Lab(fixture::lab(&["a", "b"])),
        rounds: 2,
        baseline: Some("host".to_owned()),
        ..fixture::plan(vec![path("host"), path("bridge")], vec![point])
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
        spent_ns: 0,
        shared: Default::default(),
        spared_trials: 0,
        notes: Vec::new(),
        stopped: Vec::new(),
    };
    fs::write(dir.join("run.json"), serde_json::to_string(&run).expect("run.json"))
        .expect("a folder to write to");
    let record = |path: &str, round: u32, rate: f64| {
        json!({
            "schema": "hopbench.record/1", "run_id": "r1", "path": path, "workload": "bulk",
            "point": {}, "round": round,
            "started_at": "2026-03-01T12:00:00Z", "window_s": 1.0, "limited_by": "unknown",
            "metrics": {"received_bits_per_s": rate}, "cost": {}, "invariants": [], "warnings": [],
            "proof": [{"hop": "server", "evidence": "made up", "ok": true}],
            "job": {}, "environment": {},
        })
    };
    let rates = [("host", 1, 8e9), ("bridge", 1, 4e9), ("bridge", 2, 5e9), ("host", 2, 1e10)];
    let lines: Vec<String> =
        rates.iter().map(|(path, round, rate)| record(path, *round, *rate).to_string()).collect();
    fs::write(dir.join("records.jsonl"), lines.join("\n") + "\n").expect("a folder to write to");
}
