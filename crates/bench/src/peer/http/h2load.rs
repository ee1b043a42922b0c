//! h2load: HTTP/1.1 at a constant rate, HTTP/2 in a closed loop.

use anyhow::{Context, Result, bail};

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, number_after, split};

/// How h2load is found.
pub(crate) const PEER: Peer =
    Peer { name: "h2load", version: Version::Printed("--version", "nghttp2/"), source: INSTALLED };

/// Each connection at its share of the rate.
pub(crate) const RATE: Generator = Generator {
    peer: &PEER,
    shown: "h2load --rps",
    words: |Load { url, connections, per_s, seconds }, _| {
        let share = *per_s as f64 / f64::from(*connections);
        let words = format!("--h1 -t 1 -c {connections} -D {seconds} --rps {share} {url}");
        Ok(split(&words))
    },
    read: parse,
    counted,
    note: "h2load paces each connection for itself, all in step, so that one wake-up sends a \
           batch, one request on each.",
};

/// Requests over HTTP/2 as fast as they are answered, 16 at once on each connection.
pub(crate) const MULTIPLEXED: Generator = Generator {
    peer: &PEER,
    shown: "h2load -m16",
    words: |Load { url, connections, seconds, .. }, _| {
        Ok(split(&format!("-t 1 -c {connections} -m 16 -D {seconds} {url}")))
    },
    read: parse,
    counted,
    note: "",
};

/// The line that counts the requests of a run.
fn totals(text: &str) -> Option<&str> {
    text.lines().find(|line| line.starts_with("requests:"))
}

fn parse(text: &str) -> Result<f64> {
    let line = totals(text).context("h2load printed no requests")?;
    for kind in ["failed", "errored", "timeout"] {
        let count = line
            .split(',')
            .find_map(|part| part.trim().strip_suffix(kind)?.trim().parse::<u64>().ok());
        match count {
            Some(0) => {}
            Some(count) => bail!("{count} requests of h2load {kind}"),
            None => bail!("h2load did not say how many requests {kind}"),
        }
    }
    let (_, rest) =
        text.split_once("finished in ").context("h2load printed no requests a second")?;
    number_after(rest, ", ").context("h2load printed no requests a second")
}

fn counted(text: &str) -> Option<f64> {
    let line = totals(text)?;
    line.split(',').find_map(|part| part.trim().strip_suffix(" done")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::http::generator::sample;

    const PRINTED: &str = include_str!("../../../fixtures/h2load-1.52.0.txt");

    #[test]
    fn requests_a_second() {
        assert_eq!(parse(PRINTED).unwrap(), 3_992.0);
        assert_eq!((counted(PRINTED), counted("")), (Some(7_984.0), None));
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let failed = PRINTED.replace(" 0 errored", " 3 errored");
        assert!(parse(&failed).unwrap_err().to_string().contains("3 requests of h2load errored"));
        assert!(parse("").is_err());
    }

    #[test]
    fn connections_share_the_rate() {
        let words = (RATE.words)(&sample(4000), std::path::Path::new("/")).unwrap().join(" ");
        assert!(words.contains("-c 16 -D 3 --rps 250 "), "{words}");
    }
}
