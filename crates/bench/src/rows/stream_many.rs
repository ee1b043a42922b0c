//! Many TCP streams from one thread against a plain epoll loop.

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::plain;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// 100 connections, 100 kB at a time.
#[derive(Debug)]
pub(super) struct StreamMany;

const CONNECTIONS: u32 = 100;
const SIZE: u32 = 100_000;

impl Row for StreamMany {
    fn name(&self) -> String {
        "stream-many".to_owned()
    }

    fn what(&self) -> String {
        "stream, 100 connections, one thread, 100 kB".to_owned()
    }

    fn against(&self) -> &'static str {
        "plain epoll loop"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        Vec::new()
    }

    fn goals(&self) -> &'static [Goal] {
        const { &[Goal::ratio("received_bits_per_s", "received", "Gbit/s", 1e-9, Reach::AtLeast(1.0))] }
    }

    fn note(&self) -> String {
        "The loop is crates/bench/src/part/plain.rs: one thread each end, level-triggered epoll, one write or read for \
         each readiness, nothing else. Both are read by the receiver's count in a window after the same warm-up."
            .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let (connections, size) = (CONNECTIONS.to_string(), SIZE.to_string());
        let words = [
            "-c",
            &connections,
            "--threads",
            "1",
            "--size",
            &size,
            "--direction",
            "to-server",
            "--receive",
            "copy",
        ];
        let run = ours::against_agent(bench, "stream", &words)?;
        Ok(Figures::from([(
            "received_bits_per_s",
            ours::metric(&run.record, "received_bits_per_s")?,
        )]))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        plain::stream(bench, CONNECTIONS, SIZE).map(Some)
    }
}
