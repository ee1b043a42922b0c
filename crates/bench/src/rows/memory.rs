//! Memory of our processes.

pub(super) mod connections;
pub(super) mod idle;
pub(super) mod many;
pub(super) mod streams;
pub(super) mod tls;

use std::time::Duration;

use anyhow::{Context, Result, bail};
use hopbench_model::Record;

use crate::bench::target::OURS_PORT;
use crate::bench::{Bench, ours, split};
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::memory::{MemoryKind, bytes};
use crate::process::{Completed, Invocation, clock, interrupt};

/// Many connections take a while to open.
const LONGEST: Duration = Duration::from_secs(120);
/// The files that a process needs besides its sockets, at most.
const OTHER_FILES: u32 = 500;

/// Runs a program to its end. The second value is the most memory that it had, bytes.
///
/// # Errors
/// When it fails, takes too long, or ended before its memory was seen.
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

/// A run of `http` against our own target, and the most memory that each end had, bytes.
struct BothEnds {
    record: Record,
    client_bytes: f64,
    target_bytes: f64,
}

impl BothEnds {
    /// Runs `http` with these words and so many connections. `page`: a scheme, and the path of an
    /// answer. The target knows the trial: for everybody it bounds what strangers hold.
    fn run(bench: &Bench, page: (&str, &str), connections: u32, words: &str) -> Result<Self> {
        let files = Some(u64::from(connections + OTHER_FILES));
        let at = |end, words: &[String]| Invocation { files, ..bench.ours(end, words) };
        // One more, for the connection ahead of the trial.
        let flows = connections + 1;
        let serve = format!("serve --insecure --port {OURS_PORT} --max-flows {flows}");
        let target = bench.serve(&at(End::Server, &split(&serve)), OURS_PORT)?;
        let (scheme, path) = page;
        let url = format!("{scheme}://{SERVER_ADDRESS}:{OURS_PORT}{path}");
        let words = format!("-c {connections} --threads 1 --insecure --timeout 20s {words}");
        let words = ours::http_words(&url, &bench.time(), &words);
        let (client, client_bytes) = run_to_end(bench, &at(End::Client, &words))?;
        let target_bytes = bytes(&target, MemoryKind::Peak)?;
        target.stop()?;
        Ok(Self { record: ours::parse(&client.stdout)?, client_bytes, target_bytes })
    }
}

/// Bytes that each of `count` more things takes at either end, by two runs: without and with them.
fn each(without: &BothEnds, with: &BothEnds, count: u32) -> [f64; 2] {
    [
        (with.client_bytes - without.client_bytes) / f64::from(count),
        (with.target_bytes - without.target_bytes) / f64::from(count),
    ]
}
