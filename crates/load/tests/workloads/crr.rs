//! `crr` over loopback: counts, descriptors, failures.

use std::net::{SocketAddr, TcpListener};

use hopbench_load::workload;
use hopbench_model::{
    Counter, EngineKind, FaultKind, Job, LatencyKind, SECOND, Schedule, WarningKind,
};
use serde_json::{Value, json};

use crate::inside::inside;
use crate::rig::{self, Trial, alone, open_files, run, run_client, total};

fn job(engine: EngineKind, params: Value) -> Job {
    let mut job = rig::job("crr", engine, params);
    job.timing.window_ns = SECOND / 5;
    job
}

/// One connection after the other, with a byte each.
fn smallest(engine: EngineKind) -> Job {
    job(engine, json!({"size": ["1B"]}))
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

#[test]
fn both_ends_count_the_same_on_every_engine_and_leave_nothing_open() {
    for &engine in EngineKind::ALL {
        let mut job = job(engine, json!({"size": ["100B"], "response": "3000B"}));
        job.connections = 3;
        let outcome = run(&job);
        let (client, server) = (&outcome.client, &outcome.server);
        let done = total(client, Counter::Completed);
        assert!(done >= 10, "{engine}: {done} exchanges");
        for counter in [Counter::Completed, Counter::Connects] {
            assert_eq!(
                total(client, counter),
                total(server, counter),
                "{engine}: {}",
                counter.name()
            );
        }
        assert_eq!(total(client, Counter::Connects), done, "{engine}");
        assert_eq!(total(client, Counter::Sent), done, "{engine}");
        for (sender, receiver, bytes) in [(client, server, 100), (server, client, 3000)] {
            assert_eq!(total(sender, Counter::SentBytes), done * bytes, "{engine}");
            assert_eq!(total(receiver, Counter::ReceivedBytes), done * bytes, "{engine}");
        }
        assert_eq!(client.errors.len(), 0, "{engine}: {:?}", client.errors);
        let counted = total(client, Counter::Counted);
        for kind in [LatencyKind::Service, LatencyKind::Reply] {
            assert_eq!(outcome.latency(kind).count(), counted, "{engine}: {}", kind.name());
        }
        assert!(outcome.latency(LatencyKind::Connect).count().abs_diff(counted) <= 3, "{engine}");
        let figures = outcome.figures();
        assert_eq!(figures.metrics["connections_per_s"], counted as f64 * 5.0, "{engine}");
        assert_eq!(figures.metrics["no_local_port"], 0.0, "{engine}");
    }
}

#[test]
fn a_message_larger_than_a_call_arrives_whole() {
    for engine in [EngineKind::Epoll, EngineKind::Threads] {
        let outcome = run(&job(engine, json!({"size": ["1000001B"]})));
        let (client, server) = (&outcome.client, &outcome.server);
        let done = total(client, Counter::Completed);
        assert!(done >= 1);
        assert_eq!(total(server, Counter::ReceivedBytes), done * 1_000_001);
        assert_eq!(total(client, Counter::ReceivedBytes), done * 1_000_001);
        assert_eq!(client.errors.len(), 0, "{:?}", client.errors);
    }
}

#[test]
fn a_schedule_is_kept_to_the_exchange() {
    let mut job = smallest(EngineKind::Epoll);
    (job.schedule, job.connections) = (Schedule::Rate(200.0), 8);
    job.timing.window_ns = SECOND / 2;
    let outcome = run(&job);
    assert_eq!(total(&outcome.client, Counter::Intended), 100);
    assert_eq!(total(&outcome.client, Counter::Counted), 100);
    for kind in
        [LatencyKind::Response, LatencyKind::Service, LatencyKind::Reply, LatencyKind::Lateness]
    {
        assert_eq!(outcome.latency(kind).count(), 100, "{}", kind.name());
    }
}

#[test]
fn nobody_there_is_the_environments_fault() {
    let _alone = alone();
    let free = TcpListener::bind(loopback(0)).unwrap().local_addr().unwrap();
    let fault = run_client(&smallest(EngineKind::Epoll), free).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Environment);
    assert!(
        fault.text.contains(&free.to_string()) && fault.text.contains("refused"),
        "{}",
        fault.text
    );
}

