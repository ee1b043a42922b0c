//! HTTP closed loop against fortio.

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::ours;
use crate::peer::fortio::{self, Load};
use crate::peer::{Peer, nginx};
use crate::row::Row;

/// Requests as fast as nginx answers them.
#[derive(Debug)]
pub(super) struct HttpFortio {
    pub(super) connections: u32,
}

impl Row for HttpFortio {
    fn name(&self) -> String {
        format!("http-fortio-{}", self.connections)
    }

    fn what(&self) -> String {
        format!("http closed, {} connections", self.connections)
    }

    fn against(&self) -> &'static str {
        "fortio -qps 0"
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[&fortio::PEER, &nginx::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::AtLeast(1.35)),
                Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> &'static str {
        "Both clients have one CPU, nginx has the other."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let words = ["-c", &self.connections.to_string(), "--threads", "1", "--schedule", "closed"];
        ours::against_nginx(bench, &words).map(|(_, figures)| figures)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let load = Load { connections: self.connections, per_s: 0, no_catch_up: false, seconds: bench.seconds() };
        fortio::alone(bench, load).map(Some)
    }
}
