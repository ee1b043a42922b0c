//! Unary calls of gRPC to our target: against other generators, and at a constant rate.

use hopbench_model::Pacing;

use super::http::{TARGET_CORES, client_cpu, rate_exact, requests, window_beside};
use crate::bench::ours;
use crate::bench::target::Kind;
use crate::peer::http::generator::{self, Generator};
use crate::peer::pacing;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 8;
const STREAMS: u32 = 16;
const PER_S: u64 = 5000;

/// Against ghz.
pub(crate) const GHZ: &[Goal] = &goals(3.0, 0.33);
/// Against k6.
pub(crate) const K6: &[Goal] = &goals(5.0, 0.2);

const fn goals(rate: f64, cpu: f64) -> [Goal; 3] {
    [requests(Reach::AtLeast(rate)), client_cpu(Reach::AtMost(cpu)), TARGET_CORES]
}

/// On time with `--pacing sleep`.
pub(crate) const SLEEP: &[Goal] = &lateness(250.0);
/// On time with `--pacing spin`.
pub(crate) const SPIN: &[Goal] = &lateness(20.0);

const fn lateness(us: f64) -> [Goal; 2] {
    [
        Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, Reach::AtMost(us)),
        Goal::value("achieved_share", "achieved / asked", "", 1.0, Reach::Shown),
    ]
}

/// Calls as fast as they are answered.
pub(crate) fn closed(generator: &'static Generator, goals: &'static [Goal]) -> Row {
    Row {
        name: format!("grpc-closed-{}", generator.peer.name),
        what: format!(
            "grpc unary closed, {CONNECTIONS} connections x {STREAMS} streams, one thread"
        ),
        against: generator.shown,
        needs: vec![generator.peer],
        goals,
        note: format!(
            "Our target for both, on the server's CPU, with payloads of 16 bytes in answers. CPU \
             is the whole time of the client's process, read from outside, divided by the rate \
             that it tells times the seconds of its load, warm-up included. {}",
            generator.note
        ),
        ours: Box::new(|bench| {
            let words = format!("{} --streams {STREAMS}", ours::closed_words(CONNECTIONS));
            ours::against_target(bench, "grpc", Kind::Ours, &window_beside(bench), &words)
        }),
        theirs: Some(Box::new(move |bench| {
            generator::alone(bench, generator, Kind::Ours, CONNECTIONS, 0)
        })),
    }
}

/// Evenly spaced calls. The goals are those of ours alone, and the peer is there for comparison.
pub(crate) fn rate(way: Pacing, goals: &'static [Goal]) -> Row {
    Row {
        name: format!("grpc-rate-{way}"),
        what: format!(
            "grpc unary {PER_S}/s, evenly spaced, {CONNECTIONS} connections, pacing {way}"
        ),
        against: pacing::SHOWN,
        needs: Vec::new(),
        goals,
        note: format!("Our target has a CPU of its own. {}", pacing::NOTE),
        ours: Box::new(move |bench| {
            let words = ours::rate_words(CONNECTIONS, PER_S, way);
            let words = format!("{words} --streams {STREAMS}");
            rate_exact::ours(bench, "grpc", Kind::Ours, PER_S, &words)
        }),
        theirs: Some(Box::new(move |bench| pacing::lateness(bench, PER_S, way))),
    }
}
