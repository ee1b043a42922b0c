//! The workloads: one file each.

use hopbench_model::Job;

use crate::workload::Workload;
use crate::workload::typed::Of;

mod crr;
mod grpc;
mod http;
mod ping;
mod push;
mod rr;
mod stream;
mod udp;

/// Every workload, in the order in which `hopbench list workloads` prints them.
pub const WORKLOADS: &[&dyn Workload] = &[
    &Of::<stream::Params>::NEW,
    &Of::<push::Params>::NEW,
    &Of::<rr::Params>::NEW,
    &Of::<crr::Params>::NEW,
    &Of::<udp::Params>::NEW,
    &Of::<ping::Params>::NEW,
    &Of::<http::Params>::NEW,
    &Of::<grpc::Params>::NEW,
];

/// The workload of this name.
pub fn workload(name: &str) -> Option<&'static dyn Workload> {
    WORKLOADS.iter().copied().find(|w| w.name() == name)
}

/// What an open loop adds to the metrics of its workload.
pub const OPEN_LOOP: &[&str] = &["intended_per_s", "queued", "behind_stall", "unsent"];

/// The metrics that a record of a job can have from its workload, its throughput first; empty for a
/// workload that is not known. Which of them it has depends on what happened.
pub fn metrics(job: &Job) -> Vec<String> {
    let Some(workload) = workload(&job.workload) else {
        return Vec::new();
    };
    let mut out = workload.metrics(job);
    let open: &[&str] = if job.schedule.per_s().is_some() { OPEN_LOOP } else { &[] };
    for name in open {
        if out.iter().all(|own| own != name) {
            out.push((*name).to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopbench_model::{Counter, Counts, EndReport, SECOND, Schedule, TcpTotals, Tick, fixture};
    use serde_json::{Value, json};

    use super::*;
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
                "udp" => json!({"size": "100B", "rate": "1000pps", "gso": 4, "batch": 2}),
                "http" | "grpc" => json!({"url": "http://h/"}),
                "ping" => json!({"size": "64B", "every": "10ms"}),
                "push" => json!({"size": "64B", "rate": 20.0, "stagger": "spread"}),
                _ => json!({"size": "64B"}),
            };
            for schedule in [Schedule::Closed, Schedule::Rate(100.0)] {
                let job = job(workload.name(), params.clone(), schedule);
                let listed = metrics(&job);
                assert_eq!(listed[0], workload.kind().unit.metric());
                for proxied in [false, true] {
                    let trial = TrialReports {
                        job: &job,
                        client: &end,
                        server: Some(&end),
                        shared_clock: true,
                        proxied,
                    };
                    let made = workload.figures(&trial).metrics;
                    let more: Vec<_> = made.keys().filter(|name| !listed.contains(name)).collect();
                    assert!(more.is_empty(), "{}: {more:?} not in {listed:?}", workload.name());
                    assert!(made.len() >= 4, "{}: {made:?}", workload.name());
                }
                assert_eq!(
                    listed.iter().collect::<BTreeSet<_>>().len(),
                    listed.len(),
                    "{}",
                    workload.name()
                );
            }
        }
        assert!(metrics(&job("dns", json!({}), Schedule::Closed)).is_empty());
    }

    /// A flow says by one byte which workload it is of.
    #[test]
    fn codes_are_of_one_workload() {
        let codes: Vec<u8> =
            WORKLOADS.iter().map(|workload| workload.code()).filter(|code| *code > 0).collect();
        assert_eq!(codes.iter().collect::<BTreeSet<_>>().len(), codes.len(), "{codes:?}");
        let alone = WORKLOADS.iter().filter(|workload| !workload.needs_agent());
        assert_eq!(
            alone.map(|workload| workload.name()).collect::<Vec<_>>(),
            ["ping", "http", "grpc"]
        );
    }
}
