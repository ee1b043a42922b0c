//! Both ends count the same, whatever the engine.

use hopbench_model::{Counter, Job, LatencyKind, Schedule};
use serde_json::json;

use crate::ours::Ours;
use crate::rig::{MS, Measured};
use crate::{engines, job, run};

/// Runs a job against our target and checks that both ends agree.
fn agree(job: &Job, target: &str) -> Measured {
    let ours = Ours::start();
    let mut job = job.clone();
    job.params["url"] = json!(ours.url(target));
    let seen = run(&job, ours.address);
    let server = ours.stop();
    let engine = job.engine;
    for (client, at_server) in [
        (Counter::Completed, Counter::Completed),
        (Counter::Sent, Counter::Completed),
        (Counter::SentBytes, Counter::ReceivedBytes),
        (Counter::ReceivedBytes, Counter::SentBytes),
    ] {
        assert_eq!(seen.client(client), server.of(at_server), "{client:?} with {engine}");
    }
    assert_eq!(json!(seen.client.errors), json!({}), "{engine}");
    assert_eq!(server.of(Counter::Errors), 0);
    assert!(seen.client(Counter::Counted) > 0, "{engine}");
    assert_eq!(
        json!(seen.client.statuses),
        json!({"200": seen.client(Counter::Counted)}),
        "{engine}"
    );
    assert_eq!(seen.latency(LatencyKind::Service).count(), seen.client(Counter::Counted));
    seen
}

#[test]
fn keep_alive_uses_one_connection_each() {
    for job in engines(&job(json!({}))) {
        let seen = agree(&job, "/?size=1KiB");
        assert_eq!(seen.client(Counter::Connects), 4);
        let figures = seen.figures();
        assert_eq!(figures.metrics["response_body_bytes"], 1024.0);
        assert!(figures.metrics["response_header_bytes"] > 50.0);
        assert_eq!(figures.metrics["reconnects"], 0.0);
        assert!(figures.warnings.is_empty(), "{:?}", figures.warnings);
    }
}

#[test]
fn without_keep_alive_every_request_has_a_connection() {
    for job in engines(&job(json!({"no_keep_alive": true}))) {
        let seen = agree(&job, "/?size=10");
        assert_eq!(seen.client(Counter::Connects), seen.client(Counter::Completed));
        // Both belong to the window by their start, which is the same.
        let (connects, counted) =
            (seen.latency(LatencyKind::Connect).count(), seen.client(Counter::Counted));
        assert!(connects.abs_diff(counted) <= 4, "{connects} connects, {counted} counted");
        assert!(seen.figures().explanation[0].contains("begins with connecting"));
    }
}

#[test]
fn large_bodies_in_both_directions() {
    for job in engines(&job(json!({"expect_size": "100000"}))) {
        let seen = agree(&job, "/?size=100000");
        assert_eq!(seen.figures().metrics["response_body_bytes"], 100_000.0);
        assert!(seen.figures().warnings.is_empty());
    }
    // A megabyte does not fit a socket's buffer: it is sent in parts, and echoed from where it was
    // received.
    for size in ["0", "1KiB", "1000000"] {
        for job in engines(&job(json!({"method": "POST", "body_size": size}))) {
            let seen = agree(&job, "/");
            let expected: f64 = size.replace("KiB", "024").parse().unwrap();
            assert_eq!(seen.figures().metrics["response_body_bytes"], expected);
        }
    }
}

#[test]
fn head_has_no_body() {
    let seen = agree(&job(json!({"method": "HEAD"})), "/?size=1GiB");
    assert_eq!(seen.figures().metrics["response_body_bytes"], 0.0);
}

#[test]
fn threads_share_connections_and_arrivals() {
    let closed = Job { threads: 2, connections: 5, ..job(json!({})) };
    assert_eq!(agree(&closed, "/").client(Counter::Connects), 5);
    let open = Job { schedule: Schedule::Rate(1000.0), ..closed };
    // Even arrivals over 150 ms, give or take the one on the edge.
    let intended = agree(&open, "/").client(Counter::Intended);
    assert!((149..=151).contains(&intended), "{intended}");
}

#[test]
fn warm_up_is_sent_and_not_counted() {
    let mut job = job(json!({}));
    job.timing.warmup_ns = 100 * MS;
    let seen = agree(&job, "/");
    let (completed, counted) = (seen.client(Counter::Completed), seen.client(Counter::Counted));
    assert!(completed > counted, "{completed} completed, {counted} counted");
}
