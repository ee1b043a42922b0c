//! The workloads, client and server in this process, on every engine.
//!
//! Counts are asserted exactly: they must hold on a slow and busy machine.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

mod conformance;
mod crr;
mod encrypted;
mod inside;
mod ping;
mod push;
#[path = "../common/rig.rs"]
mod rig;
mod stream;
mod udp;

use hopbench_model::{EngineKind, Job, SECOND, Timing};

/// A job with these flags, whose messages go by a schedule.
fn scheduled(name: &str, flags: &[&str], connections: u32, warmup_ms: u64, window_ms: u64) -> Job {
    let job = rig::job(name, EngineKind::Epoll, rig::flags(name, flags));
    let timing = Timing {
        warmup_ns: warmup_ms * rig::MS,
        window_ns: window_ms * rig::MS,
        timeout_ns: 10 * SECOND,
        ..job.timing
    };
    Job { connections, timing, ..job }
}
