mod client;
mod hostile;

use std::net::SocketAddr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::UnixStream;

use serde_json::Value;

use super::*;
use crate::policy::Policy;
use crate::telemetry::Telemetry;
use client::{Answer, Client, frame};

/// A server on a thread of its own.
struct Running<S: Service> {
    server: Arc<Server<S>>,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl<S: Service> Running<S> {
    fn new(service: S, limits: ServerLimits) -> Self {
        Self::with_admin(service, limits, None)
    }

    fn with_admin(service: S, limits: ServerLimits, admin: Option<Admin>) -> Self {
        Self::at(SocketAddr::new(IpFamily::Ipv4.loopback(), 0), service, limits, admin)
    }

    fn at(listen: SocketAddr, service: S, limits: ServerLimits, admin: Option<Admin>) -> Self {
        let options = ServiceOptions { listen, admin: None, threads: 1 };
        let listener = super::listen(&options).unwrap();
        let address = listener.local_addr().unwrap();
        let server = Arc::new(Server::new(service, limits));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(until(Arc::clone(&server), listener, admin, std::future::pending()));
        Self { server, address, runtime: Some(runtime) }
    }

    fn client(&self) -> Client {
        Client::connect(self.address)
    }

    fn total(&self, name: &str) -> u64 {
        self.server.totals()[name].as_u64().unwrap()
    }
}

impl<S: Service> Drop for Running<S> {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A check of nothing in particular: attributes that are empty.
const CHECK: &[u8] = b"\x0a\x00";
/// A report of one request of which nothing is known.
const REPORT: &[u8] = b"\x12\x02\x0a\x00";

#[test]
fn checks_are_answered() {
    let running = Running::new(Policy::new(), ServerLimits::default());
    let client = running.client();
    for _ in 0..3 {
        let answer = client.call(Policy::METHOD, &[&frame(CHECK)]);
        let yes = b"\x0a\x00\x1a\x00";
        assert_eq!(answer, Answer { http: 200, body: frame(yes), grpc: Some(0) });
    }
    assert_eq!((running.total("checks"), running.total("connections")), (3, 1));
    assert_eq!(running.total("failed_calls"), 0);
}

#[test]
fn both_families_are_served_at_the_wildcard_of_ipv6() {
    let listen = SocketAddr::new(IpFamily::Ipv6.wildcard(), 0);
    let running = Running::at(listen, Policy::new(), ServerLimits::default(), None);
    let all = std::fs::read_to_string(IF_INET6).unwrap_or_default();
    let served = if all.lines().any(|line| line.ends_with(" lo")) { 2 } else { 1 };
    for family in IpFamily::ALL.into_iter().take(served) {
        let address = SocketAddr::new(family.loopback(), running.address.port());
        let answer = Client::connect(address).call(Policy::METHOD, &[&frame(CHECK)]);
        assert_eq!(answer.grpc, Some(0), "{family}");
    }
    assert_eq!(running.total("checks"), served as u64);
}

#[test]
fn without_ipv6_its_wildcard_is_that_of_ipv4() {
    let instead = |text: &str| by_ipv4(text.parse().unwrap()).map(|address| address.to_string());
    assert_eq!(instead("[::]:15010").as_deref(), Some("0.0.0.0:15010"));
    for other in ["[::1]:15010", "[fd00::1]:15010", "0.0.0.0:15010"] {
        assert_eq!(instead(other), None, "{other}");
    }
}

#[test]
fn reports_are_taken_while_the_stream_goes_on() {
    let running = Running::new(Telemetry::default(), ServerLimits::default());
    let client = running.client();
    let mut stream = client.open(Telemetry::METHOD);
    for n in 1..=3 {
        let message = frame(REPORT);
        let (first, rest) = message.split_at(n);
        stream.send(first);
        stream.send(rest);
        client::until(|| running.total("reports") == n as u64);
    }
    assert_eq!(stream.end(), Answer { http: 200, body: frame(b""), grpc: Some(0) });
    let together = [frame(REPORT), frame(REPORT)].concat();
    assert_eq!(client.call(Telemetry::METHOD, &[&together]).grpc, Some(0));
    assert_eq!(
        client.call(Telemetry::METHOD, &[]),
        Answer { http: 200, body: frame(b""), grpc: Some(0) }
    );
    assert_eq!((running.total("reports"), running.total("failed_calls")), (5, 0));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let running = Running::new(Policy::new(), ServerLimits { calls: 8, ..ServerLimits::default() });
    let client = running.client();
    // Before the first answer a client does not know how many at once are too many.
    client.call(Policy::METHOD, &[&frame(CHECK)]);
    let answers = client.many(Policy::METHOD, &frame(CHECK), 100);
    assert_eq!(answers.iter().filter(|answer| answer.grpc == Some(0)).count(), 100);
    assert_eq!(running.total("checks"), 101);
}

#[test]
fn totals_are_one_json_object() {
    let name = format!("@hopbench-policy-test-{}", std::process::id());
    let running = Running::with_admin(
        Policy::new(),
        ServerLimits::default(),
        Some(admin::listen(&name).unwrap()),
    );
    let in_use = admin::listen(&name).unwrap_err();
    assert!(in_use.text.contains(&name), "{in_use}");
    running.client().call(Policy::METHOD, &[&frame(CHECK)]);
    for _ in 0..2 {
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name[1..]).unwrap();
        let stream = UnixStream::connect_addr(&address).unwrap();
        let totals: Value = serde_json::from_reader(stream).unwrap();
        assert_eq!(totals, Value::Object(running.server.totals()));
        assert_eq!((&totals["checks"], &totals["denied"]), (&json!(1), &json!(0)));
    }
}

#[test]
fn names_that_are_none_are_refused() {
    for name in ["", "@", "name", "/tmp/name", &format!("@{}", "x".repeat(108))] {
        let fault = admin::listen(name).unwrap_err();
        assert_eq!(fault.kind, hopbench_model::FaultKind::Input, "{name}");
        assert!(
            fault.text.starts_with(&format!("--admin: found `{name}`, expected `@`")),
            "{fault}"
        );
    }
}

#[test]
fn a_port_that_somebody_has_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let options = ServiceOptions { listen: taken.local_addr().unwrap(), admin: None, threads: 1 };
    let fault = crate::policy(&options).unwrap_err();
    assert_eq!(fault.kind, hopbench_model::FaultKind::Environment);
    assert!(
        fault.text.contains(&options.listen.to_string()) && fault.text.contains("in use"),
        "{fault}"
    );
}
