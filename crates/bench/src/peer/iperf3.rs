//! iperf3: TCP streams and UDP packets.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::bench::{Bench, Figures, INSTALLED, Peer, Version, split};
use crate::lab::{End, SERVER_ADDRESS};
use crate::process::listening;

/// How iperf3 is found.
pub(crate) const PEER: Peer =
    Peer { name: "iperf3", version: Version::Printed("--version", "iperf "), source: INSTALLED };

const PORT: u16 = 5201;

/// TCP from the client to the server, 128 KiB at a time, over this many connections.
///
/// Figures: `received_bits_per_s` as the receiver saw it, and the CPU per byte of both processes.
/// The CPU is that of the whole processes, read from outside, and the bytes are those that the
/// server's interface counted. iperf3's own `cpu_utilization_percent` (process CPU over the wall
/// time between its two looks at the clock, each end for itself) is not used: it has no counterpart
/// of ours that counts the same.
///
/// # Errors
/// When a program fails or prints something else.
pub(crate) fn stream(bench: &Bench, connections: u32) -> Result<Figures> {
    run(bench, &format!("-P {connections} -l 128K"), |end| {
        Ok(Figures::from([("received_bits_per_s", end.sum_received.bits_per_second)]))
    })
}

/// UDP packets of `size` bytes as fast as the client can.
///
/// Figures: `received_packets_per_s`.
///
/// # Errors
/// When a program fails or prints something else.
pub(crate) fn packets(bench: &Bench, size: u32) -> Result<Figures> {
    run(bench, &format!("-u -l {size} -b 0"), |end| {
        Ok(Figures::from([("received_packets_per_s", delivered_per_s(&end.sum_received)?)]))
    })
}

fn run(bench: &Bench, extra: &str, read: impl Fn(&Ending) -> Result<Figures>) -> Result<Figures> {
    let server = bench.serve(&bench.peer(&PEER, End::Server, &["-s"])?, PORT)?;
    let before = listening::interface_bytes(&server)?;
    let words = split(&format!("-c {SERVER_ADDRESS} -t {} -J {extra}", bench.seconds()));
    let client = bench.run(&bench.peer(&PEER, End::Client, &words)?)?;
    let bytes = listening::interface_bytes(&server)? - before;
    let server_usage = server.stop()?;
    let mut figures = read(&parse(&client.stdout)?)?;
    figures.insert("sender_cpu_s_per_byte", client.usage.total_s() / bytes);
    figures.insert("receiver_cpu_s_per_byte", server_usage.total_s() / bytes);
    Ok(figures)
}

#[derive(Debug, Deserialize)]
struct Output {
    end: Ending,
}

#[derive(Debug, Deserialize)]
struct Ending {
    sum_received: Sum,
}

#[derive(Debug, Deserialize)]
struct Sum {
    seconds: f64,
    bits_per_second: f64,
    packets: Option<f64>,
    lost_packets: Option<f64>,
}

fn parse(json: &str) -> Result<Ending> {
    let output: Output = serde_json::from_str(json).context("output of `iperf3 -J`")?;
    Ok(output.end)
}

/// What the receiver counts as packets includes those it misses.
fn delivered_per_s(sum: &Sum) -> Result<f64> {
    let packets = sum.packets.context("`iperf3 -u -J` names no packets")?;
    let lost = sum.lost_packets.context("`iperf3 -u -J` names no lost packets")?;
    Ok((packets - lost) / sum.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_receiver_saw_of_tcp() {
        let end = parse(include_str!("../../fixtures/iperf3-tcp.json")).unwrap();
        let expected = end.sum_received.bits_per_second * end.sum_received.seconds / 8.0;
        assert!(expected > 1e9, "the captured run moved {expected} bytes");
        assert!(delivered_per_s(&end.sum_received).is_err(), "TCP has no packets");
    }

    #[test]
    fn lost_packets_are_not_delivered() {
        let end = parse(include_str!("../../fixtures/iperf3-udp.json")).unwrap();
        let sum = &end.sum_received;
        let delivered = delivered_per_s(sum).unwrap();
        assert!(
            delivered > 100_000.0 && delivered <= sum.packets.unwrap() / sum.seconds,
            "{delivered}"
        );
        let lossy = Sum {
            packets: Some(186_479.0),
            lost_packets: Some(645.0),
            seconds: 2.0,
            bits_per_second: 0.0,
        };
        assert_eq!(delivered_per_s(&lossy).unwrap(), 92_917.0);
    }

    #[test]
    fn an_error_is_not_a_result() {
        assert!(parse(r#"{"start":{},"end":{},"error":"unable to connect"}"#).is_err());
    }
}
