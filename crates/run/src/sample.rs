//! A job for the tests of this crate.

use hopbench_model::{EngineKind, Job, Pacing, SECOND, Schedule, Timing};
use serde_json::Value;

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
