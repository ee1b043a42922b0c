//! `ping` in network namespaces: both sorts of socket, both address families, hosts that do not
//! answer.

use std::net::{IpAddr, SocketAddr};

use hopbench_load::workload;
use hopbench_model::{Counter, EngineKind, FaultKind, Job, LatencyKind, SECOND, Schedule};
use serde_json::json;

use crate::inside::inside;
use crate::rig::{self, MS, Measured, run_client};

/// Lets every group open ICMP datagram sockets; without it only raw ones are to be had.
const DATAGRAMS: &str = "echo '0 0' > /proc/sys/net/ipv4/ping_group_range";
/// A network whose only host is this one: nobody answers for the others.
const EMPTY_NETWORK: &str = "ip link add v0 type veth peer name v1\n\
    ip address add 10.9.0.1/24 dev v0\n\
    ip address add fd09::1/64 dev v0 nodad\n\
    ip link set v1 up\n\
    ip link set v0 up";

fn ping_job(engine: EngineKind, count: u64, every: &str, size: u64, timeout_ns: u64) -> Job {
    let mut job = rig::job(
        "ping",
        engine,
        json!({"count": count, "every": every, "size": [size.to_string()]}),
    );
    job.timing.timeout_ns = timeout_ns;
    workload("ping").unwrap().settle(&mut job);
    job
}

fn ping(job: &Job, host: &str) -> Measured {
    run_client(job, SocketAddr::new(host.parse::<IpAddr>().unwrap(), 0)).unwrap()
}

/// Ten echoes with every engine to both loopback addresses, all answered, through sockets of this
/// sort.
fn ten_of_ten(kind: &str) {
    for &engine in EngineKind::ALL {
        for host in ["127.0.0.1", "::1"] {
            let outcome = ping(&ping_job(engine, 10, "20ms", 56, SECOND), host);
            let at = format!("{engine} {host}");
            assert_eq!(outcome.client.settings["icmp_socket"], kind, "{at}");
            let figures = outcome.figures();
            let of = |name: &str| figures.metrics[name];
            assert_eq!((of("transmitted"), of("received"), of("lost")), (10.0, 10.0, 0.0), "{at}");
            assert_eq!((of("lost_ratio"), of("duplicates")), (0.0, 0.0), "{at}");
            assert_eq!((of("intended_per_s").round(), of("unsent")), (50.0, 0.0), "{at}");
            assert!(!figures.metrics.contains_key("stale"), "{at}");
            assert_eq!(outcome.client(Counter::Sent), 10, "{at}");
            assert_eq!(outcome.latency(LatencyKind::Service).count(), 10, "{at}");
            assert_eq!(figures.warnings, [], "{at}");
        }
    }
}

#[test]
fn ten_echoes_over_raw_sockets() {
    inside("", || ten_of_ten("raw"));
}

#[test]
fn ten_echoes_over_datagram_sockets() {
    inside(DATAGRAMS, || {
        ten_of_ten("datagram");
    });
}

/// Payloads of every awkward size, and the largest while dozens of raw sockets are open: each takes
/// in its own replies only, or its buffer would be full of the others'.
fn all_sizes(kind: &str) {
    for host in ["127.0.0.1", "::1"] {
        for size in [0, 1, 7, 8, 9, 1472, 65_507] {
            let job = ping_job(EngineKind::Epoll, 40, "5ms", size, SECOND);
            assert_eq!(job.connections, 64);
            let outcome = ping(&job, host);
            assert_eq!(outcome.client.settings["icmp_socket"], kind);
            assert_eq!(
                outcome.client.errors.len(),
                0,
                "{host} {size}: {:?}",
                outcome.client.errors
            );
            assert_eq!(outcome.client(Counter::Counted), 40, "{host} {size}");
            for counter in [Counter::SentBytes, Counter::ReceivedBytes] {
                assert_eq!(outcome.client(counter), 40 * size, "{host} {size} {}", counter.name());
            }
        }
    }
}

#[test]
fn sizes_over_raw_sockets() {
    inside("", || all_sizes("raw"));
}

#[test]
fn sizes_over_datagram_sockets() {
    inside(DATAGRAMS, || {
        all_sizes("datagram");
    });
}

