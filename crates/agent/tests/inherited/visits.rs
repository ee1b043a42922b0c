//! Trials that stay prepared, and are visited again and again.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_model::{Counter, EndReport, EngineKind, Fault, FaultKind, Job, Schedule};
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, Prepare, Role, ToAgent};

use crate::rig::{Agent, MS, TestTrial, assert_sound, job, moved, params};

/// An order after which the end stays prepared.
fn stays(order: ToAgent) -> ToAgent {
    let ToAgent::Prepare(order) = order else { unreachable!() };
    ToAgent::Prepare(Box::new(Prepare { stays: true, ..*order }))
}

fn prepare(trial: &TestTrial, run: u32, client: &mut Agent, server: &mut Agent) {
    server.send(&stays(trial.prepare(run, Role::Server, 0, 1)));
    server.ready();
    client.send(&stays(trial.prepare(run, Role::Client, 0, 1)));
    client.ready();
}

fn revisit(run: u32, ends: [&mut Agent; 2]) {
    for end in ends {
        end.send(&ToAgent::Revisit { run, warmup_ns: 5 * MS });
        end.ready();
    }
}

/// From `Start` on; what the client and the server report.
fn visit(trial: &TestTrial, client: &mut Agent, server: &mut Agent) -> (EndReport, EndReport) {
    let window_start_ns = clock::now() + 5 * MS + trial.job.timing.warmup_ns;
    client.send(&ToAgent::Start { window_start_ns });
    server.send(&ToAgent::Start { window_start_ns });
    let report = client.report();
    let bytes = report.drained.of(Counter::SentBytes);
    server.send(&ToAgent::AllSent { bytes });
    server.send(&ToAgent::Finish);
    (report, server.report())
}

