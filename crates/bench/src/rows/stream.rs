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

/// Both figures are of runs that copy.
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
        against: "iperf3",
        needs: vec![&iperf3::PEER],
        goals: GOALS,
        note: format!(
            "{RULER} Ours runs twice a pair (copy, discard); both are compared with the same run \
             of iperf3, which copies. A write of ours is two whole packets of the kernel, 752 B \
             less than 128 KiB."
        ),
        ours: Box::new(move |bench| {
            let (mut figures, discard) =
                (run(bench, connections, "")?, run(bench, connections, " --receive discard")?);
            for (name, from) in DISCARD {
                figures.insert(name, discard[from]);
            }
            Ok(figures)
        }),
        theirs: Some(Box::new(move |bench| {
            let mut figures = iperf3::stream(bench, connections)?;
            for (name, from) in DISCARD {
                figures.insert(name, figures[from]);
            }
            Ok(figures)
        })),
    }
}

/// The same with exactly 128 KiB at a time, as iperf3 writes them.
pub(super) fn exact(connections: u32) -> Row {
    Row {
        name: format!("stream-exact-{connections}"),
        what: format!("stream, {connections} connections, exactly 128 KiB a write"),
        against: "iperf3",
        needs: vec![&iperf3::PEER],
        goals: EXACT_GOALS,
        note: RULER.to_owned(),
        ours: Box::new(move |bench| run(bench, connections, " --write exact")),
        theirs: Some(Box::new(move |bench| iperf3::stream(bench, connections))),
    }
}

const RULER: &str = "CPU is user and system time of the whole process from exec to exit, read from \
                     outside (getrusage). It is divided by the bytes that the server's interface \
                     counted meanwhile. So both have the same ruler, warm-up included.";

/// The figures of a run that discards, by the names of one that copies.
const DISCARD: [(&str, &str); 2] = [
    ("discard_receiver_cpu_s_per_byte", "receiver_cpu_s_per_byte"),
    ("discard_received_bits_per_s", "received_bits_per_s"),
];

fn run(bench: &Bench, connections: u32, more: &str) -> Result<Figures> {
    let words = format!("-c {connections} --threads 1 --size 128KiB{more}");
    let run = ours::against_agent(bench, "stream", &words)?;
    let mut figures = run.cpu_per_byte();
    figures.insert("received_bits_per_s", run.metric("received_bits_per_s")?);
    Ok(figures)
}
