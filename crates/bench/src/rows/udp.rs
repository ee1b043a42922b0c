//! UDP packets against iperf3.

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::iperf3;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// 16-byte packets as fast as one thread can.
#[derive(Debug)]
pub(super) struct Udp;

impl Row for Udp {
    fn name(&self) -> String {
        "udp".to_owned()
    }

    fn what(&self) -> String {
        "udp 16 B, maximum".to_owned()
    }

    fn against(&self) -> &'static str {
        "iperf3 -u -b 0"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&iperf3::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[Goal::ratio(
                "received_packets_per_s",
                "delivered",
                "packets/s",
                1.0,
                Reach::AtLeast(1.03),
            )]
        }
    }

    fn note(&self) -> String {
        "Packets that the receiving program read, by each program's own count; what iperf3 calls packets less what it calls lost."
        .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let run = ours::against_agent(
            bench,
            "udp",
            &["-c", "1", "--threads", "1", "--size", "16", "--rate", "max"],
        )?;
        Ok(Figures::from([(
            "received_packets_per_s",
            ours::metric(&run.record, "received_packets_per_s")?,
        )]))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        iperf3::packets(bench, 16).map(Some)
    }
}
