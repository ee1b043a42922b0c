//! An agent that takes part and then says nothing any more.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;

use hopbench_agent::{hello, local};
use hopbench_control::Channel;
use hopbench_model::{SECOND, Tick};
use hopbench_run::{AgentConnection, Ends, Watch, Watcher, conduct};
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, Hello, Role, ToAgent};
use serde_json::json;

use crate::plans::job;

/// Looks at nothing, and lets every trial go on.
pub(crate) struct Nobody;

impl Watcher for Nobody {
    fn tick(&mut self, _: Role, _: usize, _: &Tick) {}

    fn interrupted(&self) -> bool {
        false
    }
}

/// Says hello, and goes on until it is to be ready.
fn until_prepared(stream: UnixStream) -> Channel {
    let mut channel = Channel::pair(stream).unwrap();
    loop {
        match channel.receive_until::<ToAgent>(clock::now() + 60 * SECOND).unwrap() {
            Some(ToAgent::Hello(_)) => {
                channel
                    .send(&FromAgent::Hello(Hello { machine: BTreeMap::new(), ..hello() }))
                    .unwrap();
            }
            Some(ToAgent::Prepare(_)) => return channel,
            _ => {}
        }
    }
}

/// Takes its order, and hangs with the session open until the test is over.
pub(crate) fn never_ready(stream: UnixStream) {
    let channel = until_prepared(stream);
    clock::sleep_until(clock::now() + 60 * SECOND);
    drop(channel);
}

/// Says that it is ready, and hangs with the session open until the test is over.
pub(crate) fn hangs(stream: UnixStream) {
    let mut channel = until_prepared(stream);
    channel.send(&FromAgent::Ready { limited: Vec::new() }).unwrap();
    clock::sleep_until(clock::now() + 60 * SECOND);
    drop(channel);
}

#[test]
fn an_agent_that_hangs_does_not_hang_the_conductor() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    std::thread::spawn(move || hangs(theirs));
    let ours_hello = hello();
    let server = AgentConnection::over_pair(ours, &ours_hello, "the server".to_owned()).unwrap();
    let client = AgentConnection::over(local().unwrap(), &ours_hello).unwrap();
    let mut ends = Ends { clients: vec![client], servers: vec![server], ..Ends::default() };
    // Pings the loopback: that needs nothing of a server.
    let job = job("ping", json!({"every": "50ms", "size": "56B"}), 1, 300);
    let began = clock::now();
    let outcome =
        conduct(&mut ends, &job, "127.0.0.1:0".parse().unwrap(), &Watch::default(), &mut Nobody)
            .unwrap();
    let fault = outcome.fault.unwrap();
    assert!(fault.text.contains("lost the server: it hangs: no answer for 10 s"), "{fault}");
    assert!(outcome.server.is_none() && outcome.servers == [None]);
    assert!(outcome.clients[0].is_some(), "the client's half is kept");
    // The silence that is allowed, and a busy machine.
    let took = clock::now() - began;
    assert!(took < 40 * SECOND, "{took} ns");
}

/// Says that it is ready and reads nothing more, with the conductor's side of the session full to
/// the brim.
fn does_not_read(stream: UnixStream, mut conductors: UnixStream) {
    let mut channel = until_prepared(stream);
    let full = loop {
        if let Err(error) = conductors.write(&[0; 4096]) {
            break error.kind();
        }
    };
    assert_eq!(full, ErrorKind::WouldBlock);
    drop(conductors);
    channel.send(&FromAgent::Ready { limited: Vec::new() }).unwrap();
    clock::sleep_until(clock::now() + 60 * SECOND);
    drop(channel);
}

#[test]
fn an_agent_that_does_not_read_keeps_nobody_from_starting() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let conductors = ours.try_clone().unwrap();
    std::thread::spawn(move || does_not_read(theirs, conductors));
    let ours_hello = hello();
    // It comes first: whoever waited for it would start late.
    let mut clients =
        vec![AgentConnection::over_pair(ours, &ours_hello, "the deaf one".to_owned()).unwrap()];
    clients.extend((0..10).map(|_| AgentConnection::over(local().unwrap(), &ours_hello).unwrap()));
    let mut ends = Ends { clients, ..Ends::default() };
    let job = job("ping", json!({"every": "50ms", "size": "56B"}), 1, 300);
    let began = clock::now();
    let ended =
        conduct(&mut ends, &job, "127.0.0.1:0".parse().unwrap(), &Watch::default(), &mut Nobody);
    let took = clock::now() - began;
    let fault = match ended {
        Ok(outcome) => {
            let late = outcome.clients.iter().flatten().map(|report| report.start_late_ns).max();
            assert!(late.is_none_or(|late| late < 4 * SECOND), "{late:?}");
            outcome.fault.unwrap()
        }
        Err(fault) => fault,
    };
    assert!(
        fault.text.contains("lost the deaf one") && fault.text.contains("does not read"),
        "{fault}"
    );
    // A send that waits gives up after 5 s.
    assert!(took < 4 * SECOND, "{took} ns");
}
