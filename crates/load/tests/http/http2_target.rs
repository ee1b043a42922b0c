//! Our target over HTTP/2: against our client on every engine, and against curl.

use std::process::Command;

use hopbench_model::{Counter, EngineKind, Job, SECOND, Schedule};
use hopbench_sys::clock;
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::peers::Peer;
use crate::rig::{MS, Measured};
use crate::{engines, job, run};

/// Measures our target and checks that both ends counted the same.
fn agree(ours: Ours, mut job: Job, url: &str, more: &Value) -> Measured {
    job.params["url"] = json!(url);
    job.params["http2"] = json!(true);
    for (name, value) in more.as_object().unwrap() {
        job.params[name.as_str()] = value.clone();
    }
    let seen = run(&job, ours.address);
    let server = ours.stop();
    let engine = job.engine;
    assert_eq!(json!(seen.client.errors), json!({}), "{engine}");
    assert_eq!(seen.client(Counter::Completed), server.of(Counter::Completed), "{engine}");
    assert_eq!(server.of(Counter::Errors), 0, "{engine}");
    assert!(seen.client(Counter::Counted) > 20, "{engine}");
    seen.figures();
    seen
}

/// What blocks can only wait for one of them.
fn streams(job: &Job) -> u32 {
    if job.engine == EngineKind::Threads { 1 } else { 8 }
}

#[test]
fn answers_of_any_length_come_whole_on_every_engine() {
    for job in engines(&job(json!({}))) {
        let more = json!({"streams": streams(&job)});
        for size in [0, 10, 16_384, 300_000] {
            let ours = Ours::start();
            let url = ours.url(&format!("/?size={size}"));
            let seen = agree(ours, job.clone(), &url, &more);
            assert_eq!(seen.figures().metrics["response_body_bytes"], f64::from(size));
            assert_eq!(seen.client(Counter::Connects), 4);
        }
    }
}

#[test]
fn bodies_go_there_and_back_with_and_without_tls() {
    for tls in [false, true] {
        for mut job in engines(&job(json!({}))) {
            // Ciphers without optimisation take milliseconds for such a body.
            job.timing.window_ns = SECOND;
            let ours = if tls { Ours::over_tls() } else { Ours::start() };
            let url = ours.url("/");
            let more = json!({
                "streams": streams(&job), "method": "POST", "body_size": "100000B",
                "tls": tls, "insecure_tls": tls,
            });
            let seen = agree(ours, job, &url, &more);
            assert_eq!(seen.figures().metrics["response_body_bytes"], 100_000.0, "{tls}");
        }
    }
}

#[test]
fn a_rate_over_tls_is_kept() {
    let mut paced = Job { schedule: Schedule::Rate(1000.0), connections: 2, ..job(json!({})) };
    paced.timing.window_ns = SECOND;
    for job in engines(&paced).filter(|job| job.engine != EngineKind::Threads) {
        let ours = Ours::over_tls();
        let url = ours.url("/?size=100");
        let more = json!({"streams": 16, "tls": true, "insecure_tls": true});
        let seen = agree(ours, job, &url, &more);
        assert_eq!(seen.client(Counter::Counted), seen.client(Counter::Intended));
    }
}

/// With one connection, delays of requests at once do not add up.
#[test]
fn delays_of_streams_run_beside_each_other() {
    let ours = Ours::start();
    let url = ours.url("/?delay=20ms");
    let mut job = Job { connections: 1, ..job(json!({})) };
    job.timing.window_ns = SECOND;
    let seen = agree(ours, job, &url, &json!({"streams": 10}));
    let counted = seen.client(Counter::Counted);
    // 10 in each 20 ms are 500 a second; one after another would be 50.
    assert!((250..=510).contains(&counted), "{counted}");
}

/// What curl says of a transfer.
fn curl(arguments: &[&str]) -> String {
    let format = "%{http_version} %{http_code} %{size_download}";
    let mut command = Command::new("curl");
    command.args(["-s", "-k", "-o", "/dev/null", "--max-time", "20", "-w", format]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn curl_is_answered_as_over_http_1() {
    let plain = Ours::start();
    let of = |target: &str, more: &[&str]| {
        let url = plain.url(target);
        curl(&[&["--http2-prior-knowledge", &url], more].concat())
    };
    assert_eq!(of("/?size=10", &[]), "2 200 10");
    assert_eq!(of("/?size=3MiB", &[]), format!("2 200 {}", 3 << 20));
    assert_eq!(of("/?size=10", &["-I"]), "2 200 0");
    assert_eq!(of("/healthz", &[]), "2 200 2");
    assert!(of("/nowhere", &[]).starts_with("2 404 "));
    assert_eq!(of("/?status=204", &[]), "2 204 0");
    assert!(of("/", &["-X", "DELETE"]).starts_with("2 405 "));
    let body = "x".repeat(100_000);
    assert_eq!(of("/", &["-d", &body]), "2 200 100000");
    let begun = clock::now();
    assert_eq!(of("/?delay=300ms&size=1", &[]), "2 200 1");
    assert!(clock::now() - begun >= 300 * MS);
    assert_eq!(curl(&[&plain.url("/?size=10")]), "1.1 200 10");
    plain.stop();
    let secret = Ours::over_tls();
    let url = secret.url("/?size=100000").replace("http://", "https://");
    assert_eq!(curl(&["--http2", &url]), "2 200 100000");
    assert_eq!(curl(&["--http1.1", &url]), "1.1 200 100000");
    secret.stop();
}

/// A server that takes the connection, says its settings, and nothing more.
#[test]
fn a_connection_that_is_dead_is_replaced_and_no_exchange_is_lost() {
    for job in engines(&job(json!({}))).filter(|job| job.engine != EngineKind::Threads) {
        let silent = Peer::start(|mut connection| {
            connection.write(&[0, 0, 0, 4, 0, 0, 0, 0, 0]);
            // Until it closes.
            connection.read_to_end();
        });
        let mut job = Job { connections: 1, ..job };
        job.timing.timeout_ns = SECOND / 20;
        job.timing.window_ns = SECOND / 2;
        job.params["url"] = json!(format!("http://{}/", silent.address));
        job.params["http2"] = json!(true);
        job.params["streams"] = json!(3);
        let seen = run(&job, silent.address);
        let engine = job.engine;
        let timeouts = seen.client(Counter::Timeouts);
        assert!((12..=36).contains(&timeouts), "{timeouts} with {engine}");
        assert!(seen.client(Counter::Connects) > 3, "{engine}");
        assert_eq!(seen.client(Counter::Completed), 0, "{engine}");
        let sent = seen.client(Counter::Sent);
        let errors: u64 = seen.client.errors.values().sum();
        assert_eq!(sent, errors, "{engine}: {:?}", seen.client.errors);
    }
}
