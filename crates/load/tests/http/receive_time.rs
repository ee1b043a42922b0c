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
    assert!(seen.iter().any(|(process, kernel)| process - kernel > 0.8), "{seen:?}");
}

/// Room for an answer is made by reading it.
#[test]
fn long_answers_are_read_as_they_come() {
    let seen = against_ours(paced(150.0, "kernel"), "/?size=1MiB");
    let p50 = seen.latency(LatencyKind::Service).percentile(50.0);
    assert!(p50 < 5 * MS, "{p50}");
}

#[test]
fn connections_may_end() {
    for until_end in [false, true] {
        let peer = Peer::start(move |mut connection| {
            let most = if until_end { 1 } else { 10 };
            for _ in 0..most {
                if !connection.request() {
                    return;
                }
                let answer = if until_end { &b"HTTP/1.1 200 OK\r\n\r\nok"[..] } else { SMALL };
                connection.write(answer);
            }
        });
        let mut job = paced(200.0, "kernel");
        job.params["url"] = json!(peer.url());
        let seen = rig::run_client(&job, peer.address).unwrap();
        assert_eq!(json!(seen.client.errors), json!({}), "{until_end}");
        assert_eq!(seen.client(Counter::Counted), seen.client(Counter::Intended), "{until_end}");
        let p50 = seen.latency(LatencyKind::Service).percentile(50.0);
        assert!(p50 < 4 * MS, "{until_end}: {p50}");
    }
}

#[test]
fn an_answer_that_does_not_come_times_out_in_time() {
    let peer = Peer::start(|mut connection| connection.read_to_end());
    let mut job = Job { connections: 32, ..paced(200.0, "kernel") };
    job.timing.timeout_ns = 20 * MS;
    job.params["url"] = json!(peer.url());
    let seen = rig::run_client(&job, peer.address).unwrap();
    let intended = seen.client(Counter::Intended);
    assert_eq!(json!(seen.client.errors), json!({"timeout": intended}));
}
