//! `http --http2` against nginx: conservation, several requests at once, farewells.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use hopbench_model::{Counter, EngineKind, Job, LatencyKind, SECOND, Schedule};
use hopbench_sys::clock;
use serde_json::{Value, json};

use crate::rig::{self, MS, Measured};
use crate::{engines, job};

/// nginx, which knows that HTTP/2 is spoken.
struct Nginx {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

/// The length of its long answer, bytes.
const LONG: usize = 300_000;

impl Nginx {
    /// One that ends each connection after so many requests. `None`: it is not installed, and
    /// nobody says that it has to be.
    fn start(requests: u32) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = folder.path().display();
        std::fs::write(folder.path().join("long"), vec![b'x'; LONG]).unwrap();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {at}/{name};\n"))
            .concat();
        let text = format!(
            "daemon off; master_process off; pid {at}/pid; error_log {at}/errors;\n\
             events {{}}\n\
             http {{\n{temporary}access_log off; keepalive_requests {requests};\n\
             server {{\n listen 127.0.0.1:{port} http2;\n\
             location /long {{ root {at}; }}\n\
             location /missing {{ return 404; }}\n\
             location / {{ return 200 0123456789; }}\n}}\n}}\n"
        );
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&config).arg("-p").arg(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            let required = std::env::var("HOPBENCH_REQUIRE_TOOLS").as_deref() == Ok("1");
            assert!(!required, "nginx is not installed");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let nginx = Self { child, address, _folder: folder };
        let until = clock::now() + 5 * SECOND;
        while TcpStream::connect(address).is_err() {
            assert!(clock::now() < until, "nginx does not listen");
            clock::sleep_until(clock::now() + 10 * MS);
        }
        Some(nginx)
    }

    fn measure(&self, mut job: Job, target: &str, streams: u32) -> Measured {
        job.params["url"] = json!(format!("http://{}{target}", self.address));
        job.params["http2"] = json!(true);
        job.params["streams"] = json!(streams);
        rig::run_client(&job, self.address).unwrap()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn no_errors(seen: &Measured) {
    assert_eq!(json!(seen.client.errors), json!({}), "{}", seen.job.engine);
}

#[test]
fn several_requests_at_once_lose_nothing_on_any_engine() {
    let Some(nginx) = Nginx::start(1_000_000_000) else { return };
    for job in engines(&job(json!({}))) {
        // What blocks can only wait for one of them.
        let streams = if job.engine == EngineKind::Threads { 1 } else { 8 };
        for (target, bytes) in [("/", 10.0), ("/long", LONG as f64)] {
            let seen = nginx.measure(job.clone(), target, streams);
            no_errors(&seen);
            let engine = seen.job.engine;
            assert!(
                seen.client(Counter::Counted) > u64::from(4 * streams),
                "{target} with {engine}"
            );
            let figures = seen.figures();
            assert_eq!(figures.metrics["response_body_bytes"], bytes, "{target} with {engine}");
            let statuses: Value = json!(seen.client.statuses);
            assert_eq!(statuses, json!({"200": seen.client(Counter::Counted)}), "{engine}");
        }
    }
}

#[test]
fn a_body_is_sent_within_the_windows() {
    let Some(nginx) = Nginx::start(1_000_000_000) else { return };
    let params = json!({"method": "POST", "body_size": "300000B"});
    let seen = nginx.measure(job(params), "/", 4);
    no_errors(&seen);
    // nginx answers before it has read all of it.
    assert!(seen.client(Counter::Completed) > 100, "{}", seen.client(Counter::Completed));
    seen.figures();
}

#[test]
fn a_rate_is_kept_and_accounted_for() {
    let Some(nginx) = Nginx::start(1_000_000_000) else { return };
    let mut paced = Job { schedule: Schedule::Rate(2000.0), connections: 2, ..job(json!({})) };
    paced.timing.window_ns = SECOND;
    for job in engines(&paced).filter(|job| job.engine != EngineKind::Threads) {
        let seen = nginx.measure(job, "/", 16);
        no_errors(&seen);
        let engine = seen.job.engine;
        let intended = seen.client(Counter::Intended);
        assert!((1999..=2001).contains(&intended), "{intended} with {engine}");
        assert_eq!(seen.client(Counter::Counted), intended, "{engine}");
        for kind in [LatencyKind::Service, LatencyKind::Response, LatencyKind::Lateness] {
            assert_eq!(seen.latency(kind).count(), intended, "{kind:?} with {engine}");
        }
        seen.figures();
    }
}

#[test]
fn a_server_that_says_farewell_is_asked_again_on_another_connection() {
    let Some(nginx) = Nginx::start(50) else { return };
    let seen = nginx.measure(job(json!({})), "/", 4);
    no_errors(&seen);
    let counted = seen.client(Counter::Counted);
    assert!(counted > 200, "{counted} answers");
    assert!(seen.client(Counter::Connects) > counted / 60, "{}", seen.client(Counter::Connects));
    assert!(seen.figures().metrics["reconnects"] > 0.0, "those that were under way");
}

#[test]
fn answers_with_an_error_are_counted_by_their_status() {
    let Some(nginx) = Nginx::start(1_000_000_000) else { return };
    let seen = nginx.measure(job(json!({})), "/missing", 4);
    assert_eq!(seen.client(Counter::Counted), 0);
    let errors = seen.client(Counter::CountedErrors);
    assert_eq!(json!(seen.client.errors), json!({"status_4xx": errors}));
}
