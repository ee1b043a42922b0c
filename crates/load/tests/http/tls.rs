//! `http` over TLS: known answers, conservation, and a real peer.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_model::{Counter, EngineKind, Job, LatencyKind, SECOND, Schedule};
use hopbench_sys::clock;
use rustls::ServerConnection;
use serde_json::{Value, json};

use crate::ours::Ours;
use crate::peers::Peer;
use crate::rig::{self, MS, Measured};
use crate::{engines, job};

/// A job with these parameters beside the URL, and the target that it was run against.
fn against_ours(job: Job, target: &str, more: &[(&str, Value)]) -> Measured {
    against(Ours::over_tls(), job, target, more)
}

/// The same against this target.
fn against(ours: Ours, mut job: Job, target: &str, more: &[(&str, Value)]) -> Measured {
    job.params["url"] = json!(ours.url(target).replace("http://", "https://"));
    for (name, value) in more {
        job.params[*name] = value.clone();
    }
    let seen = rig::run_client(&job, ours.address).unwrap();
    ours.stop();
    assert_eq!(json!(seen.client.errors), json!({}));
    seen
}

fn insecure() -> [(&'static str, Value); 1] {
    [("insecure_tls", json!(true))]
}

#[test]
fn every_engine_speaks_it_and_loses_nothing() {
    for job in engines(&job(json!({}))) {
        let seen = against_ours(job, "/?size=100000", &insecure());
        let (engine, figures) = (seen.job.engine, seen.figures());
        assert!(seen.client(Counter::Counted) > 0, "{engine}");
        assert_eq!(figures.metrics["response_body_bytes"], 100_000.0, "{engine}");
        assert_eq!(figures.metrics["tls_handshakes"], 4.0, "one a connection with {engine}");
        assert!(seen.client.settings["tls"].starts_with("TLSv1_3 "), "{:?}", seen.client.settings);
        assert_eq!(seen.client.settings["tls_certificate"], "not checked: --insecure-tls");
    }
}

#[test]
fn a_body_goes_there_and_back() {
    let params = json!({"method": "POST", "body_size": "300000B", "expect_size": "300000B"});
    for version in ["1.2", "1.3"] {
        let more = [("insecure_tls", json!(true)), ("tls_version", json!(version))];
        let seen = against_ours(job(params.clone()), "/", &more);
        let figures = seen.figures();
        assert!(seen.client(Counter::Counted) > 0, "TLS {version}");
        assert_eq!(figures.metrics["response_body_bytes"], 300_000.0, "TLS {version}");
        assert!(!figures.metrics.contains_key("unexpected_sizes"), "TLS {version}");
    }
}

#[test]
fn a_delay_is_seen_as_it_is() {
    let mut delayed = Job { schedule: Schedule::Rate(50.0), ..job(json!({})) };
    delayed.timing.window_ns = SECOND / 2;
    for job in engines(&delayed) {
        let seen = against_ours(job, "/?delay=5ms", &insecure());
        for kind in [LatencyKind::Service, LatencyKind::Response] {
            let histogram = seen.latency(kind);
            assert!(histogram.min() >= 5 * MS, "{kind:?}: {}", histogram.min());
            let p50 = histogram.percentile(50.0);
            assert!(p50 < 8 * MS, "{kind:?} with {}: {p50}", seen.job.engine);
        }
    }
}

#[test]
fn new_connections_resume_unless_they_must_not() {
    for (version, resumes) in [("1.2", true), ("1.3", true), ("1.3", false)] {
        let more = [
            ("insecure_tls", json!(true)),
            ("no_keep_alive", json!(true)),
            ("tls_version", json!(version)),
            ("no_tls_resumption", json!(!resumes)),
        ];
        let seen = against_ours(job(json!({})), "/", &more);
        let of = |name: &str| seen.figures().metrics.get(name).copied().unwrap_or(0.0);
        let (all, resumed) = (of("tls_handshakes"), of("tls_resumed"));
        assert!(all >= seen.client(Counter::Completed) as f64, "{all}");
        // The first ones of each connection slot may be on their way together.
        let expected = if resumes { all - 4.0..=all } else { 0.0..=0.0 };
        assert!(expected.contains(&resumed), "{resumed} of {all} with TLS {version}");
        let handshakes = seen.latency(LatencyKind::Tls);
        assert!(handshakes.count() > 0 && handshakes.min() > 0);
        let connects = seen.latency(LatencyKind::Connect);
        assert!(connects.mean() > 0.5 * handshakes.mean(), "it is a part of it");
    }
}

/// Why nothing is measured.
fn refused(url: &str, address: SocketAddr, more: &[(&str, Value)]) -> String {
    let mut job = job(json!({"url": url}));
    more.iter().for_each(|(name, value)| job.params[*name] = value.clone());
    rig::run_client(&job, address).map(drop).unwrap_err().text
}

/// The parameters of a client with this certificate and its key.
fn identity((certificate, key): &(String, String)) -> [(&'static str, Value); 3] {
    let [insecure] = insecure();
    [insecure, ("tls_certificates", json!(certificate)), ("tls_private_key", json!(key))]
}

#[test]
fn a_certificate_is_shown_on_every_engine_with_resumption_and_without() {
    let own = rig::tls::certificate();
    for (version, resumes) in [("1.2", true), ("1.3", true), ("1.2", false), ("1.3", false)] {
        let setting = [
            ("no_keep_alive", json!(true)),
            ("tls_version", json!(version)),
            ("no_tls_resumption", json!(!resumes)),
        ];
        let more = [&identity(&own)[..], &setting].concat();
        for job in engines(&job(json!({}))) {
            let what = format!("TLS {version} with {}", job.engine);
            let ours = Ours::with_tls(rig::tls::asking_config(&own.0));
            let seen = against(ours, job, "/?size=1000", &more);
            assert!(seen.client(Counter::Counted) > 0, "{what}");
            let metrics = seen.figures().metrics;
            let of = |name: &str| metrics.get(name).copied().unwrap_or(0.0);
            let (all, resumed) = (of("tls_handshakes"), of("tls_resumed"));
            // The first ones of each connection slot may be on their way together.
            let expected = if resumes { all - 4.0..=all } else { 0.0..=0.0 };
            assert!(expected.contains(&resumed), "{resumed} of {all}: {what}");
        }
    }
    for job in engines(&job(json!({"http2": true}))) {
        let ours = Ours::with_tls(rig::tls::asking_config(&own.0));
        let seen = against(ours, job, "/?size=1000", &identity(&own));
        let engine = seen.job.engine;
        assert!(seen.client(Counter::Counted) > 0, "HTTP/2 with {engine}");
        assert_eq!(seen.figures().metrics["tls_handshakes"], 4.0, "HTTP/2 with {engine}");
    }
}

#[test]
fn a_server_that_does_not_take_the_client_is_found_before_anything_is_measured() {
    let (own, other) = (rig::tls::certificate(), rig::tls::certificate());
    for version in ["1.2", "1.3"] {
        for (shown, part) in [
            (&insecure()[..], "asks for a certificate of the client (CertificateRequired)"),
            (&identity(&other), "asks for a certificate and does not take that of --tls-cert ("),
        ] {
            let ours = Ours::with_tls(rig::tls::asking_config(&own.0));
            let more = [shown, &[("tls_version", json!(version))]].concat();
            let why = refused(&format!("https://{}/", ours.address), ours.address, &more);
            assert!(why.contains(part), "TLS {version}: {why}");
            ours.cut();
        }
    }
}

#[test]
fn certificates_that_a_server_misses_later_are_counted_as_such() {
    let (authority, _) = rig::tls::certificate();
    for version in ["1.2", "1.3"] {
        for mut job in engines(&job(json!({}))) {
            // The connection ahead of the trial is let in.
            let kinds = [rig::tls::server_config(), rig::tls::asking_config(&authority)];
            let is_later = AtomicBool::new(false);
            let peer = Peer::start(move |connection| {
                let kind = &kinds[usize::from(is_later.swap(true, Ordering::Relaxed))];
                let mut stream = connection.into_stream();
                let mut tls = ServerConnection::new(Arc::clone(kind)).unwrap();
                let _ = tls.complete_io(&mut stream);
                // Until it closes: a reset could overtake the alert.
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            });
            job.params = json!({
                "url": format!("https://{}/", peer.address),
                "insecure_tls": true,
                "no_keep_alive": true,
                "tls_version": version,
            })
            .into();
            let seen = rig::run_client(&job, peer.address).unwrap();
            let (failed, what) = (seen.client(Counter::CountedErrors), job.engine);
            assert!(failed > 0, "TLS {version} with {what}");
            let expected = json!({"tls_certificate_required": failed});
            assert_eq!(json!(seen.client.errors), expected, "TLS {version} with {what}");
            assert_eq!(seen.client(Counter::Counted), 0, "TLS {version} with {what}");
            let warned = seen.figures().warnings;
            assert!(warned[0].detail.contains("tls_certificate_required"), "{warned:?}");
        }
    }
}

#[test]
fn who_does_not_agree_is_found_before_anything_is_measured() {
    let ours = Ours::over_tls();
    let url = format!("https://{}/", ours.address);
    let (other, _) = rig::tls::certificate();
    let unknown = refused(&url, ours.address, &[("tls_authorities", json!(other))]);
    assert!(unknown.contains("its certificate is not trusted"), "{unknown}");
    assert!(unknown.contains("--insecure-tls"), "{unknown}");
    ours.cut();
    let plain = Peer::start(|mut connection| {
        connection.write(crate::peers::SMALL);
        // Until it closes: a reset could overtake the answer.
        connection.request();
    });
    let why = refused(&format!("https://{}/", plain.address), plain.address, &insecure());
    assert!(why.contains("does it speak TLS there?"), "{why}");
}

/// `openssl s_server`, which answers each connection with a page and closes it.
struct OpenSsl {
    child: Child,
    address: SocketAddr,
    folder: tempfile::TempDir,
}

impl OpenSsl {
    /// One that takes only clients with a certificate of this authority, in PEM. `None`: it is not
    /// installed, and nobody says that it has to be.
    fn start(version: &str, authority: &str) -> Option<Self> {
        let (pem, key) = rig::tls::certificate();
        let folder = tempfile::tempdir().unwrap();
        let files = [("c.pem", pem.as_str()), ("k.pem", &key), ("a.pem", authority)];
        let [certificate, private, authority] = files.map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        });
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args([
            "s_server",
            "-www",
            "-quiet",
            version,
            "-accept",
            &format!("127.0.0.1:{port}"),
        ]);
        command.arg("-cert").arg(certificate).arg("-key").arg(private);
        command.args(["-Verify", "1", "-verify_return_error", "-CAfile"]).arg(authority);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            let required = std::env::var("HOPBENCH_REQUIRE_TOOLS").as_deref() == Ok("1");
            assert!(!required, "openssl is not installed");
            return None;
        };
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let until = clock::now() + 5 * SECOND;
        while TcpStream::connect(address).is_err() {
            assert!(clock::now() < until, "openssl does not listen");
            clock::sleep_until(clock::now() + 10 * MS);
        }
        Some(Self { child, address, folder })
    }
}

