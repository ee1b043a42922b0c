//! Conformance of the engines: the same counts for every workload, and no byte, file or wake-up
//! lost.
//!
//! Both ends run in this process over the loopback interface; counts must hold on a slow and busy
//! machine.

use hopbench_load::WORKLOADS;
use hopbench_model::{Counter, EngineKind, Job, LatencyKind, SECOND, Schedule};
use hopbench_sys::{clock, usage};

use crate::rig::{self, MS, Measured, Trial, flags, run, until};

/// A trial of a workload with these flags, and a warm-up of 50 ms.
fn job(workload: &str, words: &[&str], engine: EngineKind) -> Job {
    let mut job = rig::job(workload, engine, flags(workload, words));
    job.timing.warmup_ns = 50 * MS;
    job
}

/// One of 4 connections and 2 threads that does not end by itself while a test runs.
fn endless(workload: &str, words: &[&str], engine: EngineKind) -> Job {
    let mut job = job(workload, words, engine);
    (job.connections, job.threads) = (4, 2);
    (job.timing.window_ns, job.timing.timeout_ns) = (3600 * SECOND, 600 * SECOND);
    job
}

/// Engines whose workers sleep while they wait.
const SLEEPERS: [EngineKind; 3] = [EngineKind::Epoll, EngineKind::Uring, EngineKind::Threads];

/// Sent at one end is received at the other.
#[track_caller]
fn conserved(outcome: &Measured) {
    use Counter::{ReceivedBytes, SentBytes};
    let job = &outcome.job;
    assert_eq!(outcome.client(SentBytes), outcome.server(ReceivedBytes), "to the server: {job:?}");
    // Over UDP anybody may send to a client's port; what is no answer to its last request is
    // counted apart.
    let stale = outcome.client(Counter::Stale);
    let (sent, received) = (outcome.server(SentBytes), outcome.client(ReceivedBytes));
    let strays = received.saturating_sub(sent);
    assert!(
        strays <= stale && received >= sent,
        "{sent} sent, {received} received, {stale} stale: {job:?}"
    );
}

/// Every request was answered once, by the server and in the counts.
#[track_caller]
fn answered(outcome: &Measured) {
    use Counter::{Completed, Counted, Errors, Sent};
    let job = &outcome.job;
    let sent = outcome.client(Sent);
    assert!(sent > 0, "nothing was sent: {job:?}");
    assert_eq!(outcome.client(Completed), sent, "{job:?}");
    assert_eq!(outcome.server(Completed), sent, "{job:?}");
    assert_eq!(outcome.client(Errors), 0, "{job:?}");
    assert_eq!(outcome.latency(LatencyKind::Service).count(), outcome.client(Counted), "{job:?}");
}

#[test]
fn every_workload_runs_on_every_engine() {
    for workload in WORKLOADS.iter().filter(|w| w.needs_agent()) {
        for engine in EngineKind::ALL {
            let mut job = job(workload.name(), &[], *engine);
            (job.connections, job.threads) = (4, 2);
            let outcome = run(&job);
            let moved = |counter| outcome.client(counter) + outcome.server(counter);
            let (sent, received) = (moved(Counter::SentBytes), moved(Counter::ReceivedBytes));
            if workload.name() == "push" {
                conserved(&outcome);
            }
            assert!(
                received > 0 && received <= sent,
                "{}, {engine}: {sent} sent, {received} received",
                workload.name()
            );
        }
    }
}

