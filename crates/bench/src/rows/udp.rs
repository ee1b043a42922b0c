//! UDP packets against iperf3.

use crate::bench::{Figures, ours};
use crate::peer::iperf3;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const RECEIVED: &str = "received_packets_per_s";

/// A way of ours to send.
pub(super) struct Way {
    name: &'static str,
    what: &'static str,
    flags: &'static str,
    goals: &'static [Goal],
}

/// A call for each datagram, as in most programs.
pub(super) const EACH: Way = Way {
    name: "udp",
    what: "udp 16 B, maximum",
    flags: "",
    goals: &[Goal::ratio(RECEIVED, "delivered", "packets/s", 1.0, Reach::AtLeast(1.03))],
};
/// The same where each datagram may wake the receiver up.
pub(super) const WAKING: Way = Way {
    name: "udp-waking",
    what: "udp 16 B, maximum, a receiver that wakes up for each",
    flags: "--coalesce 0",
    goals: SHOWN,
};
/// The same through a ring.
pub(super) const RING: Way = Way {
    name: "udp-uring",
    what: "udp 16 B, maximum, io_uring",
    flags: "--engine uring",
    goals: SHOWN,
};
/// 32 datagrams a call.
pub(super) const BATCH: Way = Way {
    name: "udp-batch",
    what: "udp 16 B, maximum, sendmmsg of 32",
    flags: "--batch 32",
    goals: SHOWN,
};
/// 32 datagrams in one piece, which the kernel cuts.
pub(super) const SEGMENTS: Way =
    Way { name: "udp-gso", what: "udp 16 B, maximum, GSO of 32", flags: "--gso 32", goals: SHOWN };
/// iperf3 has none of these, so they have no goal.
const SHOWN: &[Goal] = &[Goal::ratio(RECEIVED, "delivered", "packets/s", 1.0, Reach::Shown)];

/// 16-byte packets as fast as one thread can.
pub(super) fn row(way: &'static Way) -> Row {
    Row {
        name: way.name.to_owned(),
        what: way.what.to_owned(),
        against: "iperf3 -u -b 0",
        needs: vec![&iperf3::PEER],
        goals: way.goals,
        note: "Packets that the receiving program read, by each program's own count; what iperf3 \
               calls packets less what it calls lost."
            .to_owned(),
        ours: Box::new(|bench| {
            let words = format!("-c 1 --threads 1 --size 16 --rate max {}", way.flags);
            let run = ours::against_agent(bench, "udp", words.trim_end())?;
            Ok(Figures::from([(RECEIVED, run.metric(RECEIVED)?)]))
        }),
        theirs: Some(Box::new(|bench| iperf3::packets(bench, 16))),
    }
}
