//! `crr` over loopback: counts, descriptors, failures.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, like tests")]

#[path = "common_crr/netns.rs"]
mod netns;
#[path = "common_crr/pair.rs"]
mod pair;
#[path = "common_crr/trial.rs"]
mod trial;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopbench_load::workload;
use hopbench_model::{
    Counter, EndReport, EngineKind, FaultKind, LatencyKind, SECOND, Schedule, WarningKind,
};
use pair::run_both;
use serde_json::json;
use trial::{job, run_client};

/// Descriptors are counted for the whole process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn of(end: &EndReport, counter: Counter) -> u64 {
    end.drained.of(counter)
}

#[test]
fn both_ends_count_the_same_on_every_engine_and_leave_nothing_open() {
    let _turn = alone();
    for &engine in EngineKind::ALL {
        let before = open_files();
        let mut job = job("crr", engine, json!({"size": ["100B"], "response": "3000B"}));
        job.connections = 3;
        let outcome = run_both(&job, loopback(0)).unwrap();
        assert_eq!(outcome.faults, [], "{engine}");
        let (client, server) = (&outcome.client, outcome.server.as_ref().unwrap());
        let done = of(client, Counter::Completed);
        assert!(done >= 10, "{engine}: {done} exchanges");
        for counter in [Counter::Completed, Counter::Connects] {
            assert_eq!(of(client, counter), of(server, counter), "{engine}: {}", counter.name());
        }
        assert_eq!(of(client, Counter::Connects), done, "{engine}");
        assert_eq!(of(client, Counter::Sent), done, "{engine}");
        for (sender, receiver, bytes) in [(client, server, 100), (server, client, 3000)] {
            assert_eq!(of(sender, Counter::SentBytes), done * bytes, "{engine}");
            assert_eq!(of(receiver, Counter::ReceivedBytes), done * bytes, "{engine}");
        }
        assert_eq!(client.errors.len(), 0, "{engine}: {:?}", client.errors);
        let counted = of(client, Counter::Counted);
        for kind in [LatencyKind::Service, LatencyKind::Reply] {
            assert_eq!(outcome.histogram_count(kind), counted, "{engine}: {}", kind.name());
        }
        assert!(outcome.histogram_count(LatencyKind::Connect).abs_diff(counted) <= 3, "{engine}");
        let figures = outcome.figures();
        assert!(figures.invariants.iter().all(|i| i.ok), "{engine}: {:?}", figures.invariants);
        assert_eq!(figures.metrics["connections_per_s"], counted as f64 * 5.0, "{engine}");
        assert_eq!(figures.metrics["no_local_port"], 0.0, "{engine}");
        assert_eq!(open_files(), before, "{engine}: files left open");
    }
}

#[test]
fn a_message_larger_than_a_call_arrives_whole() {
    let _turn = alone();
    for engine in [EngineKind::Epoll, EngineKind::Threads] {
        let job = job("crr", engine, json!({"size": ["1000001B"]}));
        let outcome = run_both(&job, loopback(0)).unwrap();
        assert_eq!(outcome.faults, []);
        let (client, server) = (&outcome.client, outcome.server.as_ref().unwrap());
        let done = of(client, Counter::Completed);
        assert!(done >= 1);
        assert_eq!(of(server, Counter::ReceivedBytes), done * 1_000_001);
        assert_eq!(of(client, Counter::ReceivedBytes), done * 1_000_001);
        assert_eq!(client.errors.len(), 0, "{:?}", client.errors);
    }
}

#[test]
fn a_schedule_is_kept_to_the_exchange() {
    let _turn = alone();
    let mut job = job("crr", EngineKind::Epoll, json!({"size": ["1B"]}));
    (job.schedule, job.connections) = (Schedule::Rate(200.0), 8);
    job.timing.window_ns = SECOND / 2;
    let outcome = run_both(&job, loopback(0)).unwrap();
    assert_eq!(outcome.faults, []);
    assert_eq!(of(&outcome.client, Counter::Intended), 100);
    assert_eq!(of(&outcome.client, Counter::Counted), 100);
    for kind in
        [LatencyKind::Response, LatencyKind::Service, LatencyKind::Reply, LatencyKind::Lateness]
    {
        assert_eq!(outcome.histogram_count(kind), 100, "{}", kind.name());
    }
}

#[test]
fn nobody_there_is_the_environments_fault() {
    let _turn = alone();
    let free = TcpListener::bind(loopback(0)).unwrap().local_addr().unwrap();
    let fault = run_client(&job("crr", EngineKind::Epoll, json!({"size": ["1B"]})), free)
        .map(|_| ())
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Environment);
    assert!(
        fault.text.contains(&free.to_string()) && fault.text.contains("refused"),
        "{}",
        fault.text
    );
}