#[test]
fn stream_conserves_bytes_in_each_direction() {
    const FLAGS: &[&[&str]] = &[
        &["--direction", "to-server"],
        &["--direction", "from-server"],
        &["--direction", "both", "--size", "10000"],
        &["--direction", "both", "--receive", "discard"],
        &["--size", "1", "--direction", "both"],
        &["--rate", "80Mbit", "--size", "1000"],
    ];
    for flags in FLAGS {
        for engine in EngineKind::ALL {
            for (connections, threads) in [(1, 1), (5, 2)] {
                let mut job = job("stream", flags, *engine);
                (job.connections, job.threads, job.timing.window_ns) =
                    (connections, threads, 60 * MS);
                let outcome = run(&job);
                conserved(&outcome);
                let both = flags.contains(&"both");
                let to_server = both || !flags.contains(&"from-server");
                let from_server = both || !to_server;
                assert_eq!(outcome.client(Counter::SentBytes) > 0, to_server, "{engine} {flags:?}");
                assert_eq!(
                    outcome.server(Counter::SentBytes) > 0,
                    from_server,
                    "{engine} {flags:?}"
                );
                if flags.contains(&"--rate") {
                    // 130 ms of load (warm-up, window, run-out) at 10 MB/s, and one more write of
                    // each connection.
                    let most = 1_300_000 + 1000 * u64::from(connections);
                    assert!(
                        outcome.client(Counter::SentBytes) <= most,
                        "{}",
                        outcome.client(Counter::SentBytes)
                    );
                }
            }
        }
    }
}

#[test]
fn requests_are_answered_whatever_their_size() {
    const FLAGS: &[(&[&str], u64, u64)] = &[
        (&["--size", "1"], 1, 1),
        (&["--size", "1000"], 1000, 1000),
        (&["--size", "100000"], 100_000, 100_000),
        (&["--size", "1", "--response", "1000000"], 1, 1_000_000),
        (&["--udp", "--size", "1"], 1, 1),
        (&["--udp", "--size", "1000", "--response", "10"], 1000, 10),
        (&["--udp", "--size", "60000"], 60_000, 60_000),
    ];
    for (flags, request, response) in FLAGS {
        for engine in EngineKind::ALL {
            for (connections, threads) in [(1, 1), (5, 2)] {
                let mut job = job("rr", flags, *engine);
                (job.connections, job.threads, job.timing.window_ns) =
                    (connections, threads, 60 * MS);
                let outcome = run(&job);
                answered(&outcome);
                conserved(&outcome);
                let sent = outcome.client(Counter::Sent);
                assert_eq!(
                    outcome.client(Counter::SentBytes),
                    sent * request,
                    "{engine} {flags:?}"
                );
                assert_eq!(
                    outcome.client(Counter::ReceivedBytes),
                    sent * response,
                    "{engine} {flags:?}"
                );
            }
        }
    }
}

#[test]
fn connections_are_opened_and_closed_for_each_request() {
    for engine in EngineKind::ALL {
        for flags in [&["--size", "1"][..], &["--size", "100000"]] {
            let mut job = job("crr", flags, *engine);
            (job.connections, job.threads, job.timing.window_ns) = (4, 2, 100 * MS);
            let outcome = run(&job);
            answered(&outcome);
            assert_eq!(
                outcome.client(Counter::Connects),
                outcome.client(Counter::Sent),
                "{engine}"
            );
        }
    }
}

#[test]
fn an_open_loop_sends_exactly_what_is_due() {
    for engine in EngineKind::ALL {
        for (flags, connections, threads) in [
            (&["--size", "1"][..], 1, 1),
            (&["--size", "1"], 6, 2),
            (&["--udp", "--size", "64"], 6, 2),
        ] {
            let mut job = job("rr", flags, *engine);
            (job.connections, job.threads, job.timing.window_ns) = (connections, threads, 200 * MS);
            job.schedule = Schedule::Rate(1000.0);
            let outcome = run(&job);
            answered(&outcome);
            // One each millisecond: 50 in the warm-up, 200 in the window.
            let counts = [Counter::Sent, Counter::Intended, Counter::Counted, Counter::Unsent];
            assert_eq!(
                counts.map(|c| outcome.client(c)),
                [250, 200, 200, 0],
                "{engine} {connections}"
            );
            assert_eq!(outcome.latency(LatencyKind::Response).count(), 200);
            assert_eq!(outcome.latency(LatencyKind::Lateness).count(), 200);

            job.schedule = Schedule::Poisson(1000.0);
            let outcome = run(&job);
            answered(&outcome);
            assert_eq!(
                outcome.client(Counter::Counted),
                outcome.client(Counter::Intended),
                "{engine}"
            );
            assert!(outcome.client(Counter::Intended) > 100, "{engine}");
        }
    }
}

