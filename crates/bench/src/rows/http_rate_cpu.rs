//! What a constant rate costs the client, against fortio.

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::ours;
use crate::peer::fortio::{self, Load};
use crate::peer::{Peer, nginx};
use crate::row::Row;

/// 4000 requests a second, evenly spaced over 16 connections.
#[derive(Debug)]
pub(super) struct HttpRateCpu;

impl Row for HttpRateCpu {
    fn name(&self) -> String {
        "http-rate-cpu".to_owned()
    }

    fn what(&self) -> String {
        "http 4000/s, evenly spaced, 16 connections".to_owned()
    }

    fn against(&self) -> &'static str {
        "fortio -uniform"
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[&fortio::PEER, &nginx::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::AtMost(0.8)),
                Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> &'static str {
        "CPU of the client's process, read from outside, divided by the requests that nginx counted: at the same rate this is \
         the ratio of the cores, and it does not depend on how long each ran."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let words = ["-c", "16", "--threads", "1", "--schedule", "rate", "--rate", "4000", "--pacing", "sleep"];
        ours::against_nginx(bench, &words).map(|(_, figures)| figures)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let load = Load { connections: 16, per_s: 4000, no_catch_up: false, seconds: bench.seconds() };
        fortio::alone(bench, load).map(Some)
    }
}
