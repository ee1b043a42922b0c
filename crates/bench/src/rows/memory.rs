//! Memory of our processes.

pub(super) mod connections;
pub(super) mod idle;
pub(super) mod many;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::bench::Bench;
use crate::process::memory::{MemoryKind, bytes};
use crate::process::{Completed, Invocation, clock, interrupt};

/// Many connections take a while to open.
const LONGEST: Duration = Duration::from_secs(120);

/// Runs a program to its end. The second value is the most memory that it had, bytes.
///
/// # Errors
/// When it fails, or ended before its memory was seen.
pub(super) fn run_to_end(bench: &Bench, program: &Invocation) -> Result<(Completed, f64)> {
    let mut running = bench.start(program)?;
    let mut peak = None;
    let begun = clock::Moment::now();
    while !running.ended()? {
        if begun.elapsed() > LONGEST {
            bail!("`{}` still ran after {} s", running.shown(), LONGEST.as_secs());
        }
        // The mark only grows; the last reading before the end is the answer.
        peak = bytes(&running, MemoryKind::Peak).ok().or(peak);
        interrupt::check()?;
        clock::sleep(interrupt::SLICE);
    }
    let completed = running.finish(bench.limit())?;
    Ok((completed, peak.context("the memory of hopbench was never seen")?))
}
