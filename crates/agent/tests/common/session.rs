//! A control session as a conductor holds it, and what it orders.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking, like tests")]
#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hopbench_agent::{Limits, Options, Server, hello};
use hopbench_control::secret::Secret;
use hopbench_control::{Channel, tls};
use hopbench_model::{FaultKind, Job, SECOND, Timing, fixture};
use hopbench_sys::clock;
use hopbench_wire::{FlowKey, FromAgent, Hello, Prepare, Role, ToAgent};
use serde_json::json;

/// A conductor past its hello.
pub(crate) struct Conductor {
    channel: Channel,
    /// What the agent said of itself.
    pub(crate) hello: Hello,
}

impl Conductor {
    pub(crate) fn of(server: &Server) -> Self {
        Self::at(server.address())
    }

    /// With whoever answers at this address.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5)).unwrap();
        let mut channel =
            Channel::open(stream, tls::client_config(&Secret::insecure()).unwrap()).unwrap();
        channel.send(&ToAgent::Hello(hello())).unwrap();
        let mut conductor = Self { channel, hello: hello() };
        match conductor.answer(5) {
            Some(FromAgent::Hello(theirs)) => Self { hello: theirs, ..conductor },
            other => panic!("expected a hello, got {other:?}"),
        }
    }

    pub(crate) fn send(&mut self, message: &ToAgent) {
        self.channel.send(message).unwrap();
    }

    /// The next message within so many seconds, pinging like a live conductor.
    pub(crate) fn answer(&mut self, seconds: u64) -> Option<FromAgent> {
        let until = clock::now() + seconds * SECOND;
        while clock::now() < until {
            match self.channel.receive_until(clock::now() + SECOND / 2).unwrap() {
                Some(FromAgent::Pong) => {}
                Some(message) => return Some(message),
                None => self.send(&ToAgent::Ping),
            }
        }
        None
    }

    /// Whether the agent still answers.
    pub(crate) fn lives(&mut self) -> bool {
        let until = clock::now() + 10 * SECOND;
        self.channel.send(&ToAgent::Ping).is_ok()
            && matches!(self.channel.receive_until(until), Ok(Some(FromAgent::Pong)))
    }

    /// The kind and text of the refusal that must come.
    pub(crate) fn refusal(&mut self, seconds: u64) -> (FaultKind, String) {
        match self.answer(seconds) {
            Some(FromAgent::Failed { fault, .. }) => (fault.kind, fault.text),
            other => panic!("expected a refusal, got {other:?}"),
        }
    }
}

/// An agent on a free port that everybody may use.
pub(crate) fn server(limits: Limits) -> Server {
    Server::start(&options(limits)).unwrap()
}

/// What such an agent is started with: it has no HTTP target, and is no client.
pub(crate) fn options(limits: Limits) -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        credentials: Secret::insecure().into(),
        limits,
        http: false,
        both_ends: false,
    }
}

/// The key of every run's flows.
pub(crate) fn key() -> FlowKey {
    FlowKey::new([3; 32])
}

/// The smallest job there is.
pub(crate) fn job() -> Job {
    let timing = Timing { interval_ns: SECOND / 10, ..fixture::timing(SECOND) };
    Job { timing, ..fixture::job("rr", json!({"size": "1B"})) }
}

/// The order to make ready for run 7.
pub(crate) fn prepare(role: Role, job: Job) -> ToAgent {
    prepare_run(7, role, job)
}

/// The order to make ready for a run, whose flows have [`key`].
pub(crate) fn prepare_run(run: u32, role: Role, job: Job) -> ToAgent {
    ToAgent::Prepare(Box::new(Prepare {
        run,
        key: key(),
        role,
        job,
        target: (role == Role::Client).then(|| "127.0.0.1:9".to_owned()),
        shared_clock: true,
        peer_clock_offset_ns: 0,
        first_flow: 0,
        all_connections: 0,
        watch: Vec::new(),
        watch_container: None,
        looks_on: false,
        neighbours: std::collections::BTreeMap::new(),
        permit: None,
        shows_credential: true,
        stays: false,
        replaces: None,
    }))
}
