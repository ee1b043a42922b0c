//! Made-up records that look like real ones, one a workload.

mod one_way;

use std::collections::BTreeMap;

use hopbench_model::{
    Cost, Invariant, Latency, NodeCost, Proof, Record, Warning, WarningKind, fixture,
};
use hopbench_stats::Histogram;
use serde_json::{Value, json};

pub(crate) use self::one_way::{push, stream, stream_both, udp};

/// A record of this workload without any figures.
pub(crate) fn base(workload: &str, path: &str, params: &Value) -> Record {
    Record {
        run_id: "0192f1c4".to_owned(),
        path: path.to_owned(),
        workload: workload.to_owned(),
        started_at: "2026-03-01T12:00:00Z".to_owned(),
        window_s: 10.0,
        limited_by: "unknown".to_owned(),
        cost: Cost {
            client: figures(&[
                ("user_s", 0.42),
                ("system_s", 3.81),
                ("max_rss_bytes", 4_812_800.0),
                ("cores", 0.423),
                ("voluntary_switches", 98_211.0),
                ("involuntary_switches", 12.0),
            ]),
            server: figures(&[
                ("user_s", 0.31),
                ("system_s", 6.12),
                ("max_rss_bytes", 9_437_184.0),
            ]),
            nodes: vec![NodeCost {
                name: "worker-1".to_owned(),
                busy_cores: 1.21,
                softirq_cores: 0.31,
                steal_cores: 0.02,
                per_cpu_busy: vec![0.62, 0.02, 0.55, 0.02],
                per_cpu_softirq: vec![0.29, 0.0, 0.02, 0.0],
                per_cpu_steal: vec![0.0, 0.01, 0.0, 0.01],
                context_switches_per_s: 21_840.0,
                meters: BTreeMap::from([
                    (
                        "softnet".to_owned(),
                        figures(&[("processed", 1e6), ("dropped", 0.0), ("time_squeeze", 7.0)]),
                    ),
                    (
                        "netdev".to_owned(),
                        figures(&[("eth0_rx_bytes", 1e9), ("eth0_rx_drops", 12.0)]),
                    ),
                ]),
                unknown: Vec::new(),
            }],
            ..Cost::default()
        },
        proof: vec![
            proof("client", "10.244.1.7:41022 to 10.96.0.12:7474", true),
            proof("server", "saw 10.244.1.7:41022 arrive at 10.244.2.9:7474", true),
        ],
        settings: BTreeMap::from([
            ("address".to_owned(), "10.96.0.12:7474".to_owned()),
            ("addresses_not_used".to_owned(), "10.96.0.13:7474".to_owned()),
            ("clock".to_owned(), "two machines".to_owned()),
        ]),
        job: json!({
            "workload": workload, "params": params, "schedule": "closed", "engine": "epoll",
            "connections": 1,
            "threads": 1, "pacing": "sleep", "client_cpus": null, "server_cpus": null,
            "timing": {"warmup_ns": 1_000_000_000u64, "window_ns": 10_000_000_000u64,
                       "interval_ns": 1_000_000_000u64, "timeout_ns": 5_000_000_000u64},
            "seed": 42,
        }),
        ..fixture::record(&[])
    }
}

pub(crate) fn figures(list: &[(&str, f64)]) -> BTreeMap<String, f64> {
    list.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
}

pub(crate) fn proof(hop: &str, evidence: &str, ok: bool) -> Proof {
    Proof { hop: hop.to_owned(), evidence: evidence.to_owned(), ok }
}

pub(crate) fn invariant(name: &str, broken: Option<&str>) -> Invariant {
    Invariant {
        name: name.to_owned(),
        ok: broken.is_none(),
        detail: broken.unwrap_or_default().to_owned(),
    }
}

/// A distribution with a tail, in ns: most near `typical`, one in a hundred ten times that.
pub(crate) fn latency(count: u64, typical: u64) -> Latency {
    let mut histogram = Histogram::new();
    for i in 0..count {
        let spread = typical * (90 + i * 7 % 40) / 100;
        histogram.record(match i % 1000 {
            999 => spread * 60,
            n if n % 100 == 99 => spread * 10,
            _ => spread,
        });
    }
    histogram.summary()
}

