//! qperf: the text of one test of bandwidth or latency over TCP, UDP, SCTP, SDP or RDS.

use hopbench_model::Problem;
use hopbench_model::units::Bytes;

use crate::kinds::TestKind::{Datagrams, Exchanges, Stream};
use crate::reading::units::{TIMES, scaled};
use crate::reading::{Line, Text};
use crate::stated::Stated;

/// Tests that are known: those of other transports do not measure the same.
const TRANSPORTS: [&str; 5] = ["tcp", "udp", "sctp", "sdp", "rds"];

/// Bandwidths, bits/s.
const BANDS: &[(&str, f64)] = &[
    ("bytes/sec", 8.0),
    ("KB/sec", 8e3),
    ("MB/sec", 8e6),
    ("GB/sec", 8e9),
    ("TB/sec", 8e12),
    ("bits/sec", 1.0),
    ("Kb/sec", 1e3),
    ("Mb/sec", 1e6),
    ("Gb/sec", 1e9),
    ("Tb/sec", 1e12),
];

/// Rates, 1/s.
const RATES: &[(&str, f64)] = &[("/sec", 1.0), ("K/sec", 1e3), ("M/sec", 1e6), ("G/sec", 1e9)];

/// Sizes, bytes.
const SIZES: &[(&str, f64)] = &[
    ("bytes", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.find(&is_head).is_some()
}

/// `tcp_bw:`, `rc_rdma_write_lat:`.
fn is_head(line: &str) -> bool {
    let name = line.strip_suffix(':').unwrap_or_default();
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (name.ends_with("_bw") || name.ends_with("_lat")) && name.chars().all(is_name)
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let head = text.only(&is_head, "a line `tcp_bw:` or `tcp_lat:`")?;
    let name = head.text.trim_end_matches(':');
    let known = name
        .split_once('_')
        .filter(|(transport, test)| TRANSPORTS.contains(transport) && ["bw", "lat"].contains(test));
    let (transport, test) =
        text.value(head, known, "a test of tcp, udp, sctp, sdp or rds: `tcp_bw`, `tcp_lat`")?;
    let is_of_datagrams = transport == "udp" && test == "bw";
    let mut out = Stated::of(match test {
        "lat" => Exchanges,
        _ if is_of_datagrams => Datagrams,
        _ => Stream,
    });
    out.word("protocol", transport);
    let field = |name: &str| {
        text.behind(head).find_map(|line| {
            let (found, value) = line.text.split_once('=')?;
            (found.trim() == name).then_some(Line { text: value.trim(), ..line })
        })
    };
    let value = |name: &str, units: &[(&str, f64)], expected: &str| {
        field(name).map(|line| text.value(line, scaled(line.text, units), expected)).transpose()
    };
    if test == "lat" {
        let half = value("latency", TIMES, "a time like `29.351 us`")?;
        let half = half.filter(|half| *half > 0.0);
        let half =
            half.ok_or_else(|| text.missing("a line `latency` with a time of more than 0"))?;
        out.latency("mean", 2.0 * half);
        out.explanation.push(
            "qperf states half of a round trip, and here it is doubled; it has no percentiles"
                .to_owned(),
        );
    } else {
        let received = match value("bw", BANDS, "a bandwidth like `2.61 GB/sec`")? {
            None => value("recv_bw", BANDS, "a bandwidth like `2.61 GB/sec`")?,
            received => received,
        };
        let received = received.ok_or_else(|| text.missing("a line `bw` or `recv_bw`"))?;
        out.metric("received_bits_per_s", received);
        if let Some(sent) = value("send_bw", BANDS, "a bandwidth like `2.61 GB/sec`")? {
            out.metric("sent_bits_per_s", sent);
        }
    }
    if let Some(rate) = value("msg_rate", RATES, "a rate like `34.1 K/sec`")? {
        // Of latencies it counts the messages of both directions.
        let (name, rate) = match test {
            "lat" => ("requests_per_s", rate / 2.0),
            _ if is_of_datagrams => ("received_packets_per_s", rate),
            _ => ("messages_per_s", rate),
        };
        out.metric(name, rate);
    }
    if let Some(time) = value("time", TIMES, "a time like `2 sec`")? {
        out.window_s = time / 1e9;
    }
    // A size that 1024 divides has all its bytes in brackets, too.
    let size = field("msg_size").and_then(|line| scaled(line.text.split(" (").next()?, SIZES));
    if let Some(size) = size {
        out.param("size", Bytes(size as u64).to_string());
    }
    Ok(out)
}
