//! HTTP closed loop against wrk.

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::ours;
use crate::peer::{Peer, nginx, wrk};
use crate::row::Row;

/// Requests as fast as nginx answers them, from one thread.
#[derive(Debug)]
pub(super) struct HttpWrk {
    pub(super) connections: u32,
}

impl Row for HttpWrk {
    fn name(&self) -> String {
        format!("http-wrk-{}", self.connections)
    }

    fn what(&self) -> String {
        format!("http closed, {} connections, one thread", self.connections)
    }

    fn against(&self) -> &'static str {
        "wrk -t1"
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[&wrk::PEER, &nginx::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::AtLeast(1.0)),
                Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::AtMost(0.92)),
            ]
        }
    }

    fn note(&self) -> &'static str {
        "The same nginx for both: one process on the server's CPU, 16-byte answer. CPU is the client process's whole time, \
         read from outside, divided by the requests that nginx counted, warm-up included."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let words = ["-c", &self.connections.to_string(), "--threads", "1", "--schedule", "closed"];
        ours::against_nginx(bench, &words).map(|(_, figures)| figures)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        wrk::closed(bench, self.connections).map(Some)
    }
}