fn latencies(list: &[(&str, Latency)]) -> BTreeMap<String, Latency> {
    list.iter().map(|(kind, latency)| ((*kind).to_owned(), latency.clone())).collect()
}

pub(crate) fn rr() -> Record {
    let mut record = base("rr", "10.0.0.2:7474", &json!({"size": ["1B"], "udp": false}));
    record.job["engine"] = json!("threads");
    record.settings.clear();
    record.metrics = figures(&[
        ("requests_per_s", 12_345.6),
        ("requests", 123_456.0),
        ("errors", 0.0),
        ("error_ratio", 0.0),
        ("retransmitted_segments", 0.0),
    ]);
    record.latency = latencies(&[("service_ns", latency(12_000, 78_000))]);
    record.invariants =
        vec![invariant("histogram_holds_every_request", None), invariant("served_le_sent", None)];
    record
}

pub(crate) fn rr_udp_lossy() -> Record {
    let mut record = base("rr", "db.test", &json!({"size": ["64B"], "udp": true}));
    record.job["connections"] = json!(8);
    record.job["threads"] = json!(2);
    record.job["schedule"] = json!({"poisson": 5000.0});
    record.job["pacing"] = json!("spin");
    record.settings = BTreeMap::from([(
        "address".to_owned(),
        "[fd00:10:244:0:aaaa:bbbb:cccc:dddd]:7474".to_owned(),
    )]);
    record.metrics = figures(&[
        ("requests_per_s", 4987.3),
        ("requests", 49_873.0),
        ("errors", 61.0),
        ("error_ratio", 61.0 / 49_934.0),
        ("intended_per_s", 4995.4),
        ("queued", 812.0),
        ("unsent", 20.0),
        ("lost", 61.0),
    ]);
    record.errors = BTreeMap::from([("timeout".to_owned(), 61)]);
    record.latency = latencies(&[
        ("response_ns", latency(9000, 131_000)),
        ("service_ns", latency(9000, 92_000)),
        ("lateness_ns", latency(9000, 700)),
    ]);
    record.warnings = vec![
        Warning::new(
            WarningKind::Errors,
            "61 of 49934 exchanges failed: 61 timeout",
            "look at the server first; failed exchanges are in no latency",
        ),
        Warning::new(
            WarningKind::Unsent,
            "20 requests were due and never sent: every connection was busy",
            "raise --connections or lower --rate; the latencies shown leave these requests out",
        ),
        Warning::new(WarningKind::FewSamples, "p99.99 rests on 5 samples", "take a longer --time"),
    ];
    record
}

pub(crate) fn crr() -> Record {
    let mut record = base("crr", "lb.example:7474", &json!({"size": ["1B"], "response": "1KiB"}));
    record.metrics = figures(&[
        ("requests_per_s", 2812.4),
        ("requests", 28_124.0),
        ("connections_per_s", 2812.4),
        ("connects", 28_126.0),
        ("no_local_port", 100.0),
        ("left_open_by_server", 0.0),
        ("errors", 104.0),
        ("error_ratio", 0.00368),
    ]);
    record.errors = BTreeMap::from([("no local port".to_owned(), 100), ("refused".to_owned(), 4)]);
    record.latency = latencies(&[
        ("service_ns", latency(5000, 310_000)),
        ("connect_ns", latency(5000, 122_000)),
        ("reply_ns", latency(5000, 181_000)),
    ]);
    record.limited_by = "generator".to_owned();
    record.limited_because = "local ports ran out".to_owned();
    record.warnings = vec![Warning::new(
        WarningKind::PortExhaustion,
        "28232 local ports were in use or in TIME_WAIT, 100 connects found none",
        "widen net.ipv4.ip_local_port_range, or lower --rate below 470 connections a second",
    )];
    record
}

pub(crate) fn ping() -> Record {
    let mut record =
        base("ping", "2001:db8::1", &json!({"count": 30, "interval": "1s", "size": "56B"}));
    record.window_s = 30.0;
    record.settings.clear();
    record.cost = Cost::default();
    record.proof.clear();
    record.job =
        json!({"workload": "ping", "params": {"count": 30, "interval": "1s", "size": "56B"}});
    record.metrics = figures(&[
        ("transmitted", 30.0),
        ("received", 29.0),
        ("lost", 1.0),
        ("lost_ratio", 1.0 / 30.0),
    ]);
    record.latency = latencies(&[("service_ns", latency(29, 412_000))]);
    record
}

