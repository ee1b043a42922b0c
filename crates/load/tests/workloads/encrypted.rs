//! Flows over TLS: what was sent arrives, on every engine, and handshakes are counted.

use hopbench_model::{Counter, EngineKind, Job, LatencyKind, SECOND};
use serde_json::json;

use crate::rig::{self, Measured, flags, run};

/// A closed loop of 4 connections and 2 threads over TLS.
fn job(workload: &str, words: &[&str], engine: EngineKind) -> Job {
    let words = [&["--tls"], words].concat();
    let job = rig::job(workload, engine, flags(workload, &words));
    Job { connections: 4, threads: 2, ..job }
}

/// Sent at one end is received at the other, and nothing failed.
#[track_caller]
fn conserved(seen: &Measured) {
    use Counter::{ReceivedBytes, SentBytes};
    let job = &seen.job;
    assert_eq!(seen.client(SentBytes), seen.server(ReceivedBytes), "to the server: {job:?}");
    assert_eq!(seen.server(SentBytes), seen.client(ReceivedBytes), "from it: {job:?}");
    assert_eq!(json!(seen.client.errors), json!({}), "{job:?}");
    assert!(!seen.client.extra.contains_key("tls_cut_off"), "{job:?}");
    seen.figures();
}

#[test]
fn requests_and_answers_are_whole_on_every_engine() {
    for engine in EngineKind::ALL {
        for size in ["1", "16384", "300000"] {
            let seen = run(&job("rr", &["--size", size], *engine));
            conserved(&seen);
            assert!(seen.client(Counter::Counted) > 4, "{size} with {engine}");
            assert_eq!(seen.client(Counter::Completed), seen.server(Counter::Completed));
            assert_eq!(seen.client.extra["tls_handshakes"], 4.0, "one a connection");
            assert_eq!(seen.latency(LatencyKind::Tls).count(), 0, "they were before the window");
            let agreed = &seen.client.settings["tls"];
            assert!(agreed.starts_with("TLSv1_3 TLS13_AES_256_GCM"), "{agreed}");
        }
    }
}

#[test]
fn bytes_in_bulk_are_whole_on_every_engine() {
    for engine in EngineKind::ALL {
        for direction in ["to-server", "from-server", "both"] {
            let words = ["--direction", direction, "--tls-cipher", "aes-128-gcm"];
            let seen = run(&job("stream", &words, *engine));
            conserved(&seen);
            let moved = seen.client(Counter::SentBytes) + seen.client(Counter::ReceivedBytes);
            assert!(moved > 1_000_000, "{moved} {direction} with {engine}");
            let agreed = &seen.client.settings["tls"];
            assert!(agreed.contains("AES_128_GCM"), "{agreed}");
        }
    }
}

#[test]
fn pushed_messages_are_whole_on_every_engine() {
    for engine in EngineKind::ALL {
        for (size, version, agreed) in
            [("16", "1.3", "TLSv1_3 "), ("25kB", "1.2", "TLSv1_2 "), ("300000", "1.3", "TLSv1_3 ")]
        {
            let words = ["--size", size, "--rate", "50", "--tls-version", version];
            let mut job = job("push", &words, *engine);
            job.timing.window_ns = SECOND / 2;
            let seen = run(&job);
            conserved(&seen);
            let sent = seen.server(Counter::Sent);
            assert!(sent > 4, "{sent} of {size} with {engine}");
            assert_eq!(seen.client(Counter::Completed), sent, "{size} with {engine}");
            assert_eq!(seen.latency(LatencyKind::Delay).count(), seen.client(Counter::Counted));
            let figures = seen.figures();
            let is_clean = |name: &str| figures.invariants.iter().any(|one| one.name == name);
            assert!(is_clean("received_eq_sent_at_close"), "{size} with {engine}");
            assert_eq!(figures.metrics["tls_handshakes"], 4.0, "one a connection");
            assert!(seen.client.settings["tls"].starts_with(agreed), "{:?}", seen.client.settings);
        }
    }
}

