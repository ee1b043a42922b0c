//! Round trips of one byte.

pub(super) mod qperf;
pub(super) mod sockperf;

use anyhow::Result;

use crate::bench::{Bench, Figures, ours};

/// One connection, one byte there and back, moved by this engine.
///
/// Figures: `rtt_p50_ns`, `rtt_mean_ns`.
///
/// # Errors
/// When either end fails.
pub(super) fn ours(bench: &Bench, engine: &str) -> Result<Figures> {
    let run = ours::against_agent(bench, "rr", &format!("-c 1 --size 1 --engine {engine}"))?;
    let service = ours::latency(&run.record, "service_ns")?;
    Ok(Figures::from([("rtt_p50_ns", service.p50 as f64), ("rtt_mean_ns", service.mean)]))
}
