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

/// Against a generator that only counts, over TLS: both encrypt the same.
pub(crate) const SECRET: &[Goal] =
    &[requests(Reach::AtLeast(1.0)), client_cpu(Reach::AtMost(1.0)), TARGET_CORES];
/// Against a generator that only counts, over HTTP/2.
pub(crate) const MULTIPLEXED: &[Goal] =
    &[requests(Reach::AtLeast(1.0)), client_cpu(Reach::AtMost(0.9)), TARGET_CORES];

/// The words of ours for what h2load does: 16 requests at once on each connection.
const STREAMS: &str = " --http2 --streams 16";
/// The words of ours for what wrk and our target agree on.
const AGREED: &str = " --insecure-tls --tls-version 1.3 --tls-cipher aes-256-gcm";

/// Whose count CPU is divided by, where the target has one.
const COUNTED: &str = "the requests that the target counted, warm-up included.";
/// The same of our target, which has none.
const UNCOUNTED: &str = "the requests that the client counted. Ours counts those of its window, \
                         and its warm-up is added at the rate of the window.";
/// What is encrypted how.
const ENCRYPTED: &str = " Both speak TLS 1.3 with AES-256-GCM. Ours offers nothing else. wrk \
                         offers it first, and our target takes the first.";

/// One thread of ours against a peer on one CPU.
pub(crate) fn row(
    generator: &'static Generator,
    connections: u32,
    target: Kind,
    goals: &'static [Goal],
) -> Row {
    let (server, words) = match target {
        Kind::Nginx => ("-nginx", ""),
        Kind::NginxTls => ("-tls", " --insecure-tls"),
        Kind::NginxHttp2 => ("-http2", STREAMS),
        Kind::OursTls => ("-ours-tls", AGREED),
        Kind::OursHttp2 => ("-ours-http2", STREAMS),
        Kind::Plain | Kind::Ours => ("", ""),
    };
    let streams = if words == STREAMS { " x 16 streams" } else { "" };
    let counted = if target.counts() { COUNTED } else { UNCOUNTED };
    let encrypted = if target == Kind::OursTls { ENCRYPTED } else { "" };
    Row {
        name: format!("http-closed-{}-{connections}{server}", generator.peer.name),
        what: format!(
            "http closed, {connections} connections{streams}, one thread, {}",
            target.name()
        ),
        against: generator.shown,
        needs: needs(generator, target),
        goals,
        note: format!(
            "The target is the same for both: {}, one process on the server's CPU, 16-byte \
             answers.{encrypted} CPU is the whole time of a process, read from outside, divided by \
             {counted} Where the target's CPU is near 1 core, the target is the limit and the \
             rates say little. {}",
            target.name(),
            generator.note
        ),
        ours: Box::new(move |bench| {
            let words = ours::closed_words(connections) + words;
            ours::against_target(bench, "http", target, &bench.time(), &words)
        }),
        theirs: Some(Box::new(move |bench| {
            generator::alone(bench, generator, target, connections, 0)
        })),
    }
}
