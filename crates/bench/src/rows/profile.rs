//! The quick build of hopbench against the one of `make dist`: the same data plane, or nearly.

use anyhow::Result;

use crate::bench::target::Kind;
use crate::bench::{Bench, Figures, ours};
use crate::peer::quick;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// The share that the quick build may lose.
const LEAST: Reach = Reach::AtLeast(0.98);
const MOST: Reach = Reach::AtMost(1.02);

const STREAM_GOALS: &[Goal] = &[
    Goal::ratio("received_bits_per_s", "received", "Gbit/s", 1e-9, LEAST),
    Goal::ratio("sender_cpu_s_per_byte", "sender CPU", "ns/kB", 1e12, MOST),
    Goal::ratio("receiver_cpu_s_per_byte", "receiver CPU", "ns/kB", 1e12, MOST),
];
const RR_GOALS: &[Goal] = &[
    Goal::ratio("requests_per_s", "requests", "1/s", 1.0, LEAST),
    Goal::ratio("client_cpu_s_per_request", "client CPU", "us", 1e6, MOST),
    Goal::ratio("server_cpu_s_per_request", "server CPU", "us", 1e6, MOST),
];
const HTTP_GOALS: &[Goal] = &[super::http::requests(LEAST), super::http::client_cpu(MOST)];

/// A stream of one connection.
pub(super) fn stream() -> Row {
    row("stream", "stream, 1 connection, 128 KiB", STREAM_GOALS, |bench| {
        let words = "-c 1 --threads 1 --size 128KiB --direction to-server";
        let run = ours::against_agent(bench, "stream", words)?;
        let mut figures = run.cpu_per_byte();
        figures.insert("received_bits_per_s", run.metric("received_bits_per_s")?);
        Ok(figures)
    })
}

/// Round trips of one thread.
pub(super) fn rr() -> Row {
    row("rr", "rr 1 B TCP, 16 connections, one thread", RR_GOALS, |bench| {
        let run = ours::against_agent(bench, "rr", "-c 16 --threads 1 --size 1B")?;
        let requests = run.metric("requests_per_s")?;
        let all = requests * bench.window().as_secs_f64();
        Ok(Figures::from([
            ("requests_per_s", requests),
            ("client_cpu_s_per_request", run.client.total_s() / all),
            ("server_cpu_s_per_request", run.server.total_s() / all),
        ]))
    })
}

/// HTTP requests of one thread.
pub(super) fn http() -> Row {
    let what = "http closed, 32 connections, one thread, plain server";
    row("http", what, HTTP_GOALS, |bench| {
        ours::against_target(bench, "http", Kind::Plain, &bench.time(), &ours::closed_words(32))
    })
}

/// A workload that both builds run. Ours is the quick build, the peer that of `make dist`.
fn row(
    workload: &str,
    what: &str,
    goals: &'static [Goal],
    run: fn(&Bench) -> Result<Figures>,
) -> Row {
    Row {
        name: format!("profile-{workload}"),
        what: format!("quick build, {what}"),
        against: "build of make dist",
        needs: vec![&quick::PEER],
        goals,
        note: "Ours is the build of `make build`, `make demo` and `make test`. The peer is the \
               same source as `make dist` builds it. Both ends of `stream` and `rr` are of one \
               build. CPU is the whole time of a process, read from outside, start and warm-up \
               included."
            .to_owned(),
        ours: Box::new(move |bench| {
            bench.with_ours(bench.tools().peer(&quick::PEER)?, || run(bench))
        }),
        theirs: Some(Box::new(run)),
    }
}