impl Drop for OpenSsl {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_of_another_library_is_understood() {
    for (flag, agreed) in [("-tls1_2", "TLSv1_2 "), ("-tls1_3", "TLSv1_3 ")] {
        let own = rig::tls::certificate();
        let Some(peer) = OpenSsl::start(flag, &own.0) else { return };
        let authority = std::fs::read_to_string(peer.folder.path().join("c.pem")).unwrap();
        let params = json!({
            "url": format!("https://{}/", peer.address),
            "tls_authorities": authority,
            "tls_name": rig::tls::NAME,
            "tls_certificates": own.0,
            "tls_private_key": own.1,
            "no_keep_alive": true,
        });
        let one = Job { connections: 1, ..job(params) };
        let seen =
            rig::run_client(&Job { engine: EngineKind::Epoll, ..one }, peer.address).unwrap();
        assert_eq!(json!(seen.client.errors), json!({}), "{flag}");
        assert!(seen.client(Counter::Counted) > 0, "{flag}");
        assert!(seen.client.settings["tls"].starts_with(agreed), "{:?}", seen.client.settings);
        assert!(!seen.client.settings.contains_key("tls_certificate"), "it was checked");
        let url = format!("https://{}/", peer.address);
        let why = refused(&url, peer.address, &insecure());
        assert!(why.contains("it asks for a certificate of the client ("), "{flag}: {why}");
    }
}
