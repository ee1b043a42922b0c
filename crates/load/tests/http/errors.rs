//! Failures of exchanges: counted as what they are, and in no latency.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_model::{Counter, FaultKind, Job, LatencyKind, SECOND, Schedule};
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::peers::{Connection, Peer, SMALL};
use crate::rig::{MS, Measured, Running, run_client};
use crate::{engines, job, run};

/// All exchanges failed, for this one reason.
fn all_failed(seen: &Measured, reason: &str) {
    let engine = seen.job.engine;
    let failed = seen.client(Counter::CountedErrors);
    assert!(failed > 0, "{reason} with {engine}");
    assert_eq!(json!(seen.client.errors), json!({reason: failed}), "{engine}");
    assert_eq!(
        (seen.client(Counter::Counted), seen.client(Counter::Completed)),
        (0, 0),
        "{engine}"
    );
    assert_eq!(seen.latency(LatencyKind::Service).count(), 0, "{engine}");
    let figures = seen.figures();
    assert_eq!(
        (figures.metrics["requests"], figures.metrics["error_ratio"]),
        (0.0, 1.0),
        "{engine}"
    );
    assert!(figures.warnings[0].detail.contains(reason), "{:?}", figures.warnings);
}

#[test]
fn statuses_from_400_on_are_errors() {
    for (target, status, reason) in [
        ("/nowhere", "404", "status_4xx"),
        ("/?status=429", "429", "status_4xx"),
        ("/?status=503&size=9", "503", "status_5xx"),
    ] {
        for job in engines(&job(json!({}))) {
            let ours = Ours::start();
            let mut job = job;
            job.params["url"] = json!(ours.url(target));
            let seen = run(&job, ours.address);
            all_failed(&seen, reason);
            assert_eq!(
                json!(seen.client.statuses),
                json!({status: seen.client(Counter::CountedErrors)})
            );
            // Errors of this sort leave the connection in use, and the server has answered each of
            // them.
            assert_eq!(seen.client(Counter::Connects), 4);
            assert_eq!(seen.client(Counter::Errors), ours.stop().of(Counter::Completed));
        }
    }
}

#[test]
fn answers_that_a_proxy_made_are_counted_by_its_word() {
    let answer = |status, flags| {
        format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\nx-hopbench-flags: {flags}\r\n\r\n")
    };
    for (status, flags, reason) in
        [("503", "UF", "503 UF"), ("429", "RL", "429 RL"), ("503", "-", "status_5xx")]
    {
        let answer = answer(status, flags);
        let peer = Peer::start(move |mut connection| {
            while connection.request() {
                connection.write(answer.as_bytes());
            }
        });
        for job in engines(&job(json!({"url": peer.url()}))) {
            let seen = run(&job, peer.address);
            all_failed(&seen, reason);
            assert_eq!(
                json!(seen.client.statuses),
                json!({status: seen.client(Counter::CountedErrors)})
            );
        }
    }
}

#[test]
fn a_proxy_cannot_make_reasons_without_end() {
    let letter = |n: u64| char::from(b'A' + (n % 26) as u8);
    let peer = Peer::start(move |mut connection| {
        for n in 0.. {
            if !connection.request() {
                return;
            }
            let flags: String = [letter(n), letter(n / 26), letter(n / 676)].iter().collect();
            let head = "HTTP/1.1 503 x\r\nContent-Length: 0\r\nx-hopbench-flags";
            connection.write(format!("{head}: {flags}\r\n\r\n").as_bytes());
        }
    });
    let mut job = job(json!({"url": peer.url()}));
    // So many requests take a while beside other work.
    job.timing.window_ns = 2 * SECOND;
    let seen = run(&job, peer.address);
    let (failed, reasons) = (seen.client(Counter::CountedErrors), &seen.client.errors);
    assert!(failed > 300, "{failed} are too few to tell");
    assert_eq!((reasons.len(), reasons.values().sum::<u64>()), (65, failed), "{reasons:?}");
    assert!(reasons["503 BAA"] > 0 && reasons["other"] > 0, "{reasons:?}");
}

