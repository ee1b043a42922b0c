//! The binary as the policy and the telemetry service, by itself and with a real Envoy.

mod application;
mod envoy;

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixStream};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use application::{Application, BODY, get};
use envoy::Envoy;
use serde_json::Value;

use crate::lab::program::{Finished, Running, run};
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{process, program, words};

/// An address that is free, and still is when somebody takes it: no other process uses that of this
/// one, and no socket gets a port below 32768 by itself.
fn free_address() -> SocketAddr {
    static PORT: AtomicU16 = AtomicU16::new(20_000);
    let [_, a, b, c] = std::process::id().to_be_bytes();
    SocketAddr::from(([127, 128 | a, b, c], PORT.fetch_add(1, Ordering::Relaxed)))
}

/// One of the services.
struct Service {
    word: &'static str,
    running: Option<Running>,
    listen: SocketAddr,
    admin: String,
}

impl Service {
    fn start(word: &'static str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let admin = format!("@hopbench-test-{}-{number}", std::process::id());
        let mut service = Self { word, running: None, listen: free_address(), admin };
        service.start_again();
        service
    }

    /// Starts its process, at the same address.
    fn start_again(&mut self) {
        let line = format!("{} --listen {} --admin {}", self.word, self.listen, self.admin);
        self.running = Some(Running::start(&mut program(&words(&line))));
        let up = until(10 * S, || self.try_totals());
        let word = self.word;
        assert!(up.is_some(), "{word} does not come up: {}", self.stop("KILL").story());
    }

    fn stop(&mut self, signal: &str) -> Finished {
        let running = self.running.take().expect("it is running");
        running.signal(signal);
        running.finish_within(5 * S)
    }

    fn pid(&self) -> u32 {
        self.running.as_ref().expect("it is running").pid()
    }

    fn try_totals(&self) -> Option<Value> {
        let address = UnixAddress::from_abstract_name(&self.admin[1..]).expect("a name");
        serde_json::from_reader(UnixStream::connect_addr(&address).ok()?).ok()
    }

    fn total(&self, name: &str) -> u64 {
        let totals = self.try_totals().expect("totals");
        totals[name].as_u64().unwrap_or_else(|| panic!("no {name} in {totals}"))
    }
}

/// Both services, an application, and Envoy between them.
struct Rig {
    policy: Service,
    telemetry: Service,
    application: Application,
    envoy: Envoy,
}

impl Rig {
    fn new() -> Option<Self> {
        let program = crate::lab::envoy::program()?;
        let (policy, telemetry) = (Service::start("policy"), Service::start("telemetry"));
        let application = Application::start();
        let envoy = Envoy::start(&program, application.address, policy.listen, telemetry.listen);
        Some(Self { policy, telemetry, application, envoy })
    }

    fn http(&self) -> TcpStream {
        TcpStream::connect(self.envoy.http).expect("a connection")
    }

    /// Waits until as many reports have come, and a little longer for one too many.
    fn reports(&self, expected: u64) {
        let came = until(10 * S, || (self.telemetry.total("reports") >= expected).then_some(()));
        pause(200 * MS);
        let found = self.telemetry.total("reports");
        let (log, totals) = (self.envoy.log(), self.telemetry.try_totals());
        assert!(
            came.is_some() && found == expected,
            "{found} reports of {expected}: {totals:?}; envoy: {log}"
        );
    }
}

