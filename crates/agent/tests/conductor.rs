//! What an agent lets a conductor do that has the token and no manners.

#![allow(clippy::unwrap_used, reason = "all of this file is test")]

use std::net::TcpStream;
use std::time::Duration;

use hopbench_agent::{Limits, Options, Server, hello};
use hopbench_control::secret::Secret;
use hopbench_control::{Channel, tls};
use hopbench_model::{EngineKind, FaultKind, Job, Pacing, SECOND, Schedule, Timing};
use hopbench_sys::clock;
use hopbench_wire::{FlowKey, FromAgent, Prepare, Role, ToAgent};
use serde_json::json;

/// A conductor past its hello.
struct Conductor(Channel);

impl Conductor {
    fn of(server: &Server) -> Self {
        let stream = TcpStream::connect_timeout(&server.address(), Duration::from_secs(5)).unwrap();
        let mut channel = Channel::open(stream, tls::client_config(&Secret::insecure()).unwrap()).unwrap();
        channel.send(&ToAgent::Hello(hello())).unwrap();
        let mut conductor = Self(channel);
        assert!(matches!(conductor.answer(5), Some(FromAgent::Hello(_))));
        conductor
    }

    fn send(&mut self, message: &ToAgent) {
        self.0.send(message).unwrap();
    }

    /// The next message within so many seconds, pinging like a live conductor.
    fn answer(&mut self, seconds: u64) -> Option<FromAgent> {
        let until = clock::now() + seconds * SECOND;
        while clock::now() < until {
            match self.0.receive_until(clock::now() + SECOND / 2).unwrap() {
                Some(FromAgent::Pong) => {}
                Some(message) => return Some(message),
                None => self.send(&ToAgent::Ping),
            }
        }
        None
    }

    /// The kind and text of the refusal that must come.
    fn refusal(&mut self, seconds: u64) -> (FaultKind, String) {
        match self.answer(seconds) {
            Some(FromAgent::Failed { fault, .. }) => (fault.kind, fault.text),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }
}

fn server(limits: Limits) -> Server {
    let listen = "127.0.0.1:0".parse().unwrap();
    Server::start(&Options { listen, secret: Secret::insecure(), limits, http: false }).unwrap()
}

fn job() -> Job {
    Job {
        workload: "rr".to_owned(),
        params: json!({"size": "1B"}),
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections: 1,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: SECOND, interval_ns: SECOND / 10, timeout_ns: SECOND },
        seed: 1,
    }
}

fn prepare(role: Role, job: Job) -> ToAgent {
    ToAgent::Prepare(Box::new(Prepare {
        run: 7,
        key: FlowKey::new([3; 32]).to_hex(),
        role,
        job,
        target: (role == Role::Client).then(|| "127.0.0.1:9".to_owned()),
        shared_clock: true,
        peer_clock_offset_ns: 0,
    }))
}

#[test]
fn an_agent_behind_a_port_opens_no_connections() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    let job = Job { workload: "http".to_owned(), params: json!({"url": "http://127.0.0.1:9/"}), ..job() };
    conductor.send(&prepare(Role::Client, job));
    let (kind, text) = conductor.refusal(5);
    assert_eq!(kind, FaultKind::Environment);
    assert!(text.contains("only serves"), "{text}");
}

#[test]
fn absurd_times_are_refused_and_the_session_lives_on() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    for (interval_ns, timeout_ns, window_ns) in [
        (u64::MAX, SECOND, SECOND),
        (SECOND, u64::MAX, SECOND),
        (1_000_000, SECOND, 3600 * SECOND),
        (SECOND, SECOND, u64::MAX),
    ] {
        let timing = Timing { warmup_ns: 0, window_ns, interval_ns, timeout_ns };
        conductor.send(&prepare(Role::Server, Job { timing, ..job() }));
        assert_eq!(conductor.refusal(5).0, FaultKind::Input);
    }
    conductor.send(&prepare(Role::Server, job()));
    assert!(matches!(conductor.answer(5), Some(FromAgent::Ready { .. })));
    conductor.send(&ToAgent::Start { window_start_ns: u64::MAX });
    assert_eq!(conductor.refusal(5).0, FaultKind::Input);
}

#[test]
fn a_trial_that_is_finished_before_its_start_ends_with_one_word() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    for _ in 0..2 {
        conductor.send(&prepare(Role::Server, job()));
        assert!(matches!(conductor.answer(5), Some(FromAgent::Ready { .. })));
        conductor.send(&ToAgent::Finish);
        conductor.refusal(5);
        // The same in one breath: `Ready` may or may not have been on its way.
        conductor.send(&prepare(Role::Server, job()));
        conductor.send(&ToAgent::Finish);
        match conductor.answer(5) {
            Some(FromAgent::Ready { .. }) => drop(conductor.refusal(5)),
            Some(FromAgent::Failed { .. }) => {}
            other => panic!("expected an end, got {other:?}"),
        }
    }
}

#[test]
fn limits_bind_who_has_the_token() {
    let limits = Limits { flows: Some(4), duration_ns: Some(2 * SECOND), ..Limits::default() };
    let server = server(limits);
    let mut conductor = Conductor::of(&server);
    conductor.send(&prepare(Role::Server, Job { connections: 5, ..job() }));
    let (kind, text) = conductor.refusal(5);
    assert!(kind == FaultKind::Environment && text.contains("4 flows") && text.contains("--max-flows"), "{text}");
    let timing = Timing { warmup_ns: SECOND, window_ns: 3 * SECOND / 2, ..job().timing };
    conductor.send(&prepare(Role::Server, Job { timing, ..job() }));
    let (kind, text) = conductor.refusal(5);
    assert!(kind == FaultKind::Environment && text.contains("--max-duration"), "{text}");
}