#[test]
fn redirects_are_answers() {
    let ours = Ours::start();
    let seen = run(&job(json!({"url": ours.url("/?status=302")})), ours.address);
    assert_eq!(json!(seen.client.statuses), json!({"302": seen.client(Counter::Counted)}));
    assert_eq!(json!(seen.client.errors), json!({}));
}

#[test]
fn broken_servers_fail_by_reason() {
    type Serve = fn(Connection);
    let cases: [(&str, Serve); 4] = [
        ("response_malformed", |mut connection| {
            if connection.request() {
                connection.write(b"220 mail.example.com ESMTP ready\r\n");
            }
        }),
        ("response_framing", |mut connection| {
            if connection.request() {
                connection
                    .write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok");
            }
        }),
        ("response_truncated", |mut connection| {
            if connection.request() {
                connection.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
            }
        }),
        ("closed_early", |mut connection| {
            connection.request();
        }),
    ];
    for (reason, serve) in cases {
        let peer = Peer::start(serve);
        for job in engines(&job(json!({"url": peer.url()}))) {
            let seen = run(&job, peer.address);
            all_failed(&seen, reason);
            // Without a word: the four that were opened ahead may have been closed at rest.
            let twice = if reason == "closed_early" { 4.0 } else { 0.0 };
            assert_eq!(seen.figures().metrics["reconnects"], twice, "{reason} with {}", job.engine);
            let all = seen.client.extra.get("reconnects_drained").copied().unwrap_or_default();
            assert_eq!(all, twice, "{reason} with {}", job.engine);
        }
    }
}

#[test]
fn a_server_that_stalls_is_given_up() {
    let peer = Peer::start(|mut connection| while connection.request() {});
    for mut job in engines(&job(json!({"url": peer.url()}))) {
        job.timing.timeout_ns = 30 * MS;
        let seen = run(&job, peer.address);
        all_failed(&seen, "timeout");
        assert_eq!(seen.client(Counter::Timeouts), seen.client(Counter::Errors));
        // At most one each 30 ms on each of the 4 connections, and those that were under way at the
        // end.
        assert!(seen.client(Counter::Errors) <= 4 * 6, "{}", seen.client(Counter::Errors));
    }
}

#[test]
fn a_server_that_stalls_holds_up_an_open_loop_visibly() {
    let peer = Peer::start(|mut connection| while connection.request() {});
    let mut job = Job { schedule: Schedule::Rate(200.0), ..job(json!({"url": peer.url()})) };
    job.timing.timeout_ns = 50 * MS;
    let seen = run(&job, peer.address);
    accounted(&seen);
    assert!(seen.client(Counter::Queued) > 0);
    assert!(seen.client.errors.contains_key("timeout"), "{:?}", seen.client.errors);
}

/// Every arrival of an open loop is a success, a failure or unsent.
fn accounted(seen: &Measured) {
    let done = [Counter::Counted, Counter::CountedErrors, Counter::Unsent].map(|c| seen.client(c));
    let intended = seen.client(Counter::Intended);
    assert!(intended > 0);
    assert_eq!(done.iter().sum::<u64>(), intended, "{done:?} with {}", seen.job.engine);
    seen.figures();
}

/// A server that is gone once the workers have been started.
fn vanished(mut job: Job) -> Measured {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    job.params = json!({"url": format!("http://{address}/"), "no_keep_alive": true}).into();
    let client = Running::client(&job, address).unwrap();
    drop(listener);
    client.open();
    client.end().clean()
}

#[test]
fn a_dead_server_is_not_hammered() {
    for job in engines(&job(Value::Null)) {
        let seen = vanished(job);
        all_failed(&seen, "connect_refused");
        // Pauses of 1, 2, 4 ... 64 ms: 8 attempts in 127 ms, the next 100 ms later.
        assert!(
            (4..=4 * 9).contains(&seen.client(Counter::Errors)),
            "{}",
            seen.client(Counter::Errors)
        );
    }
}

