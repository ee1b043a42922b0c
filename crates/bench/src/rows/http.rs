//! HTTP requests against other generators.

pub(super) mod closed;
pub(super) mod handshakes;
pub(super) mod rate_cpu;
pub(super) mod rate_exact;
pub(super) mod rate_limit;

use std::time::Duration;

use crate::bench::target::Kind;
use crate::bench::{Bench, Peer, WARMUP};
use crate::peer::http::generator::Generator;
use crate::row::goal::{Goal, Reach};

/// The rate at which requests were answered.
pub(super) const fn requests(reach: Reach) -> Goal {
    Goal::ratio("requests_per_s", "requests", "1/s", 1.0, reach)
}

/// The CPU of the client's whole process for a request.
pub(super) const fn client_cpu(reach: Reach) -> Goal {
    Goal::ratio("client_cpu_s_per_request", "client CPU a request", "us", 1e6, reach)
}

/// Whether the target was the limit: at one core it was.
pub(super) const TARGET_CORES: Goal =
    Goal::ratio("target_cores", "target's CPU", "cores", 1.0, Reach::Shown);

/// The window of ours that ends with the load of a peer: the warm-up is a part of it.
pub(super) fn window_beside(bench: &Bench) -> String {
    format!("{}ms", window_of(bench.window()).as_millis())
}

/// The window that ends with a load of this length.
fn window_of(load: Duration) -> Duration {
    load.saturating_sub(WARMUP)
}

/// The programs of a row with this peer and this target.
fn needs(generator: &Generator, target: Kind) -> Vec<&'static Peer> {
    [&[generator.peer], target.needs()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_sends_as_long_as_a_peer() {
        for seconds in [1, 3] {
            let load = Duration::from_secs(seconds);
            assert_eq!(window_of(load) + WARMUP, load);
        }
    }
}
