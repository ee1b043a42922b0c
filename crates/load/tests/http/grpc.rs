//! `grpc` against our own target, on every engine.

use hopbench_model::{Counter, EngineKind, Job, LatencyKind, SECOND, Schedule};
use hopbench_sys::clock;
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::rig::{self, MS, Measured};
use crate::{engines, run};

/// A closed loop of 4 connections for 150 ms.
fn job(params: &Value) -> Job {
    let params = params.clone();
    let kind = hopbench_load::workload("grpc").unwrap().kind();
    let job = rig::job("grpc", EngineKind::Epoll, params);
    Job { connections: 4, kind: kind.carried("grpc"), ..job }
}

/// Calls our target, which is asked for `target`.
fn call(ours: &Ours, job: &Job, target: &str) -> Measured {
    let mut job = job.clone();
    job.params["url"] = json!(ours.url(target));
    run(&job, ours.address)
}

/// The same, without an error and with as many calls at both ends.
fn agree(ours: Ours, job: &Job, target: &str) -> Measured {
    let seen = call(&ours, job, target);
    let server = ours.stop();
    let engine = job.engine;
    assert_eq!(json!(seen.client.errors), json!({}), "{target} with {engine}");
    assert_eq!(seen.client(Counter::Completed), server.of(Counter::Completed), "{engine}");
    assert_eq!(server.of(Counter::Errors), 0, "{engine}");
    assert!(seen.client(Counter::Counted) > 4, "{target} with {engine}");
    seen
}

/// What blocks can only wait for one of them.
fn streams(job: &Job) -> u32 {
    if job.engine == EngineKind::Threads { 1 } else { 8 }
}

#[test]
fn messages_of_any_length_come_whole_on_every_engine() {
    for mut job in engines(&job(&json!({}))) {
        job.params["streams"] = json!(streams(&job));
        // The prefix; with a payload, its tag and its length.
        for (size, body) in [(0, 5), (1, 8), (127, 134), (128, 136), (300_000, 300_009)] {
            let seen = agree(Ours::start(), &job, &format!("/?size={size}"));
            let figures = seen.figures();
            assert_eq!(figures.metrics["response_body_bytes"], f64::from(body), "{size}");
            assert_eq!(figures.metrics["response_messages"], 1.0, "{size}");
            assert_eq!(json!(seen.client.statuses), json!({"200": seen.client(Counter::Counted)}));
            assert_eq!(seen.client(Counter::Connects), 4);
        }
    }
}

#[test]
fn requests_carry_a_payload_with_and_without_tls() {
    for tls in [false, true] {
        let params = json!({"size": "100000B", "streams": 4, "tls": tls, "insecure_tls": tls});
        let ours = if tls { Ours::over_tls() } else { Ours::start() };
        let seen = agree(ours, &job(&params), "/");
        let sent = seen.client(Counter::SentBytes);
        assert!(sent >= 100_000 * seen.client(Counter::Completed), "{sent} with tls {tls}");
    }
}

#[test]
fn a_certificate_is_shown_on_every_engine() {
    let (certificate, key) = rig::tls::certificate();
    let params = json!({
        "tls": true, "insecure_tls": true, "tls_certificates": certificate, "tls_private_key": key,
    });
    for job in engines(&job(&params)) {
        let ours = Ours::with_tls(rig::tls::asking_config(&certificate));
        let seen = agree(ours, &job, "/?size=1000");
        assert_eq!(seen.client.extra["tls_handshakes"], 4.0, "{}", job.engine);
    }
}

#[test]
fn messages_of_streams_are_counted() {
    let seen = agree(Ours::start(), &job(&json!({"streams": 4})), "/?count=10&size=1000");
    assert_eq!(seen.figures().metrics["response_messages"], 10.0);
    assert_eq!(seen.figures().metrics["response_body_bytes"], 10_080.0);
    let seen = agree(Ours::start(), &job(&json!({"messages": 3, "size": "100B"})), "/?size=1");
    assert_eq!(seen.figures().metrics["response_messages"], 1.0);
    let seen = agree(Ours::start(), &job(&json!({})), "/grpc.health.v1.Health/Check");
    assert_eq!(seen.figures().metrics["response_body_bytes"], 7.0);
}

