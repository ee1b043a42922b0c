//! The cost of the traffic: processes, machines, and CPU for one unit of work.

use std::collections::BTreeMap;

use hopbench_model::{NodeCost, Record, Unit};

use super::page::Page;
use crate::number::{bit_rate, by_name, bytes, cores, counted, per_s, plain, share, time_ns};

/// Less CPU time than this, s, is a few of the kernel's ticks of 10 ms. It is no ground for a
/// figure of one unit of work.
const FEW_TICKS_S: f64 = 0.05;
/// CPUs that are worth a word, at most so many of them.
const BUSY: f64 = 0.05;
const MOST_CPUS: usize = 6;
/// Figures of other meters that mean trouble when they are not zero, by a part of their name.
const TROUBLE: &[&str] = &["drop", "squeeze", "error", "overflow", "throttled"];
const MOST_TROUBLES: usize = 8;

pub(super) fn write(page: &mut Page, record: &Record) {
    let cost = &record.cost;
    if cost.client.is_empty() && cost.server.is_empty() && cost.nodes.is_empty() {
        return;
    }
    page.heading("cost");
    let work = work(record);
    for (label, process) in [("client", &cost.client), ("server", &cost.server)] {
        page.field(label, &process_text(process, record.window_s, work));
    }
    // Both ends of one machine see the same CPUs: its figures are shown once.
    let one_machine = record.settings.get("clock").is_some_and(|clock| clock == "shared");
    for node in cost.nodes.iter().take(if one_machine { 1 } else { usize::MAX }) {
        machine(page, node, if one_machine { "" } else { &node.name }, record.window_s, work);
    }
}

/// Units of work of the window, how many, and what one is called.
fn work(record: &Record) -> Option<(f64, &'static str)> {
    let metric = |name: &str| record.metrics.get(name).copied();
    let over_window = |name: &str| metric(name).map(|rate| rate * record.window_s);
    let (units, name) = match record.kind().unit {
        Unit::Bits => (over_window("received_bits_per_s")? / 8.0 / f64::from(1 << 30), "GiB"),
        Unit::Messages => {
            (metric("messages").or_else(|| over_window("messages_per_s"))?, "message")
        }
        Unit::Packets => (over_window("received_packets_per_s")?, "packet received"),
        Unit::Requests | Unit::Connections | Unit::Echoes => {
            (over_window("requests_per_s")?, "request")
        }
    };
    (units.is_finite() && units > 0.0).then_some((units, name))
}

fn process_text(
    process: &BTreeMap<String, f64>,
    window_s: f64,
    work: Option<(f64, &str)>,
) -> String {
    let mut parts = Vec::new();
    let (user, system) = (process.get("user_s").copied(), process.get("system_s").copied());
    if let (Some(user), Some(system)) = (user, system) {
        // The time between the readings is a little longer than the window; the cores are of that
        // time.
        let busy = process.get("cores").copied().unwrap_or((user + system) / window_s);
        let all = user + system;
        let part = |own_s: f64| cores(if all > 0.0 { busy * own_s / all } else { 0.0 });
        parts.push(format!(
            "{} cores ({} user + {} system)",
            cores(busy),
            part(user),
            part(system)
        ));
        parts.extend(each(busy * window_s, work));
    }
    let whole = !parts.is_empty();
    let switches = process.get("voluntary_switches").zip(process.get("involuntary_switches"));
    parts.extend(
        switches.map(|(waits, forced)| {
            format!("{} waits, {} preemptions", plain(*waits), plain(*forced))
        }),
    );
    for (name, value) in process {
        match name.as_str() {
            "user_s" | "system_s" | "cores" if whole => {}
            "voluntary_switches" | "involuntary_switches" if switches.is_some() => {}
            // The peak is since the process began, which for a server is other people's tests.
            "max_rss_bytes" if process.contains_key("rss_bytes") => {}
            "max_rss_bytes" => parts.push(format!("{} resident at most", bytes(*value))),
            "rss_bytes" => parts.push(format!("{} resident", bytes(*value))),
            "throttled_ratio" | "throttled_times" => {}
            name if name.starts_with("nic_") => {}
            name => parts.push(format!("{} {}", name.replace('_', " "), by_name(name, *value))),
        }
    }
    parts.extend(stopped_text(process));
    parts.extend(nic_text(process));
    parts.join(", ")
}

/// `stopped by a CPU quota 12 times, for 38 % of the window`.
fn stopped_text(process: &BTreeMap<String, f64>) -> Option<String> {
    let figure = |name: &str| process.get(&format!("throttled_{name}")).copied();
    let (times, ratio) = (figure("times").filter(|times| *times > 0.0)?, figure("ratio")?);
    let times = counted(times as u64, "time", "times");
    Some(format!("stopped by a CPU quota {times}, for {} of the window", share(ratio)))
}

