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
use crate::bench::{Bench, WARMUP, ours, split};
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::memory::{MemoryKind, bytes};
use crate::process::{Completed, Invocation, RunningProgram, clock, interrupt, listening};

/// Many connections take a while to open.
const LONGEST: Duration = Duration::from_secs(120);
/// The files that a process needs besides its sockets, at most.
const OTHER_FILES: u32 = 500;

/// Runs a program to its end. The second value is the most memory that it had, bytes.
///
/// # Errors
/// When it fails, takes too long, or ended before its memory was seen.
pub(super) fn run_to_end(bench: &Bench, program: &Invocation) -> Result<(Completed, f64)> {
    let ended = all_to_end(vec![bench.start(program)?], bench.limit())?;
    ended.into_iter().next().context("a program that ended has no result")
}

/// Waits until all of these programs have ended, in whatever order. The result of each is that of
/// [`run_to_end`].
///
/// # Errors
/// As [`run_to_end`], with the command of the first that fails. The others are killed then, each by
/// its id: that is what dropping them does.
fn all_to_end(programs: Vec<RunningProgram>, limit: Duration) -> Result<Vec<(Completed, f64)>> {
    let begun = clock::Moment::now();
    let mut ended = Vec::with_capacity(programs.len());
    let mut running: Vec<(RunningProgram, Option<f64>)> =
        programs.into_iter().map(|program| (program, None)).collect();
    loop {
        let mut left = Vec::with_capacity(running.len());
        for (mut program, peak) in running {
            if program.ended()? {
                let completed = program.finish(limit)?;
                ended.push((completed, peak.context("the memory of hopbench was never seen")?));
            } else {
                // The mark only grows; the last reading before the end is the answer.
                let peak = bytes(&program, MemoryKind::Peak).ok().or(peak);
                left.push((program, peak));
            }
        }
        let Some((first, _)) = left.first() else { return Ok(ended) };
        if begun.elapsed() > LONGEST {
            bail!("`{}` still ran after {} s", first.shown(), LONGEST.as_secs());
        }
        interrupt::check()?;
        clock::sleep(interrupt::SLICE);
        running = left;
    }
}

/// The part of one client: its connections, its warm-up, and its words beside those that all have.
struct Share {
    connections: u32,
    warmup: Duration,
    words: String,
}

/// A run of `http` against our own target, and the most memory that each end had, bytes.
struct BothEnds {
    /// One of each client.
    records: Vec<Record>,
    client_bytes: f64,
    target_bytes: f64,
}

impl BothEnds {
    /// Runs `http` with these words and so many connections. `page`: a scheme, and the path of an
    /// answer.
    fn run(bench: &Bench, page: (&str, &str), connections: u32, words: &str) -> Result<Self> {
        let share = Share { connections, warmup: WARMUP, words: words.to_owned() };
        Self::shared(bench, page, &[share])
    }

    /// Runs a client for each share at the same time, each against a target of its own. A target
    /// knows its trial: for everybody it bounds what strangers hold.
    fn shared(bench: &Bench, page: (&str, &str), shares: &[Share]) -> Result<Self> {
        let at = |end, share: &Share, words: &[String]| Invocation {
            files: Some(u64::from(share.connections + OTHER_FILES)),
            ..bench.ours(end, words)
        };
        let (scheme, path) = page;
        let (mut targets, mut clients) = (Vec::new(), Vec::new());
        for (share, port) in shares.iter().zip(OURS_PORT..) {
            let Share { connections, warmup, words } = share;
            // One more, for the connection ahead of the trial.
            let flows = connections + 1;
            let serve = format!("serve --insecure --port {port} --max-flows {flows}");
            targets.push(at(End::Server, share, &split(&serve)));
            let url = format!("{scheme}://{SERVER_ADDRESS}:{port}{path}");
            let words = format!("-c {connections} --threads 1 --insecure --timeout 20s {words}");
            let words = ours::http_after(*warmup, &url, &bench.time(), &words);
            clients.push(at(End::Client, share, &words));
        }
        let mut targets = bench.start_all(&targets)?;
        for (target, port) in targets.iter_mut().zip(OURS_PORT..) {
            listening::wait(target, port)?;
        }
        let clients = all_to_end(bench.start_all(&clients)?, bench.limit())?;
        let target_bytes =
            targets.iter().map(|target| bytes(target, MemoryKind::Peak)).sum::<Result<f64>>()?;
        for target in targets {
            target.stop()?;
        }
        let client_bytes = clients.iter().map(|(_, peak)| peak).sum::<f64>();
        let record = |(client, _): &(Completed, f64)| {
            ours::parse(&client.stdout).with_context(|| format!("`{}`", client.shown))
        };
        let records = clients.iter().map(record).collect::<Result<Vec<_>>>()?;
        Ok(Self { records, client_bytes, target_bytes })
    }
}

/// Bytes that each of `count` more things takes at either end, by two runs: without and with them.
fn each(without: &BothEnds, with: &BothEnds, count: u32) -> [f64; 2] {
    [
        (with.client_bytes - without.client_bytes) / f64::from(count),
        (with.target_bytes - without.target_bytes) / f64::from(count),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn start(scratch: &Path, script: &str) -> RunningProgram {
        Invocation::new("client", Path::new("sh"), &["-c", script]).start(scratch).unwrap()
    }

    #[test]
    fn all_are_awaited_and_their_memory_is_seen() {
        let scratch = tempfile::tempdir().unwrap();
        let programs = ["sleep 0.5; echo a", "sleep 0.3; echo b"];
        let programs = programs.map(|script| start(scratch.path(), script)).into();
        let ended = all_to_end(programs, LIMIT).unwrap();
        let mut printed: Vec<&str> = ended.iter().map(|(done, _)| done.stdout.trim()).collect();
        printed.sort_unstable();
        assert_eq!(printed, ["a", "b"]);
        assert!(ended.iter().all(|(_, peak)| *peak > 0.0), "{ended:?}");
    }

    #[test]
    fn one_that_fails_is_named_and_ends_the_others() {
        let scratch = tempfile::tempdir().unwrap();
        let fails = start(scratch.path(), "echo broken; exit 3");
        let sleeps = start(scratch.path(), "exec sleep 600");
        let of_sleeper = format!("/proc/{}", sleeps.pid());
        assert!(Path::new(&of_sleeper).exists());
        let error = all_to_end(vec![sleeps, fails], LIMIT).unwrap_err().to_string();
        assert!(error.contains("exit 3") && error.contains("broken"), "{error}");
        assert!(!Path::new(&of_sleeper).exists(), "the other one still runs");
    }
}
