//! TCP streams against iperf3.

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::iperf3;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// A few connections, 128 KiB at a time.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) connections: u32,
}

const GOALS: &[Goal] = &[
    Goal::ratio("received_bits_per_s", "received", "Gbit/s", 1e-9, Reach::AtLeast(1.0)),
    Goal::ratio("receiver_cpu_s_per_byte", "receiver CPU, copy", "ns/kB", 1e12, Reach::AtMost(1.0)),
    Goal::ratio(
        "discard_receiver_cpu_s_per_byte",
        "receiver CPU, discard",
        "ns/kB",
        1e12,
        Reach::AtMost(0.75),
    ),
    Goal::ratio("sender_cpu_s_per_byte", "sender CPU", "ns/kB", 1e12, Reach::AtMost(1.0)),
    Goal::ratio("discard_received_bits_per_s", "received, discard", "Gbit/s", 1e-9, Reach::Shown),
];

impl Row for Stream {
    fn name(&self) -> String {
        format!("stream-{}", self.connections)
    }

    fn what(&self) -> String {
        format!(
            "stream, {} connection{}, 128 KiB",
            self.connections,
            if self.connections == 1 { "" } else { "s" }
        )
    }

    fn against(&self) -> &'static str {
        "iperf3"
    }

    fn needs(&self) -> Vec<&'static Peer> {
        vec![&iperf3::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        GOALS
    }

    fn note(&self) -> String {
        "CPU is user and system time of the whole process from exec to exit, read from outside (getrusage), divided \
         by the bytes that the server's interface counted meanwhile: the same ruler for both, warm-up included. \
         Ours runs twice a pair (copy, discard); both are compared with the same run of iperf3, which copies."
            .to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let connections = self.connections.to_string();
        let run = |receive: &str| {
            let words = [
                "-c",
                &connections,
                "--threads",
                "1",
                "--size",
                "128KiB",
                "--direction",
                "to-server",
                "--receive",
                receive,
            ];
            ours::against_agent(bench, "stream", &words)
        };
        let (copy, discard) = (run("copy")?, run("discard")?);
        let mut figures = copy.cpu_per_byte();
        figures.insert("received_bits_per_s", ours::metric(&copy.record, "received_bits_per_s")?);
        figures.insert(
            "discard_receiver_cpu_s_per_byte",
            discard.cpu_per_byte()["receiver_cpu_s_per_byte"],
        );
        figures.insert(
            "discard_received_bits_per_s",
            ours::metric(&discard.record, "received_bits_per_s")?,
        );
        Ok(figures)
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let mut figures = iperf3::stream(bench, self.connections)?;
        for (discard, copy) in [
            ("discard_receiver_cpu_s_per_byte", "receiver_cpu_s_per_byte"),
            ("discard_received_bits_per_s", "received_bits_per_s"),
        ] {
            figures.insert(discard, figures[copy]);
        }
        Ok(Some(figures))
    }
}