pub(crate) fn http() -> Record {
    let mut record = base(
        "http",
        "http://web.default.svc.cluster.local/index.html?size=1024",
        &json!({"method": "GET", "headers": ["accept: */*", "x-env: prod"], "keep_alive": true}),
    );
    record.job["connections"] = json!(16);
    record.job["schedule"] = json!({"rate": 4000.0});
    record.settings = BTreeMap::from([("address".to_owned(), "10.96.33.7:80".to_owned())]);
    record.metrics = figures(&[
        ("requests_per_s", 3999.6),
        ("requests", 39_996.0),
        ("errors", 4.0),
        ("error_ratio", 0.0001),
        ("intended_per_s", 4000.0),
        ("queued", 9.0),
        ("unsent", 0.0),
        ("received_bits_per_s", 40.3e6),
        ("sent_bits_per_s", 3.9e6),
        ("response_body_bytes", 1024.0),
        ("response_header_bytes", 152.0),
        ("connects", 16.0),
        ("reconnects", 0.0),
        ("novel_figure", 12.5),
    ]);
    record.statuses = BTreeMap::from([("200".to_owned(), 39_950), ("503".to_owned(), 46)]);
    record.errors = BTreeMap::from([("connection reset".to_owned(), 3), ("timeout".to_owned(), 1)]);
    record.latency = latencies(&[
        ("response_ns", latency(8000, 1_310_000)),
        ("service_ns", latency(8000, 1_220_000)),
        ("lateness_ns", latency(8000, 61_000)),
    ]);
    record.warnings = vec![Warning::new(
        WarningKind::NotSteady,
        "requests/s fell by 12 % over the window",
        "raise --warmup, or look for what changed at the server",
    )];
    record
}

/// Everything that can be wrong at once, with texts that try to break out of the page.
pub(crate) fn broken() -> Record {
    let mut record = stream();
    record.explanation.clear();
    record.window_s = 3.2;
    record.incomplete = Some("a connection was lost: the other end closed it\nat 3.2 s".to_owned());
    record.invariants = vec![
        invariant("received_le_sent", Some("10485760 bytes sent, 10485799 received")),
        invariant("received_eq_sent_at_close", None),
        invariant("node_cpu_ge_processes", Some("")),
    ];
    record.invariants[2].ok = false;
    record.proof.push(proof(
        "server",
        "\x1b[31mpod srv-\u{fc}ber on node c, expected node b",
        false,
    ));
    record.proof.push(proof(&"a-very-long-hop-name-".repeat(6), &"x".repeat(120), true));
    record.metrics.insert("sent_bits_per_s".to_owned(), f64::NAN);
    record.metrics.insert("retransmitted_bytes".to_owned(), f64::INFINITY);
    record.metrics.insert("some_new_figure".to_owned(), -1.5e300);
    record.latency.insert("service_ns".to_owned(), Latency::default());
    record
}

/// A size sweep.
pub(crate) fn sweep() -> Vec<Record> {
    let points = [
        ("1B", 9.1e6, 7_200.0),
        ("64B", 570e6, 8_100.0),
        ("4KiB", 9.1e9, 120.0),
        ("256KiB", 23.4e9, 0.0),
    ];
    points
        .into_iter()
        .map(|(size, rate, errors)| {
            let mut record = rr();
            record.point = BTreeMap::from([("size".to_owned(), json!(size))]);
            record.job["params"]["size"] = json!([size]);
            record.metrics.insert("received_bits_per_s".to_owned(), rate);
            record.metrics.insert("errors".to_owned(), errors);
            if errors > 1000.0 {
                record.warnings = vec![Warning::new(WarningKind::Errors, "failed", "look")];
            }
            record
        })
        .collect()
}

/// The same exchange, busy-polled and blocking.
pub(crate) fn spin_and_threads() -> [Record; 2] {
    let mut spin = rr();
    spin.job["engine"] = json!("spin");
    spin.latency = latencies(&[("service_ns", latency(12_000, 8_100))]);
    [spin, rr()]
}
