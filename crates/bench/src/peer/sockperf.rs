//! sockperf: TCP ping-pong.

use anyhow::{Context, Result};

use crate::bench::{Bench, Figures, INSTALLED, Peer, Version, number_after, word_after};
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::listening;

/// How sockperf is found.
pub(crate) const PEER: Peer = Peer {
    name: "sockperf",
    version: Version::Printed(&["--version"], |printed| word_after(printed, "version ")),
    source: INSTALLED,
};

const PORT: u16 = 11111;

/// One message there and back over TCP, 14 bytes: the smallest that sockperf can send.
///
/// Figures: `rtt_p50_ns`, `rtt_mean_ns`.
///
/// # Errors
/// When a program fails or prints something else.
pub(crate) fn ping_pong(bench: &Bench) -> Result<Figures> {
    let (port, time) = (PORT.to_string(), bench.seconds().to_string());
    let mut server = bench
        .peer(&PEER, End::Server, &["server", "--tcp", "-i", SERVER_ADDRESS, "-p", &port])?
        .start(bench.scratch())?;
    listening::wait(&mut server, PORT)?;
    let words = [
        "ping-pong",
        "--tcp",
        "--full-rtt",
        "-m",
        "14",
        "-i",
        SERVER_ADDRESS,
        "-p",
        &port,
        "-t",
        &time,
    ];
    let client = bench.peer(&PEER, End::Client, &words)?.run(bench.scratch(), bench.limit())?;
    server.stop()?;
    parse(&client.stdout)
}

fn parse(text: &str) -> Result<Figures> {
    let us = |marker: &str| {
        number_after(text, marker)
            .with_context(|| format!("sockperf printed no `{marker}`"))
            .map(|us| us * 1e3)
    };
    Ok(Figures::from([
        ("rtt_p50_ns", us("percentile 50.000 =")?),
        ("rtt_mean_ns", us("Round trip is ")?),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_and_mean_in_nanoseconds() {
        let figures = parse(include_str!("../../fixtures/sockperf.txt")).unwrap();
        assert_eq!(figures["rtt_p50_ns"].round(), 44_606.0);
        assert_eq!(figures["rtt_mean_ns"].round(), 87_962.0);
        assert!(parse("sockperf: No messages were received").is_err());
    }
}
