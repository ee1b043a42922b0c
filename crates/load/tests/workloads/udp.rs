//! `udp` with both ends in one process: what is counted, not how fast it is.

use std::net::UdpSocket;
use std::time::Duration;

use hopbench_load::workload::points;
use hopbench_load::{HandshakeAnswer, HandshakeCodec};
use hopbench_model::{
    Counter, Counts, EndReport, EngineKind, Job, LatencyKind, SECOND, WarningKind,
};
use hopbench_sys::clock;

use crate::rig::handshake::{COOKIE, Plain};
use crate::rig::{MS, Measured, Server, Trial, alone, figures, latency, run, total, until};
use crate::scheduled;

#[test]
fn every_datagram_of_a_slow_schedule_arrives_once() {
    for (engine, connections) in [(EngineKind::Epoll, 1), (EngineKind::Threads, 2)] {
        let mut job = scheduled("udp", &["--rate", "1000pps"], connections, 0, 1000);
        job.engine = engine;
        let outcome = run(&job);
        let (client, server) = (&outcome.client, &outcome.server);
        assert_eq!(total(client, Counter::Intended), 1000);
        let sent = total(client, Counter::Sent);
        assert_eq!(sent + total(client, Counter::Unsent), 1000);
        assert_eq!(total(client, Counter::SentBytes), 16 * sent);
        assert_eq!(total(server, Counter::Completed), sent);
        assert_eq!(total(server, Counter::ReceivedBytes), 16 * sent);
        assert_eq!(latency(server, LatencyKind::Delay).count(), total(server, Counter::Counted));
        assert_eq!(latency(client, LatencyKind::Lateness).count(), sent);
        let metrics = outcome.figures().metrics;
        for name in ["lost_packets", "lost_ratio", "reordered", "duplicates", "errors"] {
            assert_eq!(metrics[name], 0.0, "{name}");
        }
        assert_eq!(metrics["intended_per_s"], 1000.0);
        assert!(metrics["jitter_ns"] >= 0.0);
        assert!(!metrics.contains_key("gso_segments"));
    }
}

#[test]
fn a_bit_rate_holds_for_each_size_of_a_sweep() {
    let job = scheduled("udp", &["--rate", "160kbit", "--size", "100,400"], 1, 0, 500);
    for ((_, job), sends) in points(&job).into_iter().zip([100, 25]) {
        let outcome = run(&job);
        assert_eq!(total(&outcome.client, Counter::Intended), sends);
        assert_eq!(outcome.figures().metrics["lost_packets"], 0.0);
    }
}

#[test]
fn as_fast_as_possible_the_loss_is_still_exact() {
    let outcome = run(&scheduled("udp", &["--rate", "max", "--size", "1000"], 2, 0, 200));
    let sent = total(&outcome.client, Counter::Sent);
    let received = total(&outcome.server, Counter::Completed);
    assert!(sent > 0 && received > 0);
    // Loopback neither doubles nor overtakes; what is missing found a full socket.
    assert_eq!(outcome.figures().metrics["lost_packets"], (sent - received) as f64);
    assert_eq!(outcome.figures().metrics["duplicates"], 0.0);
    assert!(!outcome.figures().metrics.contains_key("unsent"), "nothing is due in a closed loop");
}

/// A trial in which a flag has eight datagrams leave with each call: each is counted at both ends.
fn eight_a_call(flag: &str) -> Measured {
    // Smaller than the registration, which must leave in one piece all the same.
    let job = scheduled("udp", &["--rate", "800pps", flag, "8", "--size", "20"], 1, 0, 500);
    let outcome = run(&job);
    let sent = total(&outcome.client, Counter::Sent);
    assert_eq!(total(&outcome.client, Counter::Intended), 50, "calls");
    assert_eq!(sent + 8 * total(&outcome.client, Counter::Unsent), 400);
    assert_eq!(total(&outcome.client, Counter::SentBytes), 20 * sent);
    assert_eq!(
        (total(&outcome.server, Counter::Completed), total(&outcome.server, Counter::Duplicates)),
        (sent, 0)
    );
    assert_eq!(outcome.figures().metrics["intended_per_s"], 800.0);
    outcome
}

#[test]
fn segments_count_as_datagrams() {
    let outcome = eight_a_call("--gso");
    assert_eq!(outcome.client.settings["segment_bytes"], "20");
    assert_eq!(outcome.figures().metrics["gso_segments"], 8.0);
    assert!(outcome.figures().warnings.iter().any(|w| w.kind == WarningKind::Offload));
}

#[test]
fn a_batch_is_one_call_of_many_datagrams() {
    let figures = eight_a_call("--batch").figures();
    assert_eq!(figures.metrics["batch_sends"], 8.0);
    assert!(!figures.metrics.contains_key("gso_segments"));
    let warning = figures.warnings.iter().find(|w| w.kind == WarningKind::Offload).unwrap();
    assert!(warning.detail.starts_with("8 datagrams left with each call (--batch)"), "{warning:?}");
}

/// The datagram that registers flow 0, as whoever has the server's cookie sends it.
fn registration() -> [u8; 64] {
    Plain.udp(0, Some(COOKIE))
}

/// A socket that is flow 0 of a server.
fn registered(server: &Server) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    socket.connect(server.address()).unwrap();
    socket.send(&registration()).unwrap();
    let mut answer = [0; 64];
    let length = socket.recv(&mut answer).unwrap();
    assert_eq!(Plain.read(0, &answer[..length]), HandshakeAnswer::Accepted);
    socket
}

/// What a server saw that ended by itself.
fn finished(server: Server) -> EndReport {
    let (report, fault) = server.finish(None);
    assert_eq!(fault, None);
    report
}

