//! UDP packets against iperf3.

use crate::bench::{Figures, ours};
use crate::peer::iperf3;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const RECEIVED: &str = "received_packets_per_s";
const GOALS: &[Goal] =
    &[Goal::ratio(RECEIVED, "delivered", "packets/s", 1.0, Reach::AtLeast(1.03))];

/// 16-byte packets as fast as one thread can.
pub(super) fn row() -> Row {
    Row {
        name: "udp".to_owned(),
        what: "udp 16 B, maximum".to_owned(),
        against: "iperf3 -u -b 0",
        needs: vec![&iperf3::PEER],
        goals: GOALS,
        note: "Packets that the receiving program read, by each program's own count; what iperf3 \
               calls packets less what it calls lost."
            .to_owned(),
        ours: Box::new(|bench| {
            let words = "-c 1 --threads 1 --size 16 --rate max";
            let run = ours::against_agent(bench, "udp", words)?;
            Ok(Figures::from([(RECEIVED, run.metric(RECEIVED)?)]))
        }),
        theirs: Some(Box::new(|bench| iperf3::packets(bench, 16))),
    }
}