#[test]
fn each_connection_of_crr_has_its_handshake() {
    for engine in EngineKind::ALL {
        for (words, version) in [
            (&["--tls-version", "1.3"][..], "TLSv1_3"),
            (&["--tls-version", "1.2"], "TLSv1_2"),
            (&["--no-tls-resumption"], "TLSv1_3"),
        ] {
            let mut job = job("crr", words, *engine);
            job.timing.window_ns = SECOND / 2;
            let seen = run(&job);
            conserved(&seen);
            let (done, figures) = (seen.client(Counter::Completed), seen.figures());
            assert!(done > 8, "{done} {words:?} with {engine}");
            assert_eq!(seen.server(Counter::Completed), done, "{words:?} with {engine}");
            let shaken = figures.metrics["tls_handshakes"];
            assert_eq!(shaken, seen.client(Counter::Connects) as f64, "{words:?} with {engine}");
            let resumed = figures.metrics.get("tls_resumed").copied().unwrap_or(0.0);
            // Each thread's first ones have nothing to go on with.
            let expected = if words.contains(&"--no-tls-resumption") {
                resumed == 0.0
            } else {
                resumed >= shaken - 8.0
            };
            assert!(expected, "{resumed} of {shaken} {words:?} with {engine}");
            assert!(seen.client.settings["tls"].starts_with(version), "{words:?}");
            let (connect, tls) =
                (seen.latency(LatencyKind::Connect), seen.latency(LatencyKind::Tls));
            assert!(tls.count() > 0 && tls.mean() < connect.mean(), "{words:?} with {engine}");
            assert!(!figures.metrics.contains_key("left_open_by_server"), "{words:?}");
        }
    }
}

/// Both ends show a certificate, with full handshakes and with those that are resumed.
#[test]
fn mutual_handshakes_are_whole_on_every_engine() {
    for engine in EngineKind::ALL {
        for version in ["1.2", "1.3"] {
            for more in [&[][..], &["--no-tls-resumption"]] {
                let words = [&["--tls-mutual", "--tls-version", version], more].concat();
                let mut job = job("crr", &words, *engine);
                job.timing.window_ns = SECOND / 2;
                let seen = run(&job);
                conserved(&seen);
                let done = seen.client(Counter::Completed);
                assert!(done > 8, "{done} {words:?} with {engine}");
                assert_eq!(seen.server(Counter::Completed), done, "{words:?} with {engine}");
                let resumed = seen.figures().metrics.get("tls_resumed").copied().unwrap_or(0.0);
                assert_eq!(resumed > 0.0, more.is_empty(), "{words:?} with {engine}");
            }
        }
    }
}

/// Those of a rate come whole, and the note says what the queues hold.
#[test]
fn the_account_says_that_queues_hold_records() {
    let mut slow = job("stream", &["--rate", "100Mbit"], EngineKind::Epoll);
    slow.timing.window_ns = SECOND;
    let seen = run(&slow);
    conserved(&seen);
    let figures = seen.figures();
    let note = &figures.explanation[0];
    assert!(note.contains("all of these in records of TLS"), "{note}");
}

#[test]
fn what_cannot_be_encrypted_is_refused() {
    for (workload, words, part) in [
        ("rr", &["--udp"][..], "datagrams are not encrypted"),
        ("stream", &["--receive", "discard"], "cannot be decrypted"),
        ("crr", &["--tls-version", "1.1"], "1.2 or 1.3"),
        ("push", &["--tls-version", "1.0"], "1.2 or 1.3"),
        ("rr", &["--tls-cipher", "rot13"], "aes-128-gcm, aes-256-gcm, chacha20-poly1305"),
    ] {
        let job = job(workload, words, EngineKind::Epoll);
        let problems = hopbench_load::workload(workload).unwrap().problems(&job);
        let [problem] = &problems[..] else { panic!("{words:?}: {problems:?}") };
        assert!(problem.expected.contains(part), "{words:?}: {problem}");
    }
}

#[test]
fn what_only_encrypted_connections_have_needs_encryption() {
    for words in [
        &["--tls-mutual"][..],
        &["--tls-version", "1.3"],
        &["--tls-cipher", "aes-128-gcm"],
        &["--no-tls-resumption"],
    ] {
        for workload in ["crr", "push", "rr", "stream"] {
            let job = rig::job(workload, EngineKind::Epoll, flags(workload, words));
            let problems = hopbench_load::workload(workload).unwrap().problems(&job);
            let [problem] = &problems[..] else { panic!("{workload} {words:?}: {problems:?}") };
            let told = problem.to_string();
            assert!(told.contains(words[0]) && told.contains("--tls beside it"), "{told}");
        }
    }
}