#[test]
fn each_request_is_checked_and_reported() {
    let Some(rig) = Rig::new() else { return };
    for _ in 0..3 {
        let connection = rig.http();
        for n in 0..5 {
            let answer = get(&connection, &format!("/a?n={n}"), "").expect("an answer");
            assert_eq!((answer.code, &*answer.body), (200, BODY), "{answer:?}");
        }
    }
    let connection = rig.http();
    for _ in 0..4 {
        let answer = get(&connection, "/a", "x-hopbench-deny: 1\r\n").expect("an answer");
        assert_eq!(answer.code, 403);
        assert!(answer.header.contains(&"x-hopbench-deny: asked-for".to_owned()), "{answer:?}");
        assert_eq!(answer.body, "denied by the rule `asked-for`\n");
    }
    assert_eq!(rig.application.requests(), 15, "what is denied does not reach it");
    let policy = |name| rig.policy.total(name);
    assert_eq!((policy("checks"), policy("http_checks"), policy("denied")), (19, 19, 4));
    assert_eq!(policy("failed_calls"), 0);

    rig.reports(19);
    assert_eq!(rig.telemetry.total("http_reports"), 19);
    assert_eq!(rig.telemetry.total("failed_calls"), 0);
    let totals = rig.telemetry.try_totals().expect("totals");
    let series = |at: usize| {
        let series = &totals["series"]["busiest"][at];
        let label = &series["label"];
        assert_eq!(
            (&label["kind"], &label["peer"], &label["path"]),
            (&"http".into(), &"127.0.0.1".into(), &"/a".into())
        );
        (
            label["code"].as_u64().unwrap_or(0),
            series["reports"].as_u64().unwrap_or(0),
            series.clone(),
        )
    };
    let (code, reports, answered) = series(0);
    assert_eq!((code, reports), (200, 15));
    assert!(answered["sent_bytes"].as_u64() >= Some(15 * BODY.len() as u64), "{answered}");
    assert!(answered["p50_below_ns"].as_u64() > Some(2), "durations are reported: {answered}");
    let (code, reports, _) = series(1);
    assert_eq!((code, reports), (403, 4));
}

#[test]
fn each_connection_is_checked_and_reported() {
    let Some(rig) = Rig::new() else { return };
    for n in 0..7 {
        let connection = TcpStream::connect(rig.envoy.tcp).expect("a connection");
        for _ in 0..=n {
            assert_eq!(get(&connection, "/", "").expect("an answer").code, 200);
        }
    }
    assert_eq!(rig.policy.total("tcp_checks"), 7, "once a connection, not once a request");
    // The rule about a network of the loopback interface.
    let denied = hopbench_sys::Socket::tcp(rig.envoy.tcp).expect("a socket");
    denied.bind("127.66.0.1:0".parse().expect("an address")).expect("an address of this machine");
    denied.connect(rig.envoy.tcp).expect("a connection");
    denied.wait_connected(std::time::Duration::from_secs(5));
    denied.connected().expect("a connection");
    denied.send(b"GET / HTTP/1.1\r\n\r\n").expect("bytes that are sent");
    let mut buffer = [0; 64];
    let closed = until(10 * S, || match denied.recv(&mut buffer) {
        Ok(bytes) => Some(bytes == 0),
        Err(error) => (error.kind() != std::io::ErrorKind::WouldBlock).then_some(true),
    });
    assert_eq!(closed, Some(true), "closed without an answer");
    let policy = |name| rig.policy.total(name);
    assert_eq!((policy("checks"), policy("tcp_checks"), policy("denied")), (8, 8, 1));
    assert_eq!(rig.application.requests(), 28, "what is denied does not reach it");
    rig.reports(8);
    assert_eq!(rig.telemetry.total("tcp_reports"), 8);
    assert!(rig.telemetry.total("sent_bytes") >= 28 * BODY.len() as u64);
}

#[test]
fn without_the_policy_service_nothing_passes_until_it_is_back() {
    let Some(mut rig) = Rig::new() else { return };
    let connection = rig.http();
    assert_eq!(get(&connection, "/", "").expect("an answer").code, 200);
    assert_eq!(rig.policy.stop("KILL").code, None, "by a signal");
    for _ in 0..3 {
        let answer = get(&rig.http(), "/", "").expect("an answer");
        assert!([403, 503].contains(&answer.code), "{answer:?}");
    }
    assert_eq!(rig.application.requests(), 1);
    rig.policy.start_again();
    let back = until(10 * S, || (get(&rig.http(), "/", "")?.code == 200).then_some(()));
    assert!(back.is_some(), "envoy: {}", rig.envoy.log());
    assert_eq!(rig.policy.total("checks"), 1);
}

