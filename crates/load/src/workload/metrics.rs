//! The metrics that records can have, by workload.

use hopbench_model::Job;

/// Of all that asks and is answered.
const EXCHANGES: &[&str] = &["requests_per_s", "requests", "errors", "error_ratio"];
/// Of an open loop.
const OPEN_LOOP: &[&str] = &["intended_per_s", "queued", "unsent"];
/// Of each direction of a stream.
const STREAM: &[&str] = &[
    "sent_bits_per_s",
    "received_bits_per_s",
    "acknowledged_bits_per_s",
    "retransmitted_bytes",
    "retransmitted_segments",
    "smoothed_rtt_ns",
    "receive_window_limited_ratio",
    "send_buffer_limited_ratio",
    "queued_bytes",
    "receive_queue_bytes",
    "written_minus_received_bytes",
    "in_proxies_bytes",
];
const PUSH: &[&str] = &[
    "messages_per_s",
    "messages",
    "min_messages_per_connection",
    "max_messages_per_connection",
    "received_bits_per_s",
    "sent_bits_per_s",
    "retransmitted_bytes",
    "retransmitted_segments",
    "intended_per_s",
    "unsent",
    "late",
];
const UDP: &[&str] = &[
    "received_packets_per_s",
    "received_bits_per_s",
    "sent_packets_per_s",
    "sent_bits_per_s",
    "errors",
    "lost_packets",
    "lost_ratio",
    "reordered",
    "duplicates",
    "jitter_ns",
    "gso_segments",
];
const PING: &[&str] =
    &["received", "transmitted", "lost", "lost_ratio", "duplicates", "stale", "intended_per_s", "queued", "unsent"];
const HTTP: &[&str] = &[
    "sent_bits_per_s",
    "received_bits_per_s",
    "connects",
    "reconnects",
    "response_body_bytes",
    "response_header_bytes",
    "unexpected_sizes",
];
const CRR: &[&str] = &["connections_per_s", "connects", "no_local_port", "left_open_by_server", "refused_flows"];

/// The metrics that a record of a job can have from its workload, its throughput first; empty for a
/// workload that is not known. Which of them it has depends on what happened.
pub fn metrics(job: &Job) -> Vec<String> {
    let lists: &[&[&str]] = match job.workload.as_str() {
        "stream" => {
            let mut out: Vec<String> = STREAM.iter().map(|name| (*name).to_owned()).collect();
            if job.params.get("direction").is_some_and(|direction| direction == "both") {
                out.truncate(2);
                for prefix in ["to_server_", "from_server_"] {
                    out.extend(STREAM.iter().map(|name| format!("{prefix}{name}")));
                }
            }
            out.swap(0, 1);
            return out;
        }
        "push" => &[PUSH],
        "udp" => &[UDP],
        "ping" => &[PING],
        "rr" => &[EXCHANGES, &["retransmitted_segments", "lost"]],
        "crr" => &[CRR, EXCHANGES],
        "http" => &[EXCHANGES, HTTP],
        _ => &[],
    };
    let open: &[&str] = if job.schedule.per_s().is_some() { OPEN_LOOP } else { &[] };
    let own = || lists.iter().flat_map(|list| list.iter());
    let more = open.iter().filter(|name| own().all(|known| known != *name));
    own().chain(more).map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopbench_model::{Counter, Counts, EndReport, SECOND, Schedule, TcpTotals, Tick, fixture};
    use serde_json::{Value, json};

    use super::*;
    use crate::WORKLOADS;
    use crate::workload::TrialReports;

    fn job(workload: &str, params: Value, schedule: Schedule) -> Job {
        Job { connections: 4, schedule, ..fixture::job(workload, params) }
    }

    /// An end to which all that can happen has happened.
    fn end() -> EndReport {
        let all: serde_json::Map<_, _> =
            Counter::ALL.iter().map(|counter| (counter.name().to_owned(), json!(100))).collect();
        let counts: Counts = serde_json::from_value(Value::Object(all)).expect("counts");
        let extra = [
            "jitter_sum_ns",
            "jitter_flows",
            "late_messages",
            "left_open_by_server",
            "refused_flows",
            "unexpected_sizes",
            "min_messages_per_connection",
            "max_messages_per_connection",
        ];
        let tcp = Some(TcpTotals::default());
        EndReport {
            window_ns: SECOND,
            end: Tick { t_ns: SECOND as i64, counts, tcp, ..Tick::default() },
            drained: counts,
            extra: extra.map(|name| (name.to_owned(), 3.0)).into(),
            errors: ["lost", "no_local_port"].map(|reason| (reason.to_owned(), 2)).into(),
            ..EndReport::default()
        }
    }

    #[test]
    fn every_metric_of_a_workload_is_listed_and_its_throughput_comes_first() {
        let end = end();
        for workload in WORKLOADS {
            let params = match workload.name() {
                "stream" => json!({"size": "64KiB", "direction": "both", "receive": "copy"}),
                "udp" => json!({"size": "100B", "rate": "1000pps", "gso": 4}),
                _ => json!({"size": "64B"}),
            };
            for schedule in [Schedule::Closed, Schedule::Rate(100.0)] {
                let job = job(workload.name(), params.clone(), schedule);
                let listed = metrics(&job);
                assert_eq!(listed[0], workload.throughput());
                for proxied in [false, true] {
                    let trial =
                        TrialReports { job: &job, client: &end, server: Some(&end), shared_clock: true, proxied };
                    let made = workload.figures(&trial).metrics;
                    let more: Vec<_> = made.keys().filter(|name| !listed.contains(name)).collect();
                    assert!(more.is_empty(), "{}: {more:?} not in {listed:?}", workload.name());
                    assert!(made.len() >= 4, "{}: {made:?}", workload.name());
                }
                assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "{}", workload.name());
            }
        }
        assert!(metrics(&job("dns", json!({}), Schedule::Closed)).is_empty());
    }
}
