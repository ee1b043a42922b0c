//! A job and a record for the tests of this crate.

use std::collections::BTreeMap;

use hopbench_model::{EngineKind, Job, Pacing, Record, SECOND, Schedule, Timing};
use serde_json::{Value, json};

/// One connection in a closed loop for a second.
pub(crate) fn job(workload: &str, params: Value) -> Job {
    Job {
        workload: workload.to_owned(),
        params,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: SECOND, interval_ns: SECOND, timeout_ns: SECOND },
        seed: 1,
    }
}

/// A record of 1 s with these metrics.
pub(crate) fn record(metrics: &[(&str, f64)]) -> Record {
    let metrics: BTreeMap<_, _> = metrics.iter().copied().collect();
    serde_json::from_value(json!({
        "schema": "", "run_id": "", "path": "", "workload": "", "point": {}, "round": 1, "started_at": "",
        "window_s": 1.0, "limited_by": "", "metrics": metrics, "cost": {}, "proof": [], "invariants": [],
        "warnings": [], "job": {}, "environment": {},
    }))
    .unwrap()
}
