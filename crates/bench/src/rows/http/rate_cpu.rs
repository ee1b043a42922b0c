//! The client's CPU at a constant rate.

use std::time::Duration;

use anyhow::Result;
use hopbench_model::Pacing;

use super::needs;
use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, Peer, WARMUP, ours};
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
                Goal::ratio("requests", "requests counted", "requests", 1.0, Reach::Shown),
            ]
        }
    }

    fn note(&self) -> String {
        format!(
            "CPU, user and system, of the client's whole process from exec to exit, read from outside, divided by the \
             requests that nginx counted. Ours warms up within the time that a peer sends, so that the start of both is \
             divided by as many requests. Ours spaces all sends evenly and wakes up for each. A peer can send several at \
             one wake-up, a batch. That saves wake-ups and spaces less evenly, so less CPU is not the same work for \
             less. {}",
            self.generator.note
        )
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let words = ours::rate_words(CONNECTIONS, PER_S, Pacing::Sleep);
        let window = format!("{}ms", window_beside(bench.window()).as_millis());
        ours::against_target(bench, Kind::Nginx, &window, &words)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        generator::alone(bench, self.generator, Kind::Nginx, CONNECTIONS, PER_S).map(Some)
    }
}

/// The window of ours that ends with a peer's load of this length: the warm-up is a part of it.
fn window_beside(load: Duration) -> Duration {
    load.saturating_sub(WARMUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_sends_as_long_as_a_peer() {
        for seconds in [1, 3] {
            let load = Duration::from_secs(seconds);
            assert_eq!(window_beside(load) + WARMUP, load);
        }
    }
}