#[test]
fn known_faults_are_counted_exactly() {
    const NUMBERS: u64 = 3000;
    let _alone = alone();
    let job = scheduled("udp", &["--size", "32"], 1, 0, 1000);
    let server = Server::start(&Trial::of(&job));
    let socket = registered(&server);
    let start = clock::now() + 20 * MS;
    server.end.open(start);
    clock::sleep_until(start);
    // Of every 100: 7 and 8 are dropped, 20 comes twice, 30 comes after 31 and 32.
    let script = (0..NUMBERS / 100).flat_map(|hundred| {
        let one = (0..100).filter(|n| ![7, 8, 30].contains(n)).flat_map(|n| match n {
            20 => vec![20, 20],
            32 => vec![32, 30],
            n => vec![n],
        });
        one.map(move |n| hundred * 100 + n).collect::<Vec<_>>()
    });
    let taken = || {
        let counts = server.end.workers.counts();
        counts.of(Counter::Completed) + counts.of(Counter::Duplicates)
    };
    let mut arrivals = 0;
    for number in script {
        let mut datagram = [0; 32];
        datagram[..8].copy_from_slice(&number.to_le_bytes());
        datagram[8..16].copy_from_slice(&clock::now().to_le_bytes());
        socket.send(&datagram).unwrap();
        arrivals += 1;
        // Never more on their way than a socket buffer holds, so that the script's losses are the
        // only ones.
        until("the server keeps up", || taken() + 50 > arrivals);
    }
    // Neither is of this test: another length, and the registration once more.
    socket.send(&[0; 31]).unwrap();
    socket.send(&registration()).unwrap();
    let hundreds = NUMBERS / 100;
    assert_eq!(arrivals, NUMBERS - 2 * hundreds + hundreds);

    until("the server has all", || taken() == arrivals);
    let mut server = finished(server);
    server.end.t_ns = SECOND.cast_signed();
    let distinct = arrivals - hundreds;
    assert_eq!(total(&server, Counter::Completed), distinct);
    assert_eq!(total(&server, Counter::ReceivedBytes), 32 * distinct);
    assert_eq!(server.extra["foreign_datagrams"], 2.0);
    let mut client = EndReport { window_ns: SECOND, ..EndReport::default() };
    client.drained.set(Counter::Sent, NUMBERS);
    let metrics = figures(&job, &client, Some(&server), true).metrics;
    assert_eq!(metrics["received_packets_per_s"], distinct as f64);
    assert_eq!(metrics["received_bits_per_s"], (8 * 32 * distinct) as f64);
    assert_eq!(metrics["lost_packets"], (2 * hundreds) as f64);
    assert_eq!(metrics["lost_ratio"], 0.02);
    assert_eq!(metrics["duplicates"], hundreds as f64);
    assert_eq!(metrics["reordered"], hundreds as f64);
}

#[test]
fn a_server_that_hears_nothing_ends_by_itself() {
    let _alone = alone();
    let server = Server::start(&Trial::of(&scheduled("udp", &[], 1, 0, 100)));
    let _socket = registered(&server);
    let start = clock::now() + 20 * MS;
    server.end.open(start);
    clock::sleep_until(start + 100 * MS);
    let server = finished(server);
    let mut flow = Counts::default();
    [Counter::Accepted, Counter::Ended].into_iter().for_each(|counter| flow.set(counter, 1));
    assert_eq!(server.drained, flow, "the flow came and went");
    assert_eq!(server.latency.len(), 0);
}

/// The median delay, ns, and what the server says it let gather for.
fn gathered(engine: EngineKind, flags: &[&str]) -> (u64, Option<String>) {
    let job = Job { engine, ..scheduled("udp", flags, 1, 0, 400) };
    let outcome = run(&job);
    assert_eq!(total(&outcome.client, Counter::Sent), total(&outcome.server, Counter::Completed));
    let said = outcome.server.settings.get("coalesce_ns").cloned();
    (latency(&outcome.server, LatencyKind::Delay).percentile(50.0), said)
}

/// A datagram that comes while others gather waits for the rest of that time, which is half of it
/// in the mean.
#[test]
fn datagrams_gather_as_long_as_asked() {
    let (delay, said) = gathered(EngineKind::Epoll, &["--rate", "2000pps", "--coalesce", "10ms"]);
    assert!(delay >= 2 * MS, "{delay} ns");
    assert_eq!(said.as_deref(), Some("10000000"));
}

/// Delays are the result of a rate that a path is to keep. Without one it is what arrives.
#[test]
fn datagrams_gather_by_default_where_what_arrives_is_the_result() {
    let said = |engine, flags: &[&str]| {
        let job = Job { engine, ..scheduled("udp", flags, 1, 0, 50) };
        run(&job).server.settings.get("coalesce_ns").cloned()
    };
    let all = [EngineKind::Epoll, EngineKind::Threads, EngineKind::Spin, EngineKind::Uring];
    // The others block or poll, or take one at each look.
    let default = all.map(|engine| said(engine, &["--rate", "max"]));
    assert_eq!(default, [Some("50000".to_owned()), None, None, None]);
    for flags in [
        &["--rate", "2000pps"][..],
        &["--rate", "2000pps", "--offered"],
        &["--rate", "max", "--coalesce", "0"],
        // The receiver has no time to sleep.
        &["--rate", "max", "--gso", "2"],
        // A few of them fill a receive buffer.
        &["--rate", "max", "--size", "60kB"],
    ] {
        assert_eq!(said(EngineKind::Epoll, flags), None, "{flags:?}");
    }
}