fn refused(agent: &mut Agent, run: u32) -> Fault {
    agent.send(&ToAgent::Revisit { run, warmup_ns: 0 });
    match agent.answer() {
        FromAgent::Failed { fault, .. } => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn visits_use_the_connections_that_stand_and_count_their_own() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let engines = [EngineKind::Epoll, EngineKind::Uring, EngineKind::Threads];
    let mut run = 0;
    for engine in engines {
        for name in ["rr", "http", "stream", "udp", "rr-udp", "ping"] {
            if (engine, name) == (EngineKind::Threads, "stream") {
                continue;
            }
            run += 1;
            let workload = name.trim_end_matches("-udp");
            let job = Job { engine, ..job(workload, params(name, server.address), 3) };
            let trial = TestTrial::new(job, server.address);
            prepare(&trial, run, &mut client, &mut server);
            let mut first: Option<(EndReport, EndReport)> = None;
            for number in 0..3 {
                if number > 0 {
                    revisit(run, [&mut server, &mut client]);
                }
                let seen = visit(&trial, &mut client, &mut server);
                let what = format!("{name} by {engine}, visit {number}");
                assert!(seen.0.incomplete.is_none() && seen.1.incomplete.is_none(), "{what}");
                assert!(moved(&seen.0) > 0, "{what}: nothing moved");
                assert!(seen.0.errors.is_empty(), "{what}: {:?}", seen.0.errors);
                assert_sound(&trial, &seen.0, &seen.1);
                let (client, server) = (&seen.0.drained, &seen.1.drained);
                match name {
                    "stream" => assert_eq!(
                        server.of(Counter::ReceivedBytes),
                        client.of(Counter::SentBytes),
                        "{what}"
                    ),
                    "udp" => {
                        assert_eq!(
                            server.of(Counter::Completed),
                            client.of(Counter::Sent),
                            "{what}: loopback loses nothing"
                        );
                    }
                    "ping" => {}
                    _ => assert_eq!(
                        server.of(Counter::Completed),
                        client.of(Counter::Completed),
                        "{what}"
                    ),
                }
                match &first {
                    None => first = Some(seen),
                    Some(first) => {
                        assert_eq!(client.of(Counter::Connects), 0, "{what}");
                        assert_eq!(seen.0.flows, first.0.flows, "{what}");
                        assert_eq!(seen.1.flows, first.1.flows, "{what}");
                    }
                }
            }
        }
    }
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

/// A constant rate says what a visit has to count: the arrivals of its own window, and of no other.
/// A server of datagrams that knows what was sent waits no longer than until all have come. Where
/// some are missing, silence tells, which takes at least 20 ms.
#[test]
fn a_trial_of_datagrams_ends_with_the_last_one_or_by_silence() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let mut run = 100;
    for engine in [EngineKind::Epoll, EngineKind::Uring, EngineKind::Threads] {
        let mut waited = |missing: u64| {
            run += 1;
            let job = Job { engine, ..job("udp", params("udp", server.address), 2) };
            let trial = TestTrial::new(job, server.address);
            server.send(&trial.prepare(run, Role::Server, 0, 1));
            server.ready();
            client.send(&trial.prepare(run, Role::Client, 0, 1));
            client.ready();
            let window_start_ns = clock::now() + 5 * MS + trial.job.timing.warmup_ns;
            client.send(&ToAgent::Start { window_start_ns });
            server.send(&ToAgent::Start { window_start_ns });
            let sent = client.report().drained.of(Counter::SentBytes);
            server.send(&ToAgent::AllSent { bytes: sent + missing });
            let finished_at = clock::now();
            server.send(&ToAgent::Finish);
            let report = server.report();
            let received = report.drained.of(Counter::ReceivedBytes);
            assert_eq!((received, report.incomplete), (sent, None), "{engine}");
            clock::now() - finished_at
        };
        let [all, some] = [0, 64].map(|missing| (0..3).map(|_| waited(missing)).min().unwrap());
        assert!(some >= 20 * MS, "{engine}: {some} ns, although some are missing");
        assert!(all < some, "{engine}: {all} ns with all, {some} ns with some");
    }
}

#[test]
fn a_visit_has_exactly_the_arrivals_of_its_window() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    for (run, name) in (1..).zip(["rr", "http"]) {
        let job =
            Job { schedule: Schedule::Rate(2000.0), ..job(name, params(name, server.address), 2) };
        let trial = TestTrial::new(job, server.address);
        prepare(&trial, run, &mut client, &mut server);
        for number in 0..4 {
            if number > 0 {
                revisit(run, [&mut server, &mut client]);
            }
            let (seen, _) = visit(&trial, &mut client, &mut server);
            assert_eq!(seen.drained.of(Counter::Intended), 400, "{name}, visit {number}");
            assert_eq!(seen.drained.of(Counter::Counted), 400, "{name}, visit {number}");
        }
    }
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn several_runs_rest_at_once_and_each_is_visited_as_it_is() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let trials: Vec<(u32, TestTrial)> = (1..=8)
        .map(|run| {
            let mut job = job("rr", params("rr", server.address), run);
            job.timing.window_ns = 30 * MS;
            (run, TestTrial::new(job, server.address))
        })
        .collect();
    for (run, trial) in &trials {
        prepare(trial, *run, &mut client, &mut server);
        visit(trial, &mut client, &mut server);
    }
    for (run, trial) in trials.iter().rev() {
        revisit(*run, [&mut server, &mut client]);
        let (ours, theirs) = visit(trial, &mut client, &mut server);
        assert_eq!((ours.flows.len(), theirs.flows.len()), (*run as usize, *run as usize));
        assert!(!ours.shared, "what rests is no load beside it");
        assert_sound(trial, &ours, &theirs);
    }
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn what_does_not_stand_is_refused_and_can_be_prepared_again() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let trial = TestTrial::new(job("rr", params("rr", server.address), 2), server.address);
    let fault = refused(&mut server, 7);
    assert_eq!(fault.kind, FaultKind::Environment);
    assert!(fault.text.contains("prepared again"), "{fault}");
    // A workload that connects for each exchange, and one whose server sends.
    for (run, name) in [(1, "crr"), (2, "push")] {
        let trial = TestTrial::new(job(name, params(name, server.address), 2), server.address);
        prepare(&trial, run, &mut client, &mut server);
        visit(&trial, &mut client, &mut server);
        refused(&mut client, run);
        refused(&mut server, run);
    }
    // One that was aborted, and one that was cut short.
    prepare(&trial, 3, &mut client, &mut server);
    visit(&trial, &mut client, &mut server);
    revisit(3, [&mut server, &mut client]);
    for end in [&mut client, &mut server] {
        end.send(&ToAgent::Abort);
        assert!(matches!(end.answer(), FromAgent::Failed { .. }));
        refused(end, 3);
    }
    prepare(&trial, 4, &mut client, &mut server);
    for end in [&mut client, &mut server] {
        end.send(&ToAgent::Start { window_start_ns: clock::now() + 25 * MS });
    }
    clock::sleep_until(clock::now() + 60 * MS);
    for end in [&mut client, &mut server] {
        end.send(&ToAgent::Finish);
        assert!(end.report().incomplete.is_some());
        refused(end, 4);
    }
    // What is prepared again replaces what rests.
    prepare(&trial, 5, &mut client, &mut server);
    visit(&trial, &mut client, &mut server);
    for (end, role) in [(&mut server, Role::Server), (&mut client, Role::Client)] {
        let ToAgent::Prepare(order) = stays(trial.prepare(6, role, 0, 1)) else { unreachable!() };
        end.send(&ToAgent::Prepare(Box::new(Prepare { replaces: Some(5), ..*order })));
        end.ready();
    }
    visit(&trial, &mut client, &mut server);
    refused(&mut client, 5);
    revisit(6, [&mut server, &mut client]);
    visit(&trial, &mut client, &mut server);
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

/// Nobody gets more load by a visit than by the order before it.
#[test]
fn a_visit_has_no_longer_warm_up_than_was_granted() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let trial = TestTrial::new(job("rr", params("rr", server.address), 2), server.address);
    prepare(&trial, 1, &mut client, &mut server);
    visit(&trial, &mut client, &mut server);
    for end in [&mut server, &mut client] {
        end.send(&ToAgent::Revisit { run: 1, warmup_ns: u64::MAX });
        end.ready();
    }
    let (ours, theirs) = visit(&trial, &mut client, &mut server);
    // Load began this much too late; with the warm-up that was asked for, by the age of the
    // machine.
    assert!(ours.start_late_ns < 20 * MS, "{}", ours.start_late_ns);
    assert_sound(&trial, &ours, &theirs);
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

/// The server's end of a run that rests is gone: its connections are.
#[test]
fn a_client_whose_server_is_gone_says_so_and_goes_on() {
    let mut client = Agent::start();
    for name in ["rr", "stream"] {
        let mut server = Agent::start();
        let trial = TestTrial::new(job(name, params(name, server.address), 2), server.address);
        prepare(&trial, 1, &mut client, &mut server);
        visit(&trial, &mut client, &mut server);
        assert_eq!(server.bye(), Ok(()));
        client.send(&ToAgent::Revisit { run: 1, warmup_ns: 0 });
        if let FromAgent::Ready { .. } = client.answer() {
            client.send(&ToAgent::Start { window_start_ns: clock::now() });
            assert!(matches!(client.answer(), FromAgent::Failed { .. }), "{name}");
        }
        refused(&mut client, 1);
    }
    assert_eq!(client.bye(), Ok(()));
}

#[test]
fn what_rests_makes_way_where_there_is_no_room() {
    let (mut client, mut server) = (Agent::start(), Agent::limited(3));
    let mut job = job("rr", params("rr", server.address), 1);
    job.timing.window_ns = 20 * MS;
    let trial = TestTrial::new(job, server.address);
    for run in 1..=5 {
        prepare(&trial, run, &mut client, &mut server);
        visit(&trial, &mut client, &mut server);
    }
    // There is room for three: the first two, and the last one.
    for run in [1, 2, 5] {
        revisit(run, [&mut server, &mut client]);
        visit(&trial, &mut client, &mut server);
    }
    refused(&mut server, 3);
    refused(&mut server, 4);
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn what_rests_stays_if_a_trial_fails_for_another_reason() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let job = job("rr", params("rr", server.address), 2);
    let trial = TestTrial::new(job, server.address);
    prepare(&trial, 1, &mut client, &mut server);
    visit(&trial, &mut client, &mut server);
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = TestTrial::new(crate::rig::job("http", params("http", gone), 2), gone);
    client.send(&stays(nowhere.prepare(2, Role::Client, 0, 1)));
    let FromAgent::Failed { fault, .. } = client.answer() else { panic!("somebody answered") };
    assert_eq!(fault.kind, FaultKind::Environment, "{fault}");
    revisit(1, [&mut server, &mut client]);
    let (seen, _) = visit(&trial, &mut client, &mut server);
    assert!(moved(&seen) > 0);
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

/// One connection is never answered, so its worker is cut; the other has long handed over what it
/// saw.
#[test]
fn what_some_workers_handed_over_counts_where_others_are_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answered = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&answered);
    // The first connection only tries whether somebody is there, and the third is not answered.
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().take(3).enumerate() {
            let count = Arc::clone(&count);
            std::thread::spawn(move || serve(stream, number < 2, &count));
        }
    });
    let mut client = Agent::start();
    let mut job = Job { threads: 2, ..job("http", params("http", address), 2) };
    job.schedule = Schedule::Rate(1000.0);
    job.timing.timeout_ns = 300 * MS;
    let trial = TestTrial::new(job, address);
    client.send(&stays(trial.prepare(1, Role::Client, 0, 1)));
    client.ready();
    let window_start_ns = clock::now() + 5 * MS + trial.job.timing.warmup_ns;
    client.send(&ToAgent::Start { window_start_ns });
    let report = client.report();
    let completed = report.drained.of(Counter::Completed);
    assert!(completed > 10, "{completed}");
    assert_eq!(completed, answered.load(Ordering::Acquire));
    assert!(report.drained.of(Counter::Counted) > 10 && !report.latency.is_empty());
    assert_eq!(client.bye(), Ok(()));
}

/// Answers each request of a connection, or reads them only.
fn serve(mut stream: TcpStream, answers: bool, count: &AtomicU64) {
    let mut head = [0; 4096];
    // Each request comes in one segment.
    while stream.read(&mut head).is_ok_and(|read| read > 0) {
        if answers {
            count.fetch_add(1, Ordering::AcqRel);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}
