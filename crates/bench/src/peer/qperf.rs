//! qperf: TCP latency.

use anyhow::{Context, Result, bail};

use crate::bench::{Bench, Figures, INSTALLED, Peer, Version, split};
use crate::lab::{End, SERVER_ADDRESS};

/// How qperf is found.
pub(crate) const PEER: Peer =
    Peer { name: "qperf", version: Version::Printed("--version", "qperf "), source: INSTALLED };

const PORT: u16 = 19765;

/// One byte there and back over TCP. qperf prints the mean of half a round trip, and nothing else.
///
/// Figures: `rtt_mean_ns`, twice what it prints, and the same as `rtt_p50_ns` because it has no
/// median.
///
/// # Errors
/// When a program fails or prints something else.
pub(crate) fn latency(bench: &Bench) -> Result<Figures> {
    let port = format!("-lp {PORT}");
    let server = bench.serve(&bench.peer(&PEER, End::Server, &split(&port))?, PORT)?;
    let time = bench.seconds();
    let words = split(&format!("{SERVER_ADDRESS} {port} -t {time} -m 1 -e 5 tcp_lat"));
    let client = bench.run(&bench.peer(&PEER, End::Client, &words)?)?;
    server.stop()?;
    let round_trip = 2.0 * parse(&client.stdout)?;
    Ok(Figures::from([("rtt_mean_ns", round_trip), ("rtt_p50_ns", round_trip)]))
}

/// The one-way latency, ns.
fn parse(text: &str) -> Result<f64> {
    let (_, rest) = text.split_once("latency").context("qperf printed no latency")?;
    let mut words = rest.trim_start_matches([' ', '=']).split_whitespace();
    let value: f64 = words
        .next()
        .and_then(|word| word.parse().ok())
        .context("qperf printed no number for its latency")?;
    let factor = match words.next() {
        Some("ns") => 1.0,
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("sec") => 1e9,
        unit => bail!("qperf printed its latency in an unknown unit {unit:?}"),
    };
    Ok(value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_in_the_unit_it_is_printed_in() {
        assert_eq!(parse(include_str!("../../fixtures/qperf.txt")).unwrap().round(), 29_351.0);
        assert_eq!(parse("tcp_lat:\n    latency  =  1.5 ms\n").unwrap(), 1.5e6);
        assert!(parse("tcp_lat:\n    latency  =  1.5 fortnights\n").is_err());
        assert!(parse("failed to connect").is_err());
    }
}
