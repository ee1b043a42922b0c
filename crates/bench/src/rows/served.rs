//! Our target against nginx, asked by the same client.

use crate::bench::Bench;
use crate::bench::target::Kind;
use crate::peer::http::generator::{self, Generator};
use crate::peer::http::{h2load, wrk};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};
use crate::rows::http::requests;

/// The target's own CPU for a request: rates say little where the client is the limit.
const GOALS: &[Goal] = &[
    requests(Reach::AtLeast(1.0)),
    Goal::ratio("target_cpu_s_per_request", "target CPU a request", "us", 1e6, Reach::AtMost(1.0)),
    Goal::ratio("client_cores", "client's CPU", "cores", 1.0, Reach::Shown),
];

/// Over HTTP/1.1, asked by wrk.
pub(crate) fn single() -> Row {
    row("served-http1", &wrk::CLOSED, 32, Kind::Nginx)
}

/// Over HTTP/2, asked by h2load.
pub(crate) fn multiplexed() -> Row {
    row("served-http2", &h2load::MULTIPLEXED, 8, Kind::NginxHttp2)
}

fn row(name: &str, asks: &'static Generator, connections: u32, theirs: Kind) -> Row {
    let run = move |kind: Kind| {
        move |bench: &Bench| {
            let mut figures = generator::alone(bench, asks, kind, connections, 0)?;
            let spent_s = figures["target_cores"] / figures["requests_per_s"];
            figures.insert("target_cpu_s_per_request", spent_s);
            Ok(figures)
        }
    };
    Row {
        name: name.to_owned(),
        what: format!("our target, one thread, {connections} connections of {}", asks.shown),
        against: "nginx",
        needs: [&[asks.peer], theirs.needs()].concat(),
        goals: GOALS,
        note: "Here the targets are compared, and the client is the same. 16-byte answers. \
               Where the client's CPU is near 1 core, the client is the limit."
            .to_owned(),
        ours: Box::new(run(Kind::Ours)),
        theirs: Some(Box::new(run(theirs))),
    }
}
