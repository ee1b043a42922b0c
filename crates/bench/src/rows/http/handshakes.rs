//! Full handshakes of TLS 1.3: a request on a connection of its own each.

use super::{TARGET_CORES, client_cpu, needs, requests};
use crate::bench::ours;
use crate::bench::target::Kind;
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 32;
const GOALS: &[Goal] = &[requests(Reach::AtLeast(1.0)), client_cpu(Reach::Shown), TARGET_CORES];

/// One thread of ours against a peer on one CPU.
pub(crate) fn row(generator: &'static Generator) -> Row {
    Row {
        name: format!("http-handshakes-{}", generator.peer.name),
        what: format!(
            "full handshakes of TLS 1.3, {CONNECTIONS} at once, {}",
            Kind::NginxTls.name()
        ),
        against: generator.shown,
        needs: needs(generator, Kind::NginxTls),
        goals: GOALS,
        note: format!(
            "The same nginx for both, with an ECDSA key on P-256. Each request has a connection \
             of its own, and nginx has no sessions to resume. Neither checks the certificate. {}",
            generator.note
        ),
        ours: Box::new(|bench| {
            let words = ours::closed_words(CONNECTIONS)
                + " --insecure-tls --tls-version 1.3 --no-keep-alive --no-tls-resumption";
            ours::against_target(bench, "http", Kind::NginxTls, &bench.time(), &words)
        }),
        theirs: Some(Box::new(move |bench| {
            generator::alone(bench, generator, Kind::NginxTls, CONNECTIONS, 0)
        })),
    }
}