#[test]
fn each_message_waits_for_the_answer_to_the_one_before() {
    for mut job in engines(&job(&json!({"messages": 5, "ping_pong": true, "size": "2000B"}))) {
        job.params["streams"] = json!(streams(&job));
        let seen = agree(Ours::start(), &job, "/?size=1000&delay=2ms");
        let figures = seen.figures();
        assert_eq!(figures.metrics["response_messages"], 5.0);
        assert_eq!(figures.metrics["response_body_bytes"], 5.0 * 1008.0);
        assert!(seen.latency(LatencyKind::Service).min() >= 10 * MS, "{}", job.engine);
    }
    let params = json!({"messages": 1, "ping_pong": true, "tls": true, "insecure_tls": true});
    let seen = agree(Ours::over_tls(), &job(&params), "/");
    assert_eq!(seen.figures().metrics["response_messages"], 1.0);
}

#[test]
fn a_rate_is_kept() {
    let mut paced =
        Job { schedule: Schedule::Rate(1000.0), connections: 2, ..job(&json!({"streams": 16})) };
    paced.timing.window_ns = SECOND;
    for job in engines(&paced).filter(|job| job.engine != EngineKind::Threads) {
        let seen = agree(Ours::start(), &job, "/?size=100");
        assert_eq!(seen.client(Counter::Counted), seen.client(Counter::Intended));
    }
}

#[test]
fn a_burst_that_fits_the_streams_does_not_wait() {
    let params = json!({"streams": 16});
    let schedule = Schedule::Rate(800.0);
    let mut bursts = Job { schedule, burst: 8, connections: 2, ..job(&params) };
    bursts.timing.window_ns = SECOND / 2;
    for job in engines(&bursts).filter(|job| job.engine != EngineKind::Threads) {
        let seen = agree(Ours::start(), &job, "/?size=100");
        let [intended, counted, queued] =
            [Counter::Intended, Counter::Counted, Counter::Queued].map(|c| seen.client(c));
        assert_eq!(counted, intended, "{}", job.engine);
        // A stall of the machine can make some wait. With one stream each, 6 of 8 would.
        assert!(4 * queued < intended, "{queued} of {intended} with {}", job.engine);
    }
}

#[test]
fn statuses_are_errors_by_their_names() {
    for (target, reason) in [
        ("/?status=14", "grpc_unavailable"),
        ("/?status=8&delay=1ms", "grpc_resource_exhausted"),
        ("/hopbench.v1.Echo/Missing", "grpc_unimplemented"),
    ] {
        let ours = Ours::start();
        let seen = call(&ours, &job(&json!({})), target);
        ours.stop();
        let errors = seen.client(Counter::CountedErrors);
        assert!(errors > 3, "{target}: {errors}");
        assert_eq!(seen.client(Counter::Counted), 0, "{target}");
        assert_eq!(json!(seen.client.errors), json!({reason: errors}), "{target}");
        assert_eq!(json!(seen.client.statuses), json!({"200": errors}), "{target}");
    }
}

#[test]
fn the_server_is_told_how_long_a_call_may_take() {
    let mut job = Job { connections: 1, ..job(&json!({"deadline": "20ms"})) };
    job.timing.window_ns = SECOND / 2;
    let ours = Ours::start();
    let begun = clock::now();
    let seen = call(&ours, &job, "/?delay=10s");
    assert!(clock::now() - begun < 5 * SECOND);
    ours.stop();
    let errors = seen.client(Counter::CountedErrors);
    assert_eq!(json!(seen.client.errors), json!({"grpc_deadline_exceeded": errors}));
    // One in 20 ms at most.
    assert!((5..=25).contains(&errors), "{errors}");
    // An upload takes its time, too.
    let mut large = job.clone();
    for (name, value) in [("size", "15MiB"), ("deadline", "1ms")] {
        large.params[name] = json!(value);
    }
    let ours = Ours::start();
    let seen = call(&ours, &large, "/");
    ours.stop();
    let errors = seen.client(Counter::CountedErrors);
    assert!(errors > 0);
    assert_eq!(json!(seen.client.errors), json!({"grpc_deadline_exceeded": errors}));
    // Half of the time is enough.
    let seen = agree(Ours::start(), &Job { connections: 4, ..job }, "/?delay=10ms");
    assert!(seen.latency(LatencyKind::Service).min() >= 10 * MS);
}
