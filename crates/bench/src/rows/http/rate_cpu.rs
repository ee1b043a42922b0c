//! The client's CPU at a constant rate.

use anyhow::Result;
use hopbench_model::Pacing;

use super::{client_cpu, needs, requests, window_beside};
use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, ours};
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 16;
const PER_S: u64 = 4000;

const GOALS: &[Goal] = &[
    client_cpu(Reach::AtMost(0.8)),
    requests(Reach::Shown),
    Goal::ratio("requests", "requests counted", "requests", 1.0, Reach::Shown),
];

/// How CPU is read and divided.
const RULER: &str = "CPU, user and system, of the client's whole process from exec to exit, read \
                     from outside, divided by the requests that nginx counted. Ours warms up \
                     within the time that a peer sends, so that the start of both is divided by \
                     as many requests.";

/// 4000 requests a second, evenly spaced over 16 connections.
pub(crate) fn row(generator: &'static Generator) -> Row {
    Row {
        name: format!("http-rate-cpu-{}", generator.peer.name),
        what: "http 4000/s, evenly spaced, 16 connections".to_owned(),
        against: generator.shown,
        needs: needs(generator, Kind::Nginx),
        goals: GOALS,
        note: format!(
            "{RULER} Ours spaces all sends evenly and wakes up for each. A peer can send several \
             at one wake-up, a batch. That saves wake-ups and spaces less evenly, so less CPU is \
             not the same work for less. {}",
            generator.note
        ),
        ours: Box::new(|bench| ours(bench, 1, "")),
        theirs: Some(Box::new(|bench| {
            generator::alone(bench, generator, Kind::Nginx, CONNECTIONS, PER_S)
        })),
    }
}

/// The same rate in batches of this size, which is that of the peer's.
pub(crate) fn burst(generator: &'static Generator, size: u32) -> Row {
    let even = row(generator);
    Row {
        name: format!("{}-burst", even.name),
        what: format!("http {PER_S}/s, {size} at the same moment, {CONNECTIONS} connections"),
        note: format!(
            "Both send the same batches: {size} requests at the same moment, {} times a second. \
             {RULER} {}",
            PER_S / u64::from(size),
            generator.note
        ),
        ours: Box::new(move |bench| ours(bench, size, "")),
        ..even
    }
}

/// The same batches, evenly spaced if they are of one. Ours reads answers with the next send: the
/// kernel says when they came.
pub(crate) fn late_reads(generator: &'static Generator, size: u32) -> Row {
    let row = if size > 1 { burst(generator, size) } else { row(generator) };
    Row {
        name: format!("{}-late-reads", row.name),
        what: format!("{}, receive time of the kernel", row.what),
        note: format!(
            "With `--receive-time kernel` ours reads answers when it sends next, and the kernel \
             says when they came. A peer takes the time when it reads an answer. {}",
            row.note
        ),
        ours: Box::new(move |bench| ours(bench, size, " --receive-time kernel")),
        ..row
    }
}

fn ours(bench: &Bench, burst: u32, more: &str) -> Result<Figures> {
    let mut words = ours::rate_words(CONNECTIONS, PER_S, Pacing::Sleep) + more;
    if burst > 1 {
        words += &format!(" --burst {burst}");
    }
    ours::against_target(bench, "http", Kind::Nginx, &window_beside(bench), &words)
}