#[test]
fn without_the_telemetry_service_all_passes_and_it_is_told_when_it_is_back() {
    let Some(mut rig) = Rig::new() else { return };
    let connection = rig.http();
    assert_eq!(get(&connection, "/", "").expect("an answer").code, 200);
    rig.reports(1);
    assert_eq!(rig.telemetry.stop("TERM").code, Some(0));
    for _ in 0..3 {
        assert_eq!(get(&connection, "/", "").expect("an answer").code, 200);
    }
    pause(200 * MS);
    rig.telemetry.start_again();
    // What could not be told is lost; that it can be told again takes Envoy a request or two.
    let told = until(10 * S, || {
        assert_eq!(get(&connection, "/", "").expect("an answer").code, 200);
        pause(100 * MS);
        (rig.telemetry.total("reports") > 0).then_some(())
    });
    assert!(told.is_some(), "envoy: {}", rig.envoy.log());
}

#[test]
fn they_end_when_they_are_told_to() {
    for word in ["policy", "telemetry"] {
        let mut service = Service::start(word);
        // Somebody in the middle of something does not keep it.
        let mut peer = TcpStream::connect(service.listen).expect("a connection");
        peer.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("bytes that are sent");
        // Ctrl-C is the conductor's.
        process::signal(service.pid(), "INT");
        pause(100 * MS);
        assert!(service.try_totals().is_some(), "{word} goes on");
        let finished = service.stop("TERM");
        assert_eq!(
            (finished.code, &*finished.stdout, &*finished.stderr),
            (Some(0), "", ""),
            "{word}"
        );
    }
}

#[test]
fn they_are_small() {
    for word in ["policy", "telemetry"] {
        let service = Service::start(word);
        assert_eq!(process::status(service.pid(), "Threads"), 1, "{word}");
        let bytes = process::resident_bytes(service.pid());
        assert!(bytes < 64 << 20, "{word}: {bytes} bytes");
    }
}

#[test]
fn threads_serve_together() {
    let (listen, admin) =
        (free_address(), format!("@hopbench-test-{}-threads", std::process::id()));
    let line = format!("policy --listen {listen} --admin {admin} --threads 3");
    let running = Running::start(&mut program(&words(&line)));
    let service = Service { word: "policy", running: Some(running), listen, admin };
    assert!(until(10 * S, || service.try_totals()).is_some());
    assert_eq!(
        process::status(service.pid(), "Threads"),
        4,
        "3 and the one that waits for the signal"
    );
}

#[test]
fn what_cannot_be_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().map(|address| (taken, address)).expect("its address");
    let policy = Service::start("policy");
    let free = free_address().to_string();
    let taken_address = taken.1.to_string();
    for word in ["policy", "telemetry"] {
        for (arguments, code, said) in [
            (
                vec!["--listen", &taken_address],
                3,
                &*format!("cannot listen on {taken_address}: Address already in use"),
            ),
            (
                vec!["--listen", &free, "--admin", &policy.admin],
                3,
                &*format!("cannot listen on {}", policy.admin),
            ),
            (vec!["--listen", &free, "--admin", "name"], 2, "--admin: found `name`, expected `@`"),
            (vec!["--listen", "nowhere"], 2, "--listen"),
            (vec!["--listen", &free, "--threads", "0"], 2, "--threads"),
            (vec![], 2, "--listen"),
        ] {
            let arguments: Vec<_> = [&[word][..], &arguments].concat();
            let finished = run(&mut program(&arguments));
            assert_eq!(finished.code, Some(code), "{arguments:?}: {}", finished.story());
            assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.story());
        }
    }
}

#[test]
fn they_are_a_testbeds_and_not_in_the_help() {
    let help = run(&mut program(&["--help"])).stdout;
    for word in ["policy", "telemetry"] {
        assert!(!help.contains(word), "{help}");
        assert!(
            run(&mut program(&[word, "--help"])).stdout.contains("--admin <@NAME|127.0.0.1:PORT>")
        );
    }
}
