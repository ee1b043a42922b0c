//! An agent that takes part and then says nothing any more.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;

use hopbench_agent::{hello, local};
use hopbench_control::Channel;
use hopbench_model::{SECOND, Tick};
use hopbench_run::{Ends, Link, Watch, Watcher, conduct};
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, Hello, Role, ToAgent};
use serde_json::json;

use crate::plans::job;

struct Nobody;

impl Watcher for Nobody {
    fn tick(&mut self, _: Role, _: usize, _: &Tick) {}

    fn interrupted(&self) -> bool {
        false
    }
}

/// Says hello, says that it is ready, and hangs with the session open until the test is over.
fn hangs(stream: UnixStream) {
    let mut channel = Channel::pair(stream).unwrap();
    loop {
        match channel.receive_until::<ToAgent>(clock::now() + 60 * SECOND).unwrap() {
            Some(ToAgent::Hello(_)) => {
                channel.send(&FromAgent::Hello(Hello { machine: BTreeMap::new(), ..hello() })).unwrap();
            }
            Some(ToAgent::Prepare(_)) => break,
            _ => {}
        }
    }
    channel.send(&FromAgent::Ready { limited: Vec::new() }).unwrap();
    clock::sleep_until(clock::now() + 60 * SECOND);
    drop(channel);
}

#[test]
fn an_agent_that_hangs_does_not_hang_the_conductor() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    std::thread::spawn(move || hangs(theirs));
    let ours_hello = hello();
    let server = Link::over_pair(ours, &ours_hello, "the server".to_owned()).unwrap();
    let client = Link::over(local().unwrap(), &ours_hello).unwrap();
    let mut ends = Ends { clients: vec![client], servers: vec![server] };
    // Pings the loopback: that needs nothing of a server.
    let job = job("ping", json!({"every": "50ms", "size": "56B"}), 1, 300);
    let began = clock::now();
    let outcome = conduct(&mut ends, &job, "127.0.0.1:0".parse().unwrap(), &Watch::default(), &mut Nobody).unwrap();
    let fault = outcome.fault.unwrap();
    assert!(fault.text.contains("lost the server: it hangs: no answer for 10 s"), "{fault}");
    assert!(outcome.server.is_none() && outcome.servers == [None]);
    assert!(outcome.clients[0].is_some(), "the client's half is kept");
    // The silence that is allowed, and a busy machine.
    let took = clock::now() - began;
    assert!(took < 40 * SECOND, "{took} ns");
}
