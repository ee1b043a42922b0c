//! iperf3: the JSON of `-J`, of the client; of the server where it says what was received.

use hopbench_model::units::{BitRate, Bytes};
use hopbench_model::{Interval, Problem};
use serde_json::Value;

use crate::kinds::TestKind::{Datagrams, Stream};
use crate::reading::Json;
use crate::stated::Stated;

/// The bytes of the other direction, where there are two.
const SUM_BACK: &str = "/end/sum_received_bidir_reverse";
/// Intervals that are kept.
const MOST_INTERVALS: usize = 10_000;

pub(super) fn is_it(json: &Json<'_>) -> bool {
    json.has("/start/test_start") || json.has("/start/version") && json.has("/end")
}

pub(super) fn read(json: &Json<'_>) -> Result<Stated, Problem> {
    if json.has("/error") {
        return Err(json.wrong("/error", "a run without an error; measure it again"));
    }
    // The server does not know what the client sent: its figures of the client are zeros.
    let is_server = json.has("/start/accepted_connection");
    let is_back = json.is_on("/start/test_start/reverse");
    // Only newer versions say among the settings that both directions were asked for.
    let is_both = json.has(SUM_BACK);
    if is_server && (is_back || is_both) {
        let at = if is_back { "/start/test_start/reverse" } else { SUM_BACK };
        return Err(json.wrong(at, "one direction in the server's output; take that of the client"));
    }
    const PROTOCOL: &str = "/start/test_start/protocol";
    let is_udp = json.text(PROTOCOL) == Some("UDP");
    if !is_udp && json.text(PROTOCOL).is_some_and(|protocol| protocol != "TCP") {
        return Err(json.wrong(PROTOCOL, "TCP or UDP"));
    }
    // Of datagrams both ways it has one sum of loss only.
    let sums = [SUM_BACK, "/end/sum_bidir_reverse"];
    if let Some(at) = sums.into_iter().find(|at| is_udp && json.has(at)) {
        return Err(json.wrong(at, "one direction of UDP; measure each by itself"));
    }
    let mut out = Stated::of(if is_udp { Datagrams } else { Stream });
    if is_udp {
        datagrams(json, &mut out, is_server)?;
    } else {
        bytes(json, &mut out, is_server, is_both)?;
    }
    setup(json, &mut out)?;
    let word = match (is_both, is_back) {
        (true, _) => "both",
        (_, true) => "from-server",
        _ => "to-server",
    };
    out.param("direction", word);
    cpu(json, &mut out, is_server)?;
    if !is_both {
        out.intervals = json.list("/intervals").iter().filter_map(interval).collect();
        out.intervals.truncate(MOST_INTERVALS);
    }
    Ok(out)
}

/// The figures of TCP.
fn bytes(json: &Json<'_>, out: &mut Stated, is_server: bool, is_both: bool) -> Result<(), Problem> {
    out.window_s = json.seconds("/end/sum_received/seconds", 1.0)?;
    let received = json.needed("/end/sum_received/bits_per_second")?;
    if is_both {
        let back = json.needed(&format!("{SUM_BACK}/bits_per_second"))?;
        out.metric("to_server_received_bits_per_s", received);
        out.metric("from_server_received_bits_per_s", back);
        out.metric("received_bits_per_s", received + back);
        return Ok(());
    }
    out.metric("received_bits_per_s", received);
    if !is_server {
        optional(json, out, "/end/sum_sent/bits_per_second", "sent_bits_per_s")?;
        optional(json, out, "/end/sum_sent/retransmits", "retransmitted_segments")?;
    }
    Ok(())
}

