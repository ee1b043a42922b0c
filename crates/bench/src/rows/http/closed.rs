//! HTTP closed loop: requests as fast as they are answered.

use anyhow::Result;

use super::{TARGET_CORES, needs};
use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// One thread of ours against a peer on one CPU.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) generator: &'static Generator,
    pub(crate) connections: u32,
    pub(crate) target: Kind,
    pub(crate) goals: &'static [Goal],
}

/// Against a generator that only counts, where the target is the limit: it answers as many requests
/// whoever asks, so only the CPU of the generators tells them apart.
pub(crate) const BOUND: &[Goal] = &[
    Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::Shown),
    Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::AtMost(0.92)),
    TARGET_CORES,
];
/// Against a generator that only counts.
pub(crate) const LEAN: &[Goal] = &[
    Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::AtLeast(1.0)),
    Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::AtMost(0.92)),
    TARGET_CORES,
];
/// Against a generator that does more for each request.
pub(crate) const RICH: &[Goal] = &[
    Goal::ratio("requests_per_s", "requests", "1/s", 1.0, Reach::AtLeast(1.35)),
    Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, Reach::Shown),
    TARGET_CORES,
];

impl Row for Closed {
    fn name(&self) -> String {
        let server = if self.target == Kind::Nginx { "-nginx" } else { "" };
        format!("http-closed-{}-{}{server}", self.generator.peer.name, self.connections)
    }

    fn what(&self) -> String {
        format!("http closed, {} connections, one thread, {}", self.connections, self.target.name())
    }

    fn against(&self) -> &'static str {
        self.generator.shown
    }

    fn needs(&self) -> Vec<&'static Peer> {
        needs(Some(self.generator), self.target)
    }

    fn goals(&self) -> &'static [Goal] {
        self.goals
    }

    fn note(&self) -> String {
        format!(
            "The same {} for both, one process on the server's CPU, 16-byte answers. CPU is the whole time of a process, \
             read from outside, divided by the requests that the target counted, warm-up included. Where the target's \
             CPU is near 1 core, the target is the limit and the rates say little. {}",
            self.target.name(),
            self.generator.note
        )
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let words = ["-c", &self.connections.to_string(), "--threads", "1", "--schedule", "closed"];
        ours::against_target(bench, self.target, &format!("{}s", bench.seconds()), &words)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        generator::alone(bench, self.generator, self.target, self.connections, 0).map(Some)
    }
}
