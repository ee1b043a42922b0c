//! sockperf: the text of `ping-pong`, `under-load` and `throughput`, of the client.

use hopbench_model::Problem;
use hopbench_model::units::Bytes;

use crate::kinds::TestKind::{Datagrams, Exchanges, Stream};
use crate::reading::Text;
use crate::reading::units::{behind, number, split};
use crate::stated::Stated;

/// One microsecond, ns.
const MICROSECOND: f64 = 1e3;
/// The bits of what sockperf calls a MB: 2^20 bytes.
const MEGABYTE: f64 = 8.0 * 1_048_576.0;

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.find(&|line| line.starts_with("sockperf:")).is_some()
}

pub(super) fn read(text: &Text<'_>) -> Result<Stated, Problem> {
    let head = text.only(&|line| line.contains("== version #"), "a line `== version #3.7 ==`")?;
    let version = head.text.split_once('#').map_or("", |(_, rest)| rest);
    let version = version.split_whitespace().next().unwrap_or_default();
    let is_connection = |line: &str| line.starts_with('[') && line.contains("] IP = ");
    let connections: Vec<_> = text.lines().filter(|line| is_connection(line.text)).collect();
    let protocol = connections.first().and_then(|line| Some(line.text.rsplit_once('#')?.1.trim()));
    let is_udp = protocol == Some("UDP");
    let is_bulk = text.find(&|line| line.contains("Summary: BandWidth is ")).is_some();
    let mut out = if is_bulk { bulk(text, is_udp)? } else { exchanges(text)? };
    out.connections = u32::try_from(connections.len()).ok().filter(|count| *count > 0);
    if let Some(protocol) = protocol {
        out.word("protocol", protocol);
    }
    let target = connections.first().and_then(|line| line.text.split_once("] IP = "));
    let words: Vec<&str> =
        target.map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
    if let [host, "PORT", "=", port, ..] = words.as_slice() {
        out.target(Some(&format!("{host}:{port}")));
    }
    out.machine(Some(format!("sockperf {version}")), None);
    Ok(out)
}

/// Round trips.
fn exchanges(text: &Text<'_>) -> Result<Stated, Problem> {
    let mut out = Stated::of(Exchanges);
    // Each server of a group has its own.
    let is_server = |line: &str| line.contains("Printing statistics for Server No");
    text.only(&is_server, "statistics; without messages there are none")?;
    let summary = text.needed(&|line| line.contains("Summary: "), "a line `Summary: ... usec`")?;
    let mean = behind(summary.text, " is ");
    let mean = text.value(summary, mean, "`Summary: Latency is 43.981 usec`")?;
    // Without --full-rtt all its times are halves.
    let factor = if summary.text.contains("Round trip") { 1.0 } else { 2.0 };
    if factor > 1.0 {
        out.explanation
            .push("sockperf states halves of round trips, and here they are doubled".to_owned());
    }
    let ns = |us: f64| us * factor * MICROSECOND;
    let valid = text.needed(&|line| line.contains("[Valid Duration]"), "`[Valid Duration]`")?;
    let of = |name: &str| {
        text.value(valid, behind(valid.text, name), "`RunTime=0.550 sec; SentMessages=12; ...`")
    };
    let (seconds, sent) = (of("RunTime=")?, of("SentMessages=")?);
    let received = of("ReceivedMessages=")?;
    out.window_s = seconds;
    out.metric("requests", received);
    out.metric("requests_per_s", received / seconds);
    out.metric("sent", sent);
    if let Some(line) = text.find(&|line| line.contains("# dropped messages = ")) {
        let dropped = behind(line.text, "# dropped messages = ");
        let dropped = text.value(line, dropped, "a number of messages")?;
        if received + dropped > 0.0 {
            out.metric("lost_ratio", dropped / (received + dropped));
        }
    }
    out.latency("mean", ns(mean));
    for line in text.lines() {
        let Some((_, told)) = line.text.split_once("---> ") else { continue };
        let Some((name, value)) = told.split_once(" = ") else { continue };
        let us = text.value(line, number(value), "a time in usec")?;
        match name.trim().split_once(' ') {
            Some(("<MAX>", _)) => out.latency("max", ns(us)),
            Some(("<MIN>", _)) => out.latency("min", ns(us)),
            Some(("percentile", percent)) => {
                let percent = text.value(line, number(percent), "a percentile")?;
                out.percentile(percent, ns(us));
            }
            _ => {}
        }
    }
    // It comes last.
    if out.metrics.contains_key("service_min_ns") {
        Ok(out)
    } else {
        Err(text.missing("a line `<MIN> observation`"))
    }
}

/// Messages that nothing answers.
fn bulk(text: &Text<'_>, is_udp: bool) -> Result<Stated, Problem> {
    let mut out = Stated::of(if is_udp { Datagrams } else { Stream });
    let band = text.only(&|line| line.contains("Summary: BandWidth is "), "")?;
    let bits = split(band.text.split_once(" is ").map_or("", |(_, rest)| rest));
    let bits = bits.and_then(|(value, unit)| match unit.split_whitespace().next()? {
        "MBps" => Some(value * MEGABYTE),
        "GBps" => Some(value * MEGABYTE * 1000.0),
        _ => None,
    });
    out.metric("sent_bits_per_s", text.value(band, bits, "`Summary: BandWidth is 1.2 MBps`")?);
    if let Some(line) = text.find(&|line| line.contains("Summary: Message Rate is ")) {
        let rate = text.value(line, behind(line.text, " is "), "messages a second")?;
        out.metric(if is_udp { "sent_packets_per_s" } else { "sent_messages_per_s" }, rate);
    }
    if let Some(line) = text.find(&|line| line.contains(" messages sent in ")) {
        let seconds = behind(line.text, " messages sent in ");
        out.window_s = text.value(line, seconds, "a time like `1.000 sec`")?;
    }
    if let Some(size) = text.lines().find_map(|line| behind(line.text, "msg-size=")) {
        out.param("size", Bytes(size as u64).to_string());
    }
    Ok(out)
}
