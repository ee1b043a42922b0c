//! The programs that make HTTP requests, and each way of running one.

use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::target::{Answered, Kind, Target};
use crate::bench::{Bench, Figures, Peer};
use crate::lab::End;

/// The name of [`write_service`]'s file.
pub(super) const SERVICE_FILE: &str = "echo.proto";

/// A way of running a program that makes HTTP requests.
#[derive(Debug)]
pub(crate) struct Generator {
    /// The program.
    pub(crate) peer: &'static Peer,
    /// How the table names it.
    pub(crate) shown: &'static str,
    /// Its arguments; files that it needs go to the directory given.
    pub(crate) words: fn(&Load, &Path) -> Result<Vec<String>>,
    /// Reads from what it printed how many requests were answered a second.
    pub(crate) read: fn(&str) -> Result<f64>,
    /// Reads how many that were in all; none where that is its rate times the seconds of its load.
    pub(crate) counted: fn(&str) -> Option<f64>,
    /// The facts about its run that a reader must know.
    pub(crate) note: &'static str,
}

/// The load that a generator is to make.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// The URL.
    pub(crate) url: String,
    /// Connections.
    pub(crate) connections: u32,
    /// Requests a second over all connections; 0 for as fast as they are answered.
    pub(crate) per_s: u64,
    /// Whole seconds.
    pub(crate) seconds: u32,
}

impl Load {
    /// The server, as `host:port`.
    pub(crate) fn server(&self) -> &str {
        let behind = self.url.split_once("://").map_or(&self.url[..], |(_, behind)| behind);
        behind.split('/').next().unwrap_or_default()
    }
}

/// The service of our target in a file, for generators that read it.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write_service(scratch: &Path) -> Result<()> {
    let service = include_str!("../../../../../docs/echo.proto");
    std::fs::write(scratch.join(SERVICE_FILE), service).context(SERVICE_FILE)
}

/// One run at the client's end, on the client's CPU: what was answered by its own count.
///
/// # Errors
/// When the program fails or prints something else, or a request failed.
pub(crate) fn run(bench: &Bench, generator: &Generator, load: &Load) -> Result<Answered> {
    let words = (generator.words)(load, bench.scratch())?;
    let finished = bench.run(&bench.peer(generator.peer, End::Client, &words)?)?;
    let per_s = (generator.read)(&finished.stdout)?;
    let counted = (generator.counted)(&finished.stdout);
    let requests = counted.unwrap_or_else(|| per_s * f64::from(load.seconds));
    Ok(Answered { per_s, requests, client: finished.usage })
}

/// One run against a target of its own, as long as runs are; figures as [`Target::account`].
///
/// # Errors
/// As [`run`].
pub(crate) fn alone(
    bench: &Bench,
    generator: &Generator,
    kind: Kind,
    connections: u32,
    per_s: u64,
) -> Result<Figures> {
    let target = Target::start(bench, kind)?;
    let load = Load { url: target.url(), connections, per_s, seconds: bench.seconds() };
    target.account(run(bench, generator, &load)?)
}

/// A load for the tests of the generators.
#[cfg(test)]
pub(super) fn sample(per_s: u64) -> Load {
    Load { url: "http://10.71.0.2/".to_owned(), connections: 16, per_s, seconds: 3 }
}
