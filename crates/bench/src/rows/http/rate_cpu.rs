//! The client's CPU at a constant rate.

use anyhow::Result;

use super::needs;
use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// 4000 requests a second, evenly spaced over 16 connections.
#[derive(Debug)]
pub(crate) struct RateCpu {
    pub(crate) generator: &'static Generator,
}

const CONNECTIONS: u32 = 16;
const PER_S: u64 = 4000;

impl Row for RateCpu {
    fn name(&self) -> String {
        format!("http-rate-cpu-{}", self.generator.peer.name)
    }

    fn what(&self) -> String {
        "http 4000/s, evenly spaced, 16 connections".to_owned()
    }

    fn against(&self) -> &'static str {
        self.generator.shown
    }

    fn needs(&self) -> Vec<&'static Peer> {
        needs(Some(self.generator), Kind::Nginx)
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[
                Goal::ratio(
                    "client_cpu_s_per_request",
                    "client CPU a request",
                    "us",
                    1e6,
                    Reach::AtMost(0.8),
                ),
                Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> String {
        format!(
            "CPU of the client's process, read from outside, divided by the requests that nginx counted: at the same rate \
             this is the ratio of the cores. The start of the program is in it. {}",
            self.generator.note
        )
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let (connections, rate) = (CONNECTIONS.to_string(), PER_S.to_string());
        let words = [
            "-c",
            &connections,
            "--threads",
            "1",
            "--schedule",
            "rate",
            "--rate",
            &rate,
            "--pacing",
            "sleep",
        ];
        ours::against_target(bench, Kind::Nginx, &words)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        generator::alone(bench, self.generator, Kind::Nginx, CONNECTIONS, PER_S).map(Some)
    }
}