#[test]
fn a_dead_server_does_not_make_arrivals_vanish() {
    for job in engines(&Job { schedule: Schedule::Rate(400.0), ..job(Value::Null) }) {
        accounted(&vanished(job));
    }
}

#[test]
fn a_server_that_is_not_there_is_told_before_load_starts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let fault = run_client(&job(json!({"url": format!("{address}")})), address).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Environment);
    assert!(fault.text.contains(&address.to_string()) && fault.text.contains("refused"), "{fault}");
}

#[test]
fn what_is_cut_off_is_told() {
    // Two connections, each busy for longer than the window and its grace.
    let ours = Ours::start();
    let mut job =
        Job { schedule: Schedule::Rate(100.0), ..job(json!({"url": ours.url("/?delay=60s")})) };
    job.connections = 2;
    job.timing.timeout_ns = SECOND / 4;
    let seen = run(&job, ours.address);
    accounted(&seen);
    let failed = seen.client(Counter::CountedErrors);
    let reasons = &seen.client.errors;
    assert!(reasons["timeout"] > 0 && reasons.values().sum::<u64>() == failed, "{reasons:?}");
    assert!(seen.client(Counter::Unsent) > 0);
}

#[test]
fn connections_that_get_no_answer_are_seen_in_a_window_shorter_than_the_timeout() {
    for mut job in engines(&job(Value::Null)) {
        // Two of the four connections never get an answer. They are counted when they ask: the one
        // that is only tried never does, and its thread can run after theirs. A peer for each
        // engine: one that is opened again at the end of a trial would be among the next four.
        let peer = Peer::start({
            let asked = AtomicU64::new(0);
            move |mut connection| {
                let mut number = None;
                while connection.request() {
                    let number =
                        *number.get_or_insert_with(|| asked.fetch_add(1, Ordering::Relaxed));
                    if number % 2 == 0 {
                        connection.write(SMALL);
                    }
                }
            }
        });
        job.params = json!({"url": peer.url()}).into();
        job.timing.timeout_ns = 4 * job.timing.window_ns;
        let seen = run(&job, peer.address);
        assert_eq!(json!(seen.client.errors), json!({"timeout": 2}), "{}", job.engine);
        assert!(seen.client(Counter::Counted) > 2, "{}", job.engine);
        let warned = seen.figures().warnings;
        assert!(warned[0].detail.contains("2 timeout"), "{warned:?}");
    }
}

#[test]
fn an_answer_that_comes_after_the_window_is_in_the_histogram() {
    let ours = Ours::start();
    for mut job in engines(&job(Value::Null)) {
        job.timing.warmup_ns = 50 * MS;
        let (warm_up, window) = (job.timing.warmup_ns, job.timing.window_ns);
        // Longer than all of the load, and one that ends in the window, so that the next begins.
        for delay in [2 * (warm_up + window), warm_up + window / 2] {
            job.params = json!({"url": ours.url(&format!("/?delay={delay}ns"))}).into();
            let seen = run(&job, ours.address);
            let latency = seen.latency(LatencyKind::Service);
            let what = format!("{delay} ns with {}", job.engine);
            assert_eq!(json!(seen.client.errors), json!({}), "{what}");
            assert_eq!((seen.client(Counter::Counted), latency.count()), (4, 4), "{what}");
            assert!(
                latency.min() >= delay - delay / 1000 && latency.max() < 2 * delay,
                "{what}: {latency:?}"
            );
            // What was not completed in the window is in no rate.
            let inside = seen.client.end.counts.since(&seen.client.start.counts);
            if delay > window + warm_up {
                assert_eq!(inside.of(Counter::Completed), 0, "{what}");
            }
        }
    }
}
