//! Many TCP streams from one thread against a plain epoll loop.

use crate::bench::{Figures, ours};
use crate::peer::plain;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 100;
const SIZE: u32 = 100_000;

const RECEIVED: &str = "received_bits_per_s";
const GOALS: &[Goal] = &[Goal::ratio(RECEIVED, "received", "Gbit/s", 1e-9, Reach::AtLeast(1.0))];

/// 100 connections, 100 kB at a time.
pub(super) fn row() -> Row {
    Row {
        name: "stream-many".to_owned(),
        what: "stream, 100 connections, one thread, 100 kB".to_owned(),
        against: "plain epoll loop",
        needs: Vec::new(),
        goals: GOALS,
        note: "The loop is crates/bench/src/part/plain.rs: one thread each end, level-triggered \
               epoll, one write or read for each readiness, nothing else. Both are read by the \
               receiver's count in a window after the same warm-up."
            .to_owned(),
        ours: Box::new(|bench| {
            let words = format!(
                "-c {CONNECTIONS} --threads 1 --size {SIZE} --direction to-server --receive copy"
            );
            let run = ours::against_agent(bench, "stream", &words)?;
            Ok(Figures::from([(RECEIVED, run.metric(RECEIVED)?)]))
        }),
        theirs: Some(Box::new(|bench| plain::stream(bench, CONNECTIONS, SIZE))),
    }
}
