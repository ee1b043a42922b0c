//! HTTP closed loop: requests as fast as they are answered.

use super::{TARGET_CORES, client_cpu, needs, requests};
use crate::bench::ours;
use crate::bench::target::Kind;
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// Against a generator that only counts, where the target is the limit: it answers as many requests
/// whoever asks, so only the CPU of the generators tells them apart.
pub(crate) const BOUND: &[Goal] =
    &[requests(Reach::Shown), client_cpu(Reach::AtMost(0.92)), TARGET_CORES];
/// Against a generator that only counts.
pub(crate) const LEAN: &[Goal] =
    &[requests(Reach::AtLeast(1.0)), client_cpu(Reach::AtMost(0.92)), TARGET_CORES];
/// Against a generator that does more for each request.
pub(crate) const RICH: &[Goal] =
    &[requests(Reach::AtLeast(1.35)), client_cpu(Reach::Shown), TARGET_CORES];

/// One thread of ours against a peer on one CPU.
pub(crate) fn row(
    generator: &'static Generator,
    connections: u32,
    target: Kind,
    goals: &'static [Goal],
) -> Row {
    let server = if target == Kind::Nginx { "-nginx" } else { "" };
    Row {
        name: format!("http-closed-{}-{connections}{server}", generator.peer.name),
        what: format!("http closed, {connections} connections, one thread, {}", target.name()),
        against: generator.shown,
        needs: needs(generator, target),
        goals,
        note: format!(
            "The same {} for both, one process on the server's CPU, 16-byte answers. CPU is the \
             whole time of a process, read from outside, divided by the requests that the target \
             counted, warm-up included. Where the target's CPU is near 1 core, the target is the \
             limit and the rates say little. {}",
            target.name(),
            generator.note
        ),
        ours: Box::new(move |bench| {
            ours::against_target(bench, target, &bench.time(), &ours::closed_words(connections))
        }),
        theirs: Some(Box::new(move |bench| {
            generator::alone(bench, generator, target, connections, 0)
        })),
    }
}