/// The figures of UDP. Old versions have one sum, of what was sent and of what was lost.
fn datagrams(json: &Json<'_>, out: &mut Stated, is_server: bool) -> Result<(), Problem> {
    let is_apart = json.has("/end/sum_received");
    let sum = if is_apart { "/end/sum_received" } else { "/end/sum" };
    let of = |name: &str| format!("{sum}/{name}");
    let packets = json.needed(&of("packets"))?;
    // Packets that came twice can make it negative.
    let lost = json.number(&of("lost_packets"))?.unwrap_or(0.0).clamp(0.0, packets);
    let sent = json.amount("/end/sum_sent/packets")?.unwrap_or(0.0).max(packets);
    // Where nothing arrived, the receiver's time can be 0.
    let seconds = match json.amount(&of("seconds"))? {
        Some(seconds) if seconds > 0.0 => seconds,
        _ => json.seconds("/end/sum_sent/seconds", 1.0)?,
    };
    out.window_s = seconds;
    out.metric("received_packets_per_s", (packets - lost) / seconds);
    if packets > 0.0 {
        out.metric("lost_ratio", lost / packets);
        if let Some(jitter_ms) = json.amount(&of("jitter_ms"))? {
            out.metric("jitter_ns", jitter_ms * 1e6);
        }
    } else if sent > 0.0 {
        out.metric("lost_ratio", 1.0);
    }
    let bits = of("bits_per_second");
    if is_apart {
        optional(json, out, &bits, "received_bits_per_s")?;
        if !is_server {
            optional(json, out, "/end/sum_sent/bits_per_second", "sent_bits_per_s")?;
        }
    } else if !is_server {
        optional(json, out, &bits, "sent_bits_per_s")?;
    }
    Ok(())
}

fn optional(json: &Json<'_>, out: &mut Stated, pointer: &str, name: &str) -> Result<(), Problem> {
    if let Some(value) = json.amount(pointer)? {
        out.metric(name, value);
    }
    Ok(())
}

/// The settings that were asked for, and the facts of the run.
fn setup(json: &Json<'_>, out: &mut Stated) -> Result<(), Problem> {
    out.started_s = json.amount("/start/timestamp/timesecs")?.map(|seconds| seconds as u64);
    out.warmup_s = json.amount("/start/test_start/omit")?.unwrap_or(0.0);
    out.connections = json.amount("/start/test_start/num_streams")?.map(|count| count as u32);
    if let Some(size) = json.amount("/start/test_start/blksize")?.filter(|size| *size > 0.0) {
        out.param("size", Bytes(size as u64).to_string());
    }
    let asked = match json.amount("/start/target_bitrate")? {
        None => json.amount("/start/test_start/target_bitrate")?,
        asked => asked,
    };
    // 0 is as much as the path carries.
    if let Some(rate) = asked.filter(|rate| *rate > 0.0) {
        out.param("rate", BitRate(rate as u64).to_string());
    }
    if let Some(word) = json.text("/end/sender_tcp_congestion") {
        out.word("congestion", word);
    }
    let host = json.text("/start/connecting_to/host").unwrap_or_default();
    let port = json.amount("/start/connecting_to/port")?;
    out.target(port.map(|port| format!("{host}:{port}")).as_deref());
    let version = json.text("/start/version").map(str::to_owned);
    out.machine(version, json.text("/start/system_info"));
    Ok(())
}

/// The CPU of the process at each end.
fn cpu(json: &Json<'_>, out: &mut Stated, is_server: bool) -> Result<(), Problem> {
    let cores = |name: &str| -> Result<_, Problem> {
        let percent = json.amount(&format!("/end/cpu_utilization_percent/{name}"))?;
        Ok(percent.map(|percent| ("cores".to_owned(), percent / 100.0)))
    };
    let (here, there) = (cores("host_total")?, cores("remote_total")?);
    if is_server {
        out.cost.server.extend(here);
    } else {
        out.cost.client.extend(here);
        out.cost.server.extend(there);
    }
    Ok(())
}

fn interval(interval: &Value) -> Option<Interval> {
    let sum = interval.get("sum")?;
    if sum["omitted"] == true {
        return None;
    }
    // Old versions do not say which end it is of.
    let name = match sum["sender"].as_bool() {
        Some(false) => "received_bits_per_s",
        _ => "sent_bits_per_s",
    };
    let (end, bits) = (sum["end"].as_f64()?, sum["bits_per_second"].as_f64()?);
    Some(Interval::from([("t_s".to_owned(), end), (name.to_owned(), bits)]))
}