#[test]
fn more_arrivals_than_can_be_served_are_all_accounted_for() {
    for engine in EngineKind::ALL {
        let mut job = job("rr", &["--size", "100000"], *engine);
        job.schedule = Schedule::Rate(200_000.0);
        job.timing.timeout_ns = 400 * MS;
        let outcome = run(&job);
        let [sent, unsent, queued] =
            [Counter::Sent, Counter::Unsent, Counter::Queued].map(|c| outcome.client(c));
        // 200 ms of warm-up and window.
        assert_eq!(sent + unsent, 40_000, "{engine}");
        assert!(
            queued > 0 && outcome.client(Counter::Intended) == 30_000,
            "{engine}: {queued} queued"
        );
        assert!(outcome.client(Counter::Completed) <= outcome.server(Counter::Completed) + 1);
        assert!(outcome.client(Counter::Completed) <= sent);
    }
}

#[test]
fn a_window_that_is_shut_early_ends_cleanly() {
    for engine in EngineKind::ALL {
        for (workload, flags) in [
            ("stream", &["--direction", "both"][..]),
            ("rr", &["--size", "1"]),
            ("rr", &["--udp"]),
            ("crr", &[]),
        ] {
            let mut job = endless(workload, flags, *engine);
            job.timing.timeout_ns = 2 * SECOND;
            let running = Trial::of(&job).start();
            running.open();
            clock::sleep_until(clock::now() + 100 * MS);
            running.finish();
            let outcome = running.end().clean();
            if workload != "crr" {
                conserved(&outcome);
            }
            assert!(outcome.server(Counter::ReceivedBytes) > 0, "{engine} {workload}");
        }
    }
}

#[test]
fn a_server_says_what_each_worker_took_in() {
    for engine in EngineKind::ALL {
        let job = endless("rr", &["--size", "1"], *engine);
        let running = Trial::of(&job).start();
        running.open();
        let took_in =
            || running.server_workers().iter().map(|one| one.of(Counter::Accepted)).sum::<u64>();
        if *engine == EngineKind::Threads {
            assert!(running.server_workers().is_empty(), "each flow has a worker of its own");
        } else {
            until("all flows are taken in", || took_in() == 4);
            let each = running.server_workers();
            let each: Vec<u64> = each.iter().map(|one| one.of(Counter::Accepted)).collect();
            assert_eq!(each, [2, 2], "{engine}");
        }
        clock::sleep_until(clock::now() + 50 * MS);
        running.finish();
        let outcome = running.end().clean();
        let flows = [Counter::Accepted, Counter::Ended].map(|counter| outcome.server(counter));
        assert_eq!(flows, [4, 4], "{engine}");
        assert_eq!(outcome.client(Counter::Accepted), 0, "{engine}");
    }
}