#[test]
fn echoes_that_nobody_answers_are_lost_after_the_timeout() {
    inside(EMPTY_NETWORK, || {
        for host in ["10.9.0.2", "fd09::2"] {
            for &engine in EngineKind::ALL {
                let outcome = ping(&ping_job(engine, 5, "20ms", 56, 100 * MS), host);
                let errors: Vec<_> =
                    outcome.client.errors.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
                assert_eq!(errors, [("lost", 5)], "{engine} {host}");
                assert_eq!(outcome.client(Counter::Timeouts), 5, "{engine} {host}");
                let figures = outcome.figures();
                assert_eq!(figures.metrics["lost_ratio"], 1.0, "{engine} {host}");
                assert!(figures.warnings[0].detail.contains("5 of 5"), "{:?}", figures.warnings);
            }
        }
    });
}

/// The kernel gives up to resolve a neighbour after three seconds and says so.
fn reported_as_unreachable() {
    for host in ["10.9.0.2", "fd09::2"] {
        let outcome = ping(&ping_job(EngineKind::Epoll, 3, "20ms", 56, 8 * SECOND), host);
        let errors: Vec<_> =
            outcome.client.errors.iter().map(|(reason, n)| (reason.as_str(), *n)).collect();
        assert_eq!(errors, [("host_unreachable", 3)], "{host}");
        assert_eq!(outcome.client(Counter::Timeouts), 0, "{host}");
    }
}

#[test]
fn an_unreachable_host_is_told_from_loss_by_raw_sockets() {
    inside(EMPTY_NETWORK, reported_as_unreachable);
}

#[test]
fn an_unreachable_host_is_told_from_loss_by_datagram_sockets() {
    let setup = format!("{EMPTY_NETWORK}\n{DATAGRAMS}");
    inside(&setup, reported_as_unreachable);
}

#[test]
fn an_address_without_a_route_is_the_environments_fault() {
    inside("", || {
        let job = ping_job(EngineKind::Epoll, 1, "20ms", 56, SECOND);
        let fault = run_client(&job, "192.0.2.1:0".parse().unwrap()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Environment);
        assert!(
            fault.text.contains("192.0.2.1") && fault.text.contains("unreachable"),
            "{}",
            fault.text
        );
    });
}

#[test]
fn a_missing_right_is_explained_with_both_ways_out() {
    let setup = "WRAP='setpriv --bounding-set=-net_raw --inh-caps=-net_raw'";
    inside(setup, || {
        let job = ping_job(EngineKind::Epoll, 1, "20ms", 56, SECOND);
        let fault = run_client(&job, "127.0.0.1:0".parse().unwrap()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Environment);
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ping_group_range").unwrap();
        let range = range.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["net.ipv4.ping_group_range", &format!("`{range}`"), "CAP_NET_RAW", "setcap"] {
            assert!(fault.text.contains(part), "{part} is missing in: {}", fault.text);
        }
    });
}

#[test]
fn times_and_sockets_follow_from_the_flags() {
    let job = ping_job(EngineKind::Epoll, 10, "20ms", 56, 95 * MS);
    assert_eq!(job.schedule, Schedule::Rate(50.0));
    assert_eq!(job.connections, 6);
    assert_eq!((job.timing.warmup_ns, job.timing.window_ns), (0, 200 * MS - 100));
    assert_eq!(ping_job(EngineKind::Epoll, 1, "1ms", 56, SECOND).connections, 64);
    let mut open_end = rig::job("ping", EngineKind::Epoll, json!({"every": "1s", "size": ["56B"]}));
    (open_end.timing.warmup_ns, open_end.timing.window_ns) = (SECOND, 7 * SECOND);
    workload("ping").unwrap().settle(&mut open_end);
    assert_eq!((open_end.timing.warmup_ns, open_end.timing.window_ns), (SECOND, 7 * SECOND));
}

#[test]
fn flags_out_of_range_are_named() {
    let problems = |params: serde_json::Value| {
        let job = rig::job("ping", EngineKind::Epoll, params);
        workload("ping").unwrap().problems(&job).into_iter().map(|p| p.at).collect::<Vec<_>>()
    };
    assert_eq!(problems(json!({"every": "1s", "size": ["0B", "65507B"]})), Vec::<String>::new());
    assert_eq!(problems(json!({"every": "1s", "size": ["65508B"]})), ["--size"]);
    assert_eq!(problems(json!({"every": "0s", "size": ["56B"]})), ["--every"]);
    assert_eq!(problems(json!({"every": "1s", "size": ["56B"], "count": 0})), ["--count"]);
    assert_eq!(problems(json!({"every": "1h", "size": ["56B"], "count": 25})), ["--count"]);
    assert_eq!(problems(json!({"every": "1s", "size": ["56B"], "retries": 1})), ["ping"]);
}
