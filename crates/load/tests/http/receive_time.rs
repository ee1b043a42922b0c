//! Answers that are read with the next send, and whose times the kernel says.

use hopbench_model::{Counter, Job, LatencyKind, SECOND, Schedule};
use hopbench_sys::usage;
use serde_json::json;

use crate::ours::Ours;
use crate::peers::{Peer, SMALL};
use crate::rig::{self, MS, Measured, alone};
use crate::{job, run};

fn paced(per_s: f64, receive_time: &str) -> Job {
    let schedule = Schedule::Rate(per_s);
    let mut job = Job { schedule, ..job(json!({"receive_time": receive_time})) };
    job.timing.window_ns = SECOND;
    job
}

fn against(ours: Ours, mut job: Job, url: &str) -> Measured {
    job.params["url"] = json!(url);
    let seen = run(&job, ours.address);
    ours.stop();
    assert_eq!(json!(seen.client.errors), json!({}));
    assert_eq!(seen.client(Counter::Counted), seen.client(Counter::Intended));
    seen
}

fn against_ours(job: Job, target: &str) -> Measured {
    let ours = Ours::start();
    let url = ours.url(target);
    against(ours, job, &url)
}

/// Half of the answers took about the 1 ms that the target waits, though the client reads them when
/// it sends next, 5 ms after their requests.
fn assert_of_1_ms(seen: &Measured) {
    assert_eq!(seen.client.settings["receive_time"], "kernel");
    for kind in [LatencyKind::Service, LatencyKind::Response] {
        let histogram = seen.latency(kind);
        assert!(histogram.min() >= MS, "{kind:?}: {}", histogram.min());
        let p50 = histogram.percentile(50.0);
        assert!(p50 < 3 * MS, "{kind:?}: {p50}");
    }
}

#[test]
fn an_answer_has_the_time_at_which_it_came() {
    for connections in [1, 4] {
        let job = Job { connections, ..paced(200.0, "kernel") };
        let seen = against_ours(job, "/?delay=1ms");
        assert_of_1_ms(&seen);
        // A connection is free from then on.
        assert!(seen.client(Counter::Queued) < 50, "{}", seen.client(Counter::Queued));
    }
}

#[test]
fn it_has_it_over_tls_too() {
    let ours = Ours::over_tls();
    let url = ours.url("/?delay=1ms").replace("http://", "https://");
    let mut job = paced(200.0, "kernel");
    job.params["insecure_tls"] = json!(true);
    assert_of_1_ms(&against(ours, job, &url));
}

#[test]
fn a_client_sleeps_once_a_request() {
    let _alone = alone();
    // The target's thread sleeps once a request, too.
    let waits = |receive_time: &str| {
        let before = usage::process().voluntary_switches;
        let seen = against_ours(paced(500.0, receive_time), "/?delay=500us");
        let waits = usage::process().voluntary_switches - before;
        waits as f64 / seen.client(Counter::Counted) as f64
    };
    // A machine that is late sends several at once, and sleeps less with either.
    let seen: Vec<_> = (0..5).map(|_| (waits("process"), waits("kernel"))).collect();
    assert!(seen.iter().any(|(process, kernel)| process - kernel > 0.6), "{seen:?}");
}

/// A burst is sent before the answers to the last one are read, but not by connections that seem
/// busy only because of that.
#[test]
fn connections_whose_answers_were_not_read_are_free() {
    let bursts = Job { connections: 3, burst: 2, ..paced(400.0, "kernel") };
    let poisson = Job { schedule: Schedule::Poisson(400.0), ..paced(400.0, "kernel") };
    for job in [bursts, poisson] {
        let seen = against_ours(job, "/?delay=500us");
        let (queued, intended) = (seen.client(Counter::Queued), seen.client(Counter::Intended));
        assert!(queued * 5 < intended, "{queued} of {intended} with {:?}", seen.job.schedule);
    }
}

/// Segments can come out of order, and room for more is made by reading.
#[test]
fn answers_of_several_segments_are_read_as_they_come() {
    let seen = against_ours(paced(150.0, "kernel"), "/?size=256KiB");
    let said = &seen.client.settings["read_at_once"];
    assert!(said.starts_with("answers are longer than a segment of "), "{said}");
    let p50 = seen.latency(LatencyKind::Service).percentile(50.0);
    assert!(p50 < 5 * MS, "{p50}");
}

/// The end of a connection ends the sleep: the kernel does not say when it was.
#[test]
fn connections_may_end() {
    const TO_ITS_END: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nok";
    const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    for (answer, times) in [(SMALL, 10), (TO_ITS_END, 1), (LAST, 1)] {
        let peer = Peer::start(move |mut connection| {
            for _ in 0..times {
                if !connection.request() {
                    return;
                }
                connection.write(answer);
            }
        });
        let mut job = paced(200.0, "kernel");
        job.params["url"] = json!(peer.url());
        let seen = rig::run_client(&job, peer.address).unwrap();
        let what = String::from_utf8_lossy(answer);
        assert_eq!(json!(seen.client.errors), json!({}), "{what}");
        assert_eq!(seen.client(Counter::Counted), seen.client(Counter::Intended), "{what}");
        let p50 = seen.latency(LatencyKind::Service).percentile(50.0);
        assert!(p50 < 4 * MS, "{what}: {p50}");
    }
}

#[test]
fn an_answer_that_does_not_come_times_out() {
    let peer = Peer::start(|mut connection| {
        for _ in 0..2 {
            if connection.request() {
                connection.write(SMALL);
            }
        }
        connection.read_to_end();
    });
    let mut job = Job { connections: 32, ..paced(200.0, "kernel") };
    job.timing.timeout_ns = 100 * MS;
    job.params["url"] = json!(peer.url());
    let seen = rig::run_client(&job, peer.address).unwrap();
    let timeouts = seen.client(Counter::Intended) - seen.client(Counter::Counted);
    assert!(timeouts >= 5, "{timeouts}");
    assert_eq!(json!(seen.client.errors), json!({"timeout": timeouts}));
}
