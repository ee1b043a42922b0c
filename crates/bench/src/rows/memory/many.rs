//! 100 000 connections on one machine, each with a request a second.

use anyhow::Result;

use super::BothEnds;
use crate::bench::{Bench, Figures, ours};
use crate::lab::{CLIENT_ADDRESS, OTHER_CLIENT_ADDRESS};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 100_000;

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
    let words = format!(
        "--schedule rate --rate {CONNECTIONS} --local-address \
         {CLIENT_ADDRESS},{OTHER_CLIENT_ADDRESS}"
    );
    let ends = BothEnds::run(bench, ("http", "/?size=16"), CONNECTIONS, &words)?;
    let completed_per_s = ours::metric(&ends.record, "completed_per_s")?;
    Ok(Figures::from([
        ("bytes", ends.client_bytes + ends.target_bytes),
        ("lateness_p99_ns", ours::latency(&ends.record, "lateness_ns")?.p99 as f64),
        ("achieved_share", completed_per_s / f64::from(CONNECTIONS)),
    ]))
}