/// `NIC received 1.21 Gbit/s in 104000 packets/s, sent ...`.
fn nic_text(process: &BTreeMap<String, f64>) -> Option<String> {
    let rate = |name: &str| process.get(&format!("nic_{name}_per_s")).copied();
    let way = |way: &str| {
        let (bytes, packets) = (rate(&format!("{way}_bytes"))?, rate(&format!("{way}_packets"))?);
        Some(format!("{} in {} packets/s", bit_rate(8.0 * bytes), per_s(packets)))
    };
    Some(format!("NIC received {}, sent {}", way("rx")?, way("tx")?))
}

/// CPU time for one unit of work.
fn each(cpu_s: f64, work: Option<(f64, &str)>) -> Option<String> {
    let (units, name) = work?;
    Some(format!("{} CPU per {name}", time_ns(cpu_s * 1e9 / units)))
}

fn machine(page: &mut Page, node: &NodeCost, name: &str, window_s: f64, work: Option<(f64, &str)>) {
    let mut parts = Vec::new();
    let of = match node.per_cpu_busy.len() {
        0 => String::new(),
        n => format!(" of {n}"),
    };
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    // Where the kernel's ticks missed what processes did, it is what these used: others may have
    // used more.
    let least =
        node.meters.get("cpu").is_some_and(|meter| meter.contains_key("sampled_busy_cores"));
    let least = if least { "at least " } else { "" };
    parts.push(format!("{name}{least}{}{of} cores busy", cores(node.busy_cores)));
    parts.push(format!("{} in softirq", cores(node.softirq_cores)));
    if node.steal_cores > 0.005 {
        parts.push(format!("{} stolen", cores(node.steal_cores)));
    }
    // A machine's time comes in ticks.
    if node.busy_cores * window_s >= FEW_TICKS_S {
        parts.extend(each(node.busy_cores * window_s, work).map(|text| format!("{least}{text}")));
    }
    parts.push(format!("{} context switches/s", per_s(node.context_switches_per_s)));
    page.field("machine", &parts.join(", "));
    page.field("busiest CPUs", &cpus(node));
    page.field("trouble", &troubles(node));
}

/// The CPUs that did most, as one that is full limits a path whose machine is idle.
fn cpus(node: &NodeCost) -> String {
    let mut busy: Vec<(usize, f64)> =
        node.per_cpu_busy.iter().copied().enumerate().filter(|(_, share)| *share >= BUSY).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let more = busy.len().saturating_sub(MOST_CPUS);
    let mut texts: Vec<_> = busy
        .iter()
        .take(MOST_CPUS)
        .map(|(cpu, busy)| {
            let softirq = node.per_cpu_softirq.get(*cpu).copied().unwrap_or(0.0);
            format!("{cpu}: {} (softirq {})", share(*busy), share(softirq))
        })
        .collect();
    if more > 0 {
        texts.push(format!("{more} more above {}", share(BUSY)));
    }
    texts.join(", ")
}

fn troubles(node: &NodeCost) -> String {
    let mut found: Vec<_> = node
        .meters
        .iter()
        .flat_map(|(meter, figures)| figures.iter().map(move |(name, value)| (meter, name, *value)))
        .filter(|(_, name, value)| *value != 0.0 && TROUBLE.iter().any(|part| name.contains(part)))
        .map(|(meter, name, value)| format!("{meter} {name} {}", by_name(name, value)))
        .collect();
    let more = found.len().saturating_sub(MOST_TROUBLES);
    found.truncate(MOST_TROUBLES);
    if more > 0 {
        found.push(format!("{more} more in the record"));
    }
    found.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nic_has_both_ways() {
        let text = |names: &[&str]| {
            let rates = ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"].iter().zip(1_u8..);
            let known = rates.filter(|(name, _)| names.contains(name));
            let process = known
                .map(|(name, rate)| (format!("nic_{name}_per_s"), 1e6 * f64::from(rate)))
                .collect();
            process_text(&process, 1.0, None)
        };
        let all = text(&["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"]);
        assert_eq!(
            all,
            "NIC received 8.000 Mbit/s in 2.000 M packets/s, sent 24.00 Mbit/s in 4.000 M packets/s"
        );
        assert_eq!(text(&["rx_bytes", "tx_bytes"]), "");
    }

    #[test]
    fn a_quota_is_told_where_it_stopped_something() {
        let text = |ratio: f64, times: f64| {
            let figures = [("throttled_ratio", ratio), ("throttled_times", times)];
            process_text(&figures.map(|(name, value)| (name.to_owned(), value)).into(), 1.0, None)
        };
        assert_eq!(text(0.38, 12.0), "stopped by a CPU quota 12 times, for 38 % of the window");
        assert_eq!(text(0.02, 1.0), "stopped by a CPU quota 1 time, for 2 % of the window");
        assert_eq!(text(0.0, 0.0), "");
    }
}
