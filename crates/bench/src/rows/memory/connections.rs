//! Memory of many connections in one thread.

use anyhow::{Context, Result, bail};

use crate::bench::target::{Kind, Target, nginx};
use crate::bench::{Bench, Figures, Peer, ours};
use crate::lab::End;
use crate::process::clock;
use crate::process::interrupt;
use crate::process::memory;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// 10 000 connections that all have a request under way.
#[derive(Debug)]
pub(crate) struct MemoryConnections;

const FEW: u32 = 10;
const MANY: u32 = 10_000;
/// Sockets, and a few files beside them.
const FILES: u64 = 10_500;

impl Row for MemoryConnections {
    fn name(&self) -> String {
        "memory-connections".to_owned()
    }

    fn what(&self) -> String {
        "http, 10 000 connections, one thread".to_owned()
    }

    fn against(&self) -> &'static str {
        ""
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&nginx::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[Goal::value(
                "bytes_per_connection",
                "memory a connection",
                "KiB",
                1.0 / 1024.0,
                Reach::AtMost(8.0),
            )]
        }
    }

    fn note(&self) -> String {
        "Peak resident memory (VmHWM) with 10 000 connections less that with 10, divided by 9990; user memory only. Needs \
         10 500 open files (`ulimit -Hn`)."
        .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let (few, many) = (peak(bench, FEW)?, peak(bench, MANY)?);
        Ok(Figures::from([("bytes_per_connection", (many - few) / f64::from(MANY - FEW))]))
    }

    fn theirs(&self, _: &Bench) -> Result<Option<Figures>> {
        Ok(None)
    }
}

fn peak(bench: &Bench, connections: u32) -> Result<f64> {
    let nginx = Target::start(bench, Kind::Nginx)?;
    let c = connections.to_string();
    // 10 000 requests wait for one nginx: an answer may take longer than the usual patience.
    let extra = ["-c", &c, "--threads", "1", "--schedule", "closed", "--timeout", "20s"];
    let words = ours::http_words(&nginx.url(), &format!("{}s", bench.seconds()), &extra);
    let mut client = bench.ours_with_files(End::Client, FILES, &words).start(bench.scratch())?;
    let mut peak = None;
    while !client.ended()? {
        // The mark only grows; the last reading before the end is the answer.
        if let Ok(bytes) = memory::bytes(&client, memory::MemoryKind::Peak) {
            peak = Some(bytes);
        }
        interrupt::check()?;
        clock::sleep(interrupt::SLICE);
    }
    let finished = client.finish(bench.limit())?;
    let accepted = nginx.served()?.connections;
    let (said, _) = nginx.stop()?;
    ours::parse(&finished.stdout)
        .with_context(|| format!("nginx accepted {accepted} connections{said}"))?;
    if accepted < f64::from(connections) {
        bail!("nginx accepted {accepted} connections of {connections}{said}");
    }
    peak.context("the memory of hopbench was never seen")
}
