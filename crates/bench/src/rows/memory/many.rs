//! 100 000 connections on one machine, each with a request a second.

use anyhow::Result;
use hopbench_model::Pacing;

use crate::bench::target::OURS_PORT;
use crate::bench::{Bench, Figures, ours};
use crate::lab::{CLIENT_ADDRESS, End, OTHER_CLIENT_ADDRESS, SERVER_ADDRESS};
use crate::process::{Invocation, memory};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};
use crate::rows::memory::run_to_end;

const CONNECTIONS: u32 = 100_000;
/// Sockets, and a few files beside them.
const FILES: u64 = 100_500;

const GIB: f64 = 1_073_741_824.0;
const GOALS: &[Goal] = &[
    Goal::value("bytes", "memory, both ends", "GiB", 1.0 / GIB, Reach::AtMost(1.0)),
    Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, Reach::AtMost(5000.0)),
    Goal::value("achieved_share", "achieved / asked", "", 1.0, Reach::Shown),
];

/// Evenly spaced, each connection in its turn, from two addresses.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-many".to_owned(),
        what: "http, 100 000 connections, 1 request/s each, our target".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "Peak resident memory (VmHWM) of client and target together; user memory only. Each \
               end has one thread for all connections, on a CPU of its own. The client has two \
               addresses, since one has fewer ports. Needs 100 500 open files (`ulimit -Hn`)."
            .to_owned(),
        ours: Box::new(ours),
        theirs: None,
    }
}

fn ours(bench: &Bench) -> Result<Figures> {
    let at = |end, words: &str| Invocation {
        files: Some(FILES),
        ..bench.ours(end, &crate::bench::split(words))
    };
    let serve = format!("serve --insecure --port {OURS_PORT} --max-flows {CONNECTIONS}");
    let server = bench.serve(&at(End::Server, &serve), OURS_PORT)?;
    // Of the agent as a participant: a target for everybody bounds what strangers hold.
    let words = format!(
        "{} --insecure --timeout 20s --local-address {CLIENT_ADDRESS},{OTHER_CLIENT_ADDRESS}",
        ours::rate_words(CONNECTIONS, CONNECTIONS.into(), Pacing::Sleep)
    );
    let url = format!("http://{SERVER_ADDRESS}:{OURS_PORT}/?size=16");
    let words = ours::http_words(&url, &bench.time(), &words).join(" ");
    let (client, client_bytes) = run_to_end(bench, &at(End::Client, &words))?;
    let server_bytes = memory::bytes(&server, memory::MemoryKind::Peak)?;
    server.stop()?;
    let record = ours::parse(&client.stdout)?;
    Ok(Figures::from([
        ("bytes", client_bytes + server_bytes),
        ("lateness_p99_ns", ours::latency(&record, "lateness_ns")?.p99 as f64),
        (
            "achieved_share",
            ours::metric(&record, "completed_per_s")? / f64::from(CONNECTIONS),
        ),
    ]))
}
