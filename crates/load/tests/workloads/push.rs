//! `push` with both ends in one process: what is counted, not how fast it is.

use hopbench_model::{Counter, EngineKind, LatencyKind, WarningKind};

use crate::rig::{Trial, latency, run, total};
use crate::scheduled;

#[test]
fn the_schedule_is_what_is_counted() {
    // Any second holds exactly 50 messages of a connection, wherever its phase lies.
    for (engine, stagger) in [(EngineKind::Epoll, "spread"), (EngineKind::Threads, "together")] {
        let mut job = scheduled(
            "push",
            &["--size", "25kB", "--rate", "50", "--stagger", stagger],
            4,
            200,
            1000,
        );
        job.engine = engine;
        let outcome = run(&job);
        let (client, server) = (&outcome.client, &outcome.server);
        assert_eq!(total(server, Counter::Intended), 200);
        // A machine without a free CPU at the end of the window may leave something unsent, but not
        // unsaid.
        assert_eq!(total(server, Counter::Counted) + total(server, Counter::Unsent), 200);
        assert_eq!(total(client, Counter::Counted), total(server, Counter::Counted));
        assert_eq!(total(client, Counter::Completed), total(server, Counter::Sent));
        assert_eq!(total(client, Counter::ReceivedBytes), 25_000 * total(server, Counter::Sent));
        assert!(
            total(server, Counter::Sent) > total(server, Counter::Counted),
            "messages of the warm-up are sent too"
        );
        for kind in [LatencyKind::Delay, LatencyKind::Gap] {
            assert_eq!(latency(client, kind).count(), total(client, Counter::Counted), "{kind:?}");
        }
        assert_eq!(latency(server, LatencyKind::Lateness).count(), total(server, Counter::Counted));

        let figures = outcome.figures();
        assert!(
            figures.invariants.iter().any(|i| i.name == "received_eq_sent_at_close"),
            "connections closed cleanly"
        );
        assert_eq!(figures.metrics["intended_per_s"], 200.0);
        assert_eq!(figures.metrics["messages_per_s"] + figures.metrics["unsent"], 200.0);
        assert_eq!(figures.metrics["max_messages_per_connection"], 50.0);
        assert!(figures.metrics["min_messages_per_connection"] <= 50.0);
        assert!(
            figures.warnings.iter().all(|w| w.kind != WarningKind::RelativeClock),
            "{:?}",
            figures.warnings
        );
    }
}

#[test]
fn without_a_common_clock_delays_are_relative_and_said_to_be() {
    let job = scheduled("push", &["--size", "64", "--rate", "100"], 2, 0, 300);
    let outcome = Trial { shared_clock: false, ..Trial::of(&job) }.run();
    assert!(outcome.figures().warnings.iter().any(|w| w.kind == WarningKind::RelativeClock));
    // The fastest message is the measure: a delay of nothing is there, whatever the clocks say.
    let delays = outcome.latency(LatencyKind::Delay);
    assert_eq!(delays.count(), total(&outcome.client, Counter::Counted));
    assert_eq!(delays.min(), 0);
}

#[test]
fn the_smallest_and_large_messages_arrive_whole() {
    for (size, bytes) in [("16", 16), ("3MB", 3_000_000)] {
        let outcome = run(&scheduled("push", &["--size", size, "--rate", "20"], 1, 0, 300));
        let sent = total(&outcome.server, Counter::Sent);
        assert!(sent > 0);
        assert_eq!(total(&outcome.client, Counter::Completed), sent);
        assert_eq!(total(&outcome.client, Counter::ReceivedBytes), sent * bytes);
    }
}
