//! The merge of several ends of one side, as if they were one.

use std::collections::BTreeMap;

use hopbench_model::{
    Counts, EndReport, FlowReport, LatencyKind, Nanos, TcpTotals, Tick, WorkerCounts,
};
use hopbench_stats::Histogram;

/// The number of flows that the merged report describes one by one.
const FLOWS_DESCRIBED: usize = 16;

/// The reports of several ends of one side as one: counts are summed, histograms merged, ticks of
/// one interval made one. Meters are left out: what they read belongs to one process and one
/// machine. `None` without reports.
///
/// A single report stays as it is.
pub(crate) fn merge(reports: &[&EndReport], interval_ns: Nanos) -> Option<EndReport> {
    let (first, rest) = reports.split_first()?;
    if rest.is_empty() {
        return Some((*first).clone());
    }
    let of =
        |pick: fn(&EndReport) -> &Tick| tick(&reports.iter().map(|r| pick(r)).collect::<Vec<_>>());
    let mut drained = Counts::default();
    reports.iter().for_each(|r| drained.add(&r.drained));
    Some(EndReport {
        start: of(|r| &r.start),
        end: of(|r| &r.end),
        workers: WorkerCounts::default(),
        drained,
        drained_tcp: tcp(reports.iter().filter_map(|r| r.drained_tcp)),
        ticks: ticks(reports, interval_ns),
        latency: latency(reports),
        statuses: sums(reports.iter().map(|r| &r.statuses)),
        errors: sums(reports.iter().map(|r| &r.errors)),
        extra: extra(reports),
        settings: settings(reports),
        flows: flows(reports),
        window_start_ns: first.window_start_ns,
        window_ns: reports.iter().map(|r| r.window_ns).max().unwrap_or(0),
        incomplete: reports.iter().find_map(|r| r.incomplete.clone()),
        shared: reports.iter().any(|r| r.shared),
        start_late_ns: reports.iter().map(|r| r.start_late_ns).max().unwrap_or(0),
        order_late_ns: reports.iter().map(|r| r.order_late_ns).max().unwrap_or(0),
        control_cpu_ns: reports.iter().map(|r| r.control_cpu_ns).sum(),
    })
}

/// The state of several ends at about the same moment.
pub(crate) fn tick(ticks: &[&Tick]) -> Tick {
    let mut counts = Counts::default();
    ticks.iter().for_each(|t| counts.add(&t.counts));
    let sum: i128 = ticks.iter().map(|t| i128::from(t.t_ns)).sum();
    let mean = sum / (ticks.len().max(1) as i128);
    Tick {
        t_ns: i64::try_from(mean).unwrap_or(0),
        counts,
        tcp: tcp(ticks.iter().filter_map(|t| t.tcp)),
        ..Tick::default()
    }
}

/// One tick for each interval at whose end every end was read. Where one end's control thread came
/// too late for its own, the next tick covers both intervals: counts are totals.
fn ticks(reports: &[&EndReport], interval_ns: Nanos) -> Vec<Tick> {
    let interval = i64::try_from(interval_ns.max(1)).unwrap_or(i64::MAX);
    let mut by_interval: BTreeMap<i64, Vec<&Tick>> = BTreeMap::new();
    for (seen, report) in reports.iter().enumerate() {
        for tick in &report.ticks {
            let group = by_interval
                .entry(tick.t_ns.saturating_add(interval / 2).div_euclid(interval))
                .or_default();
            // Of one end's two ticks in one interval the first counts; who missed an interval never
            // catches up in it.
            if group.len() == seen {
                group.push(tick);
            }
        }
    }
    by_interval
        .values()
        .filter(|group| group.len() == reports.len())
        .map(|group| tick(group))
        .collect()
}

fn tcp(all: impl Iterator<Item = TcpTotals>) -> Option<TcpTotals> {
    all.reduce(|a, b| {
        let connections = a.connections + b.connections;
        let weighted = u128::from(a.smoothed_rtt_ns) * u128::from(a.connections)
            + u128::from(b.smoothed_rtt_ns) * u128::from(b.connections);
        let min_rtt_ns = match (a.min_rtt_ns, b.min_rtt_ns) {
            // Zero is "not measured".
            (0, rtt) | (rtt, 0) => rtt,
            (a, b) => a.min(b),
        };
        TcpTotals {
            connections,
            acked_bytes: a.acked_bytes + b.acked_bytes,
            received_bytes: a.received_bytes + b.received_bytes,
            sent_bytes: a.sent_bytes + b.sent_bytes,
            retransmitted_bytes: a.retransmitted_bytes + b.retransmitted_bytes,
            retransmitted_segments: a.retransmitted_segments + b.retransmitted_segments,
            send_queue_bytes: a.send_queue_bytes + b.send_queue_bytes,
            not_sent_bytes: a.not_sent_bytes + b.not_sent_bytes,
            receive_queue_bytes: a.receive_queue_bytes + b.receive_queue_bytes,
            busy_ns: a.busy_ns + b.busy_ns,
            receive_window_limited_ns: a.receive_window_limited_ns + b.receive_window_limited_ns,
            send_buffer_limited_ns: a.send_buffer_limited_ns + b.send_buffer_limited_ns,
            smoothed_rtt_ns: u64::try_from(
                weighted.checked_div(u128::from(connections)).unwrap_or(0),
            )
            .unwrap_or(0),
            min_rtt_ns,
        }
    })
}

fn latency(reports: &[&EndReport]) -> BTreeMap<LatencyKind, String> {
    let mut merged: BTreeMap<LatencyKind, Histogram> = BTreeMap::new();
    for (kind, text) in reports.iter().flat_map(|r| &r.latency) {
        // One that does not read is missed by the invariant that counts what is in it.
        let _ = match merged.get_mut(kind) {
            Some(histogram) => histogram.merge_base64(text),
            None => Histogram::from_base64(text).map(|first| drop(merged.insert(*kind, first))),
        };
    }
    merged.iter().map(|(kind, histogram)| (*kind, histogram.to_base64())).collect()
}

fn sums<'a>(maps: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for (name, n) in maps.flatten() {
        *out.entry(name.clone()).or_default() += n;
    }
    out
}

/// Sums, but for what is named as a smallest or a largest.
fn extra(reports: &[&EndReport]) -> BTreeMap<String, f64> {
    let mut out: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in reports.iter().flat_map(|r| &r.extra) {
        let fold = match name {
            name if name.starts_with("min_") => f64::min,
            name if name.starts_with("max_") => f64::max,
            _ => |a: f64, b: f64| a + b,
        };
        out.entry(name.clone()).and_modify(|kept| *kept = fold(*kept, *value)).or_insert(*value);
    }
    out
}

/// The first end's settings, and those of the others that differ, with the end's number.
fn settings(reports: &[&EndReport]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (number, report) in (1..).zip(reports) {
        for (name, value) in &report.settings {
            match out.get(name) {
                None => drop(out.insert(name.clone(), value.clone())),
                Some(first) if first == value => {}
                Some(_) => drop(out.insert(format!("end{number}_{name}"), value.clone())),
            }
        }
    }
    out
}

/// A flow of each end, then another of each.
fn flows(reports: &[&EndReport]) -> Vec<FlowReport> {
    let longest = reports.iter().map(|r| r.flows.len()).max().unwrap_or(0);
    let turns = (0..longest).flat_map(|i| reports.iter().filter_map(move |r| r.flows.get(i)));
    turns.take(FLOWS_DESCRIBED).cloned().collect()
}

#[cfg(test)]
mod tests;
