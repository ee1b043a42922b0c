//! TCP streams against iperf3.

use anyhow::Result;

use crate::bench::{Bench, Figures, ours};
use crate::peer::iperf3;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

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

/// The writes of 128 KiB as iperf3 makes them.
const EXACT_GOALS: &[Goal] = &[
    Goal::ratio("received_bits_per_s", "received", "Gbit/s", 1e-9, Reach::Shown),
    Goal::ratio("sender_cpu_s_per_byte", "sender CPU", "ns/kB", 1e12, Reach::Shown),
];

/// A few connections, as many whole packets at a time as 128 KiB hold.
pub(super) fn row(connections: u32) -> Row {
    let s = if connections == 1 { "" } else { "s" };
    Row {
        name: format!("stream-{connections}"),
        what: format!("stream, {connections} connection{s}, 128 KiB"),
        goals: GOALS,
        ..against_iperf3(connections, "packets")
    }
}

/// The same with exactly 128 KiB at a time.
pub(super) fn exact(connections: u32) -> Row {
    Row {
        name: format!("stream-exact-{connections}"),
        what: format!("stream, {connections} connections, exactly 128 KiB a write"),
        goals: EXACT_GOALS,
        ..against_iperf3(connections, "exact")
    }
}

fn against_iperf3(connections: u32, write: &'static str) -> Row {
    Row {
        name: String::new(),
        what: String::new(),
        against: "iperf3",
        needs: vec![&iperf3::PEER],
        goals: &[],
        note: "CPU is user and system time of the whole process from exec to exit, read from \
               outside (getrusage), divided by the bytes that the server's interface counted \
               meanwhile: the same ruler for both, warm-up included. Ours runs twice a pair (copy, \
               discard); both are compared with the same run of iperf3, which copies."
            .to_owned(),
        ours: Box::new(move |bench| ours(bench, connections, write)),
        theirs: Some(Box::new(move |bench| {
            let mut figures = iperf3::stream(bench, connections)?;
            for (discard, copy) in [
                ("discard_receiver_cpu_s_per_byte", "receiver_cpu_s_per_byte"),
                ("discard_received_bits_per_s", "received_bits_per_s"),
            ] {
                figures.insert(discard, figures[copy]);
            }
            Ok(figures)
        })),
    }
}

fn ours(bench: &Bench, connections: u32, write: &str) -> Result<Figures> {
    let run = |receive: &str| {
        let words = format!("-c {connections} --threads 1 --size 128KiB --write {write}");
        ours::against_agent(bench, "stream", &format!("{words} --receive {receive}"))
    };
    let (copy, discard) = (run("copy")?, run("discard")?);
    let mut figures = copy.cpu_per_byte();
    let discard_cpu = discard.cpu_per_byte()["receiver_cpu_s_per_byte"];
    figures.insert("discard_receiver_cpu_s_per_byte", discard_cpu);
    figures.insert("received_bits_per_s", copy.metric("received_bits_per_s")?);
    figures.insert("discard_received_bits_per_s", discard.metric("received_bits_per_s")?);
    Ok(figures)
}
