//! sockperf: TCP ping-pong.

use std::path::Path;

use anyhow::{Context, Result};

use crate::bench::{Bench, Figures, INSTALLED, Peer, Version, number_after, split};
use crate::lab::{End, SERVER_ADDRESS};

/// How sockperf is found.
pub(crate) const PEER: Peer = Peer {
    name: "sockperf",
    version: Version::Printed("--version", "version "),
    source: INSTALLED,
};

const PORT: u16 = 11111;

/// The way in which both ends of sockperf wait for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// In `recvfrom`, which blocks.
    Receive,
    /// In `epoll_wait`, which blocks.
    Epoll,
    /// In a loop of `recvfrom` that does not block.
    Spin,
}

impl Waiting {
    /// The words by which each end finds the other and waits for it. sockperf uses epoll only for a
    /// list of connections, which goes to a file in `scratch`.
    fn words(self, scratch: &Path) -> Result<Vec<String>> {
        let address = format!("--tcp -i {SERVER_ADDRESS} -p {PORT}");
        Ok(match self {
            Self::Receive => split(&address),
            Self::Spin => split(&format!("{address} --nonblocked")),
            Self::Epoll => {
                let list = scratch.join("connections");
                std::fs::write(&list, format!("T:{SERVER_ADDRESS}:{PORT}\n"))
                    .context("list of connections for sockperf")?;
                ["-f", &list.display().to_string(), "-F", "epoll"].map(str::to_owned).to_vec()
            }
        })
    }
}

/// One message there and back over TCP, 14 bytes: the smallest that sockperf can send.
///
/// Figures: `rtt_p50_ns`, `rtt_mean_ns`.
///
/// # Errors
/// When a program fails or prints something else.
pub(crate) fn ping_pong(bench: &Bench, waiting: Waiting) -> Result<Figures> {
    let both = waiting.words(bench.scratch())?;
    let words = [split("server"), both.clone()].concat();
    let server = bench.serve(&bench.peer(&PEER, End::Server, &words)?, PORT)?;
    let time = split(&format!("-t {}", bench.seconds()));
    let words = [split("ping-pong --full-rtt -m 14"), both, time].concat();
    let client = bench.run(&bench.peer(&PEER, End::Client, &words)?)?;
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
    fn each_way_of_waiting_is_asked_for() {
        let scratch = tempfile::tempdir().unwrap();
        let words = |waiting: Waiting| waiting.words(scratch.path()).unwrap().join(" ");
        assert_eq!(words(Waiting::Receive), "--tcp -i 10.71.0.2 -p 11111");
        assert_eq!(words(Waiting::Spin), "--tcp -i 10.71.0.2 -p 11111 --nonblocked");
        let list = scratch.path().join("connections");
        assert_eq!(words(Waiting::Epoll), format!("-f {} -F epoll", list.display()));
        assert_eq!(std::fs::read_to_string(list).unwrap(), "T:10.71.0.2:11111\n");
    }

    #[test]
    fn percentile_and_mean_in_nanoseconds() {
        let figures = parse(include_str!("../../fixtures/sockperf.txt")).unwrap();
        assert_eq!(figures["rtt_p50_ns"].round(), 44_606.0);
        assert_eq!(figures["rtt_mean_ns"].round(), 87_962.0);
        assert!(parse("sockperf: No messages were received").is_err());
    }
}