#[test]
fn a_server_that_says_nothing_costs_timeouts_and_no_descriptors() {
    let _alone = alone();
    // Connections stand as soon as the kernel has queued them; nobody ever answers.
    let silent = TcpListener::bind(loopback(0)).unwrap();
    for engine in [EngineKind::Epoll, EngineKind::Spin, EngineKind::Threads] {
        let before = open_files();
        let mut job = smallest(engine);
        (job.connections, job.timing.timeout_ns) = (2, 40_000_000);
        let outcome = run_client(&job, silent.local_addr().unwrap()).unwrap();
        let client = &outcome.client;
        assert_eq!(total(client, Counter::Completed), 0, "{engine}");
        // Two flows, 200 ms, 40 ms each: ten at most, and the machine may be busy.
        let timeouts = total(client, Counter::Timeouts);
        assert!((4..=12).contains(&timeouts), "{engine}: {timeouts} timeouts");
        assert_eq!(total(client, Counter::Errors), timeouts, "{engine}");
        assert_eq!(client.errors.keys().collect::<Vec<_>>(), ["timeout"], "{engine}");
        assert_eq!(open_files(), before, "{engine}: files left open");
    }
}

#[test]
fn a_server_that_hangs_up_is_told_from_one_that_is_silent() {
    let _alone = alone();
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
    let outcome = run_client(&smallest(EngineKind::Epoll), target).unwrap();
    let stop = hopbench_sys::Socket::tcp(target).unwrap();
    stop.bind(SocketAddr::from(([127, 0, 0, 2], 0))).unwrap();
    stop.connect(target).unwrap();
    let turned_away = rude.join().unwrap();
    let client = &outcome.client;
    let errors = total(client, Counter::Errors);
    assert!(errors > 0);
    assert_eq!(total(client, Counter::Completed), 0);
    assert_eq!(
        total(client, Counter::Connects),
        errors,
        "every failure was a connection of its own"
    );
    assert_eq!(turned_away, errors + 1, "one more: the look whether anybody is there");
    assert!(
        client.errors.keys().all(|reason| reason == "closed_early" || reason == "reset"),
        "{:?}",
        client.errors
    );
}

#[test]
fn ports_that_run_out_are_reported_as_such() {
    let setup = "echo '40000 40009' > /proc/sys/net/ipv4/ip_local_port_range";
    inside(setup, || {
        let mut job = smallest(EngineKind::Epoll);
        // Thirty connections at once and ten ports.
        job.connections = 30;
        let outcome = Trial { port: 7474, ..Trial::of(&job) }.run();
        let (client, server) = (&outcome.client, &outcome.server);
        assert_eq!(
            client.errors.keys().collect::<Vec<_>>(),
            ["no_local_port"],
            "{:?}",
            client.errors
        );
        assert!(
            total(client, Counter::Completed) > 10,
            "ports are used again: {:?}",
            client.drained
        );
        assert_eq!(total(client, Counter::Completed), total(server, Counter::Completed));
        let figures = outcome.figures();
        assert!(figures.metrics["no_local_port"] >= 20.0, "{:?}", figures.metrics);
        let warning =
            figures.warnings.iter().find(|w| w.kind == WarningKind::PortExhaustion).unwrap();
        assert!(warning.next.contains("net.ipv4.ip_local_port_range"), "{}", warning.next);
    });
}

#[test]
fn eight_ports_serve_many_connections_because_the_server_closes_first() {
    // The client's look whether anybody is there holds one of them for a minute. Another is free
    // only when the server's kernel has answered the client's FIN, which can be after the next
    // connect.
    let setup = "echo '40000 40007' > /proc/sys/net/ipv4/ip_local_port_range";
    inside(setup, || {
        let outcome = Trial { port: 7474, ..Trial::of(&smallest(EngineKind::Epoll)) }.run();
        let client = &outcome.client;
        assert!(total(client, Counter::Completed) > 20, "{:?}", client.drained);
        assert!(!client.errors.contains_key("no_local_port"), "{:?}", client.errors);
    });
}

#[test]
fn sizes_out_of_range_are_named() {
    let crr = workload("crr").unwrap();
    let job = job(EngineKind::Epoll, json!({"size": ["0B", "1B"], "response": "2GiB"}));
    let problems: Vec<_> = crr.problems(&job).into_iter().map(|p| (p.at, p.found)).collect();
    assert_eq!(
        problems,
        [("--size".to_owned(), "0B".to_owned()), ("--response".to_owned(), "2GiB".to_owned())]
    );
}
