//! wrk: HTTP, closed loop.

use anyhow::{Context, Result, bail};

use super::generator::{Generator, Load};
use crate::bench::{INSTALLED, Peer, Version, number_after, split};

/// How wrk is found.
pub(crate) const PEER: Peer =
    Peer { name: "wrk", version: Version::Printed("--version", "wrk "), source: INSTALLED };

/// Requests as fast as they are answered, from one thread.
pub(crate) const CLOSED: Generator = Generator {
    peer: &PEER,
    shown: "wrk -t1",
    words: |Load { url, connections, seconds, .. }, _| {
        Ok(split(&format!("-t1 -c{connections} -d{seconds}s {url}")))
    },
    read: parse,
    counted,
    note: "",
};

/// The same, each on a connection of its own.
pub(crate) const HANDSHAKES: Generator = Generator {
    peer: &PEER,
    shown: "wrk -t1, Connection: close",
    words: |Load { url, connections, seconds, .. }, _| {
        let mut words = split(&format!("-t1 -c{connections} -d{seconds}s {url}"));
        words.extend(["-H".to_owned(), "Connection: close".to_owned()]);
        Ok(words)
    },
    read: parse,
    counted,
    note: "",
};

fn parse(text: &str) -> Result<f64> {
    if let Some(line) = text.lines().find(|l| l.contains("Socket errors:") || l.contains("Non-2xx"))
    {
        bail!("requests of wrk failed: {}", line.trim());
    }
    number_after(text, "Requests/sec:").context("wrk printed no requests a second")
}

/// wrk can end a little later than it was told to.
fn counted(text: &str) -> Option<f64> {
    let (before, _) = text.split_once(" requests in ")?;
    before.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_a_second() {
        let printed = include_str!("../../../fixtures/wrk.txt");
        assert_eq!(parse(printed).unwrap(), 56_766.65);
        assert_eq!((counted(printed), counted("")), (Some(56_981.0), None));
    }

    #[test]
    fn failed_requests_are_not_a_result() {
        let errors =
            "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec:  10.00\n";
        assert!(parse(errors).unwrap_err().to_string().contains("read 3"));
        assert!(parse("  Non-2xx or 3xx responses: 7\nRequests/sec:  10.00\n").is_err());
        assert!(parse("unable to connect to 10.71.0.2").is_err());
    }
}
