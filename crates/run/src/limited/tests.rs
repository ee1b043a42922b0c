use hopbench_model::{Pacing, SECOND, Timing};
use serde_json::json;

use super::*;

fn job(workload: &str) -> Job {
    Job {
        workload: workload.to_owned(),
        params: json!({"size": "1472B"}),
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: SECOND, interval_ns: SECOND, timeout_ns: SECOND },
        seed: 1,
    }
}

/// A record of 1 s with these metrics.
fn record(metrics: &[(&str, f64)]) -> Record {
    let metrics: BTreeMap<_, _> = metrics.iter().copied().collect();
    serde_json::from_value(json!({
        "schema": "", "run_id": "", "path": "", "workload": "", "point": {}, "round": 1, "started_at": "",
        "window_s": 1.0, "limited_by": "", "metrics": metrics, "cost": {}, "proof": [], "invariants": [],
        "warnings": [], "job": {}, "environment": {},
    }))
    .unwrap()
}

fn by(workload: &str, metrics: &[(&str, f64)], busiest_cores: [f64; 2]) -> String {
    // 956.4 Mbit/s of TCP payload.
    let link = LinkRate { bits_per_s: 1_000_000_000, mtu_bytes: 1500, tunnel_bytes: 0, v6: false };
    limited(&job(workload), &record(metrics), &Limits { busiest_cores, link: Some(link) }).0
}

#[test]
fn a_full_link_is_the_limit_whatever_else_is_busy() {
    let full = [("sent_bits_per_s", 940e6), ("received_bits_per_s", 939e6), ("retransmitted_bytes", 5e6)];
    assert_eq!(by("stream", &full, [1.0, 1.0]), "nic", "a full link drops, and so bytes are sent again");
    assert_eq!(by("http", &[("received_bits_per_s", 920e6), ("sent_bits_per_s", 1e6)], [0.1, 0.1]), "nic");
    assert_eq!(by("stream", &[("sent_bits_per_s", 800e6), ("received_bits_per_s", 799e6)], [0.3, 1.0]), "cpu:server");
}

#[test]
fn directions_do_not_share_a_link() {
    let half = [
        ("sent_bits_per_s", 1000e6),
        ("received_bits_per_s", 1000e6),
        ("to_server_sent_bits_per_s", 500e6),
        ("to_server_received_bits_per_s", 500e6),
        ("from_server_sent_bits_per_s", 500e6),
        ("from_server_received_bits_per_s", 500e6),
    ];
    assert_eq!(by("stream", &half, [0.1, 0.1]), "unknown");
    let one = half.map(|(name, rate)| (name, if name.starts_with("from") { 950e6 } else { rate }));
    assert_eq!(by("stream", &one, [0.1, 0.1]), "nic");
}

#[test]
fn datagrams_that_were_dropped_before_the_link_do_not_fill_it() {
    assert_eq!(by("udp", &[("sent_bits_per_s", 5e9), ("received_bits_per_s", 960e6)], [0.1, 0.1]), "nic");
    assert_eq!(by("udp", &[("sent_bits_per_s", 5e9), ("received_bits_per_s", 400e6)], [1.0, 0.1]), "cpu:client");
}