#[test]
fn stopping_ends_workers_that_wait() {
    // In a receive, in a send, at rest; and while all of it works.
    const CASES: &[(&str, &[&str], bool)] = &[
        ("rr", &["--size", "1"], true),
        ("rr", &["--udp"], true),
        ("stream", &["--size", "1MiB"], true),
        ("stream", &["--direction", "both"], false),
        ("rr", &["--size", "1"], false),
        ("crr", &[], true),
    ];
    for engine in EngineKind::ALL {
        for (workload, flags, silent) in CASES {
            for opened in [true, false] {
                let job = endless(workload, flags, *engine);
                let running = Trial { silent: *silent, ..Trial::of(&job) }.start();
                if opened {
                    running.open();
                    clock::sleep_until(clock::now() + 80 * MS);
                }
                let before = clock::now();
                running.stop();
                until("all workers have ended", || running.workers() == 0);
                let took = (clock::now() - before) / MS;
                assert!(took < 1000, "{engine} {workload} {flags:?}: {took} ms");
                // One end may have seen the other go first.
                running.end();
            }
        }
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    for engine in EngineKind::ALL {
        let mut job = job("rr", &["--udp", "--size", "100"], *engine);
        (job.connections, job.threads) = (3, 2);
        (job.timing.window_ns, job.timing.timeout_ns) = (300 * MS, 30 * MS);
        let outcome = Trial { silent: true, ..Trial::of(&job) }.run();
        let [sent, lost, completed] =
            [Counter::Sent, Counter::Timeouts, Counter::Completed].map(|c| outcome.client(c));
        // 350 ms hold 11 timeouts a flow; a blocking call notices each up to 20 ms late.
        assert!((9..=36).contains(&sent), "{engine}: {sent} sent");
        assert_eq!((lost, completed), (sent, 0), "{engine}");

        let mut job = endless("rr", &["--size", "100"], *engine);
        (job.connections, job.threads, job.timing.timeout_ns) = (1, 1, 30 * MS);
        let running = Trial { silent: true, ..Trial::of(&job) }.start();
        running.open();
        let fault = running.end().faults[0].take().unwrap();
        assert!(fault.text.contains("no answer within --timeout"), "{engine}: {fault}");
    }
}

#[test]
fn more_connections_than_are_opened_at_once_all_come_up() {
    for engine in EngineKind::ALL {
        let mut job = job("rr", &["--size", "1"], *engine);
        // One worker opens 256 at once; with a thread each, threads are the dearer part.
        (job.connections, job.timing.window_ns) =
            (if *engine == EngineKind::Threads { 100 } else { 600 }, 100 * MS);
        let outcome = run(&job);
        answered(&outcome);
        conserved(&outcome);
        assert!(
            outcome.client(Counter::Sent) >= u64::from(outcome.job.connections),
            "{engine}: not all took part"
        );
    }
}

/// CPU time of this process while nothing happens for 300 ms, ms.
fn idle_cost() -> u64 {
    let spent = || {
        let usage = usage::process();
        usage.user_ns + usage.system_ns
    };
    let before = spent();
    clock::sleep_until(clock::now() + 300 * MS);
    (spent() - before) / MS
}

#[test]
fn workers_that_wait_do_not_spin() {
    for engine in SLEEPERS {
        let mut costs = Vec::new();
        // Before the load, and between the sends of a slow schedule.
        let mut slow = endless("rr", &["--size", "1"], engine);
        slow.schedule = Schedule::Rate(10.0);
        let running = Trial::of(&slow).start();
        costs.push(("before the load", idle_cost()));
        running.open();
        clock::sleep_until(clock::now() + 50 * MS);
        costs.push(("between sends", idle_cost()));
        running.finish();
        until("the client has ended", || running.client.workers.running() == 0);
        // The server's grace is over with the timeout, but the server was not closed.
        costs.push(("after the load", idle_cost()));
        running.end().clean();

        let job = endless("rr", &["--udp"], engine);
        let running = Trial { silent: true, ..Trial::of(&job) }.start();
        running.open();
        clock::sleep_until(clock::now() + 50 * MS);
        costs.push(("in a receive", idle_cost()));
        running.stop();
        running.end().clean();

        let mut over = self::job("rr", &["--size", "1"], engine);
        // A busy machine can hold an answer back for 20 ms: a timeout that short is an error.
        (over.timing.window_ns, over.timing.timeout_ns) = (20 * MS, 200 * MS);
        let running = Trial::of(&over).start();
        running.open();
        until("the client has ended", || running.client.workers.running() == 0);
        clock::sleep_until(clock::now() + 250 * MS);
        costs.push(("after the grace", idle_cost()));
        running.end().clean();

        // A worker that spins spends all of the 300 ms.
        assert!(costs.iter().all(|(_, ms)| *ms < 60), "{engine}: {costs:?} ms of CPU in 300 ms");
    }
}