#[test]
fn a_server_that_says_nothing_costs_timeouts_and_no_descriptors() {
    let _turn = alone();
    // Connections stand as soon as the kernel has queued them; nobody ever answers.
    let silent = TcpListener::bind(loopback(0)).unwrap();
    for engine in [EngineKind::Epoll, EngineKind::Spin, EngineKind::Threads] {
        let before = open_files();
        let mut job = job("crr", engine, json!({"size": ["1B"]}));
        (job.connections, job.timing.timeout_ns) = (2, 40_000_000);
        let outcome = run_client(&job, silent.local_addr().unwrap()).unwrap();
        assert_eq!(outcome.faults, [], "{engine}");
        let client = &outcome.client;
        assert_eq!(of(client, Counter::Completed), 0, "{engine}");
        // Two flows, 200 ms, 40 ms each: ten at most, and the machine may be busy.
        let timeouts = of(client, Counter::Timeouts);
        assert!((4..=12).contains(&timeouts), "{engine}: {timeouts} timeouts");
        assert_eq!(of(client, Counter::Errors), timeouts, "{engine}");
        assert_eq!(client.errors.keys().collect::<Vec<_>>(), ["timeout"], "{engine}");
        assert_eq!(open_files(), before, "{engine}: files left open");
    }
}

#[test]
fn a_server_that_hangs_up_is_told_from_one_that_is_silent() {
    let _turn = alone();
    let listener = TcpListener::bind(loopback(0)).unwrap();
    let target = listener.local_addr().unwrap();
    // Each connection is closed unread: an end of stream if the request was not there yet, a reset
    // if it was.
    let rude = std::thread::spawn(move || {
        let mut turned_away = 0u64;
        for stream in listener.incoming().flatten() {
            // The client's last word: the stopping test's own connection comes from a port of its
            // choice.
            if stream
                .peer_addr()
                .is_ok_and(|peer| peer.ip() == std::net::Ipv4Addr::new(127, 0, 0, 2))
            {
                break;
            }
            turned_away += 1;
        }
        turned_away
    });
    let outcome =
        run_client(&job("crr", EngineKind::Epoll, json!({"size": ["1B"]})), target).unwrap();
    let stop = hopbench_sys::Socket::tcp(target).unwrap();
    stop.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    stop.connect(target).unwrap();
    let turned_away = rude.join().unwrap();
    assert_eq!(outcome.faults, []);
    let client = &outcome.client;
    let errors = of(client, Counter::Errors);
    assert!(errors > 0);
    assert_eq!(of(client, Counter::Completed), 0);
    assert_eq!(of(client, Counter::Connects), errors, "every failure was a connection of its own");
    assert_eq!(turned_away, errors + 1, "one more: the look whether anybody is there");
    assert!(
        client.errors.keys().all(|reason| reason == "closed_early" || reason == "reset"),
        "{:?}",
        client.errors
    );
}

#[test]
fn ports_that_run_out_are_reported_as_such() {
    // The pipes of the program inside are open files, too.
    let _turn = alone();
    let setup = "echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range";
    netns::inside("ports_that_run_out_are_reported_as_such", setup, || {
        let mut job = job("crr", EngineKind::Epoll, json!({"size": ["1B"]}));
        // Thirty connections at once and ten ports.
        job.connections = 30;
        let outcome = run_both(&job, loopback(7474)).unwrap();
        assert_eq!(outcome.faults, []);
        let (client, server) = (&outcome.client, outcome.server.as_ref().unwrap());
        assert_eq!(
            client.errors.keys().collect::<Vec<_>>(),
            ["no_local_port"],
            "{:?}",
            client.errors
        );
        assert!(of(client, Counter::Completed) > 10, "ports are used again: {:?}", client.drained);
        assert_eq!(of(client, Counter::Completed), of(server, Counter::Completed));
        let figures = outcome.figures();
        assert!(figures.metrics["no_local_port"] >= 20.0, "{:?}", figures.metrics);
        let warning =
            figures.warnings.iter().find(|w| w.kind == WarningKind::PortExhaustion).unwrap();
        assert!(warning.next.contains("net.ipv4.ip_local_port_range"), "{}", warning.next);
        assert!(figures.invariants.iter().all(|i| i.ok), "{:?}", figures.invariants);
    });
}

#[test]
fn eight_ports_serve_many_connections_because_the_server_closes_first() {
    let _turn = alone();
    // The client's look whether anybody is there holds one of them for a minute. Another is free
    // only when the server's kernel has answered the client's FIN, which can be after the next
    // connect.
    let setup = "echo '40000 40007' > /proc/sys/net/ipv4/ip_local_port_range";
    netns::inside(
        "eight_ports_serve_many_connections_because_the_server_closes_first",
        setup,
        || {
            let outcome =
                run_both(&job("crr", EngineKind::Epoll, json!({"size": ["1B"]})), loopback(7474))
                    .unwrap();
            assert_eq!(outcome.faults, []);
            let client = &outcome.client;
            assert!(of(client, Counter::Completed) > 20, "{:?}", client.drained);
            assert!(!client.errors.contains_key("no_local_port"), "{:?}", client.errors);
        },
    );
}

#[test]
fn sizes_out_of_range_are_named() {
    let crr = workload("crr").unwrap();
    let job = job("crr", EngineKind::Epoll, json!({"size": ["0B", "1B"], "response": "2GiB"}));
    let problems: Vec<_> = crr.problems(&job).into_iter().map(|p| (p.at, p.found)).collect();
    assert_eq!(
        problems,
        [("--size".to_owned(), "0B".to_owned()), ("--response".to_owned(), "2GiB".to_owned())]
    );
}
