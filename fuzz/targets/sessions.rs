//! Control sessions: two honest ends, whose messages cross, and one whose peer sends anything.
#![no_main]

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::LazyLock;

use hopbench_wire::{
    AgentSession, AgentState, Build, ConductorSession, ConductorState, FromAgent, Hello, PROTOCOL,
    ToAgent,
};
use libfuzzer_sys::fuzz_target;

fn hello(protocol: u32) -> Hello {
    let text = String::new;
    Hello { protocol, version: text(), commit: text(), boot_id: text(), machine: BTreeMap::new() }
}

/// A `Prepare` as it crosses the wire.
const PREPARE: &str = include_str!("../prepare.json");

static TO_AGENT: LazyLock<Vec<ToAgent>> = LazyLock::new(|| {
    vec![
        ToAgent::Hello(hello(PROTOCOL)),
        ToAgent::Hello(hello(PROTOCOL + 1)),
        ToAgent::Clock,
        serde_json::from_str(PREPARE).expect("prepare.json is a message"),
        ToAgent::Revisit { run: 1, warmup_ns: 0 },
        ToAgent::Start { window_start_ns: 0 },
        ToAgent::AllSent { bytes: 1 },
        ToAgent::Finish,
        ToAgent::Abort,
        ToAgent::Ping,
        ToAgent::Bye,
    ]
});

static FROM_AGENT: LazyLock<Vec<FromAgent>> = LazyLock::new(|| {
    vec![
        FromAgent::Hello(hello(PROTOCOL)),
        FromAgent::Hello(hello(PROTOCOL + 1)),
        FromAgent::Clock { now_ns: 0 },
        FromAgent::Ready { limited: Vec::new() },
        FromAgent::Progress(Default::default()),
        FromAgent::Done(Default::default()),
        FromAgent::Failed { fault: hopbench_model::Fault::measuring("x"), report: None },
        FromAgent::Pong,
    ]
});

/// One that sends whatever it likes: the other end must neither panic nor come back from `Closed`.
fn alone(input: &[u8]) {
    let build = Build::of(&hello(PROTOCOL));
    let (mut agent, mut conductor) =
        (AgentSession::new(build.clone()), ConductorSession::new(build));
    for &byte in input {
        let number = usize::from(byte >> 1);
        let (to, from) =
            (&TO_AGENT[number % TO_AGENT.len()], &FROM_AGENT[number % FROM_AGENT.len()]);
        let closed =
            (agent.state() == AgentState::Closed, conductor.state() == ConductorState::Closed);
        if byte & 1 == 0 {
            let heard = agent.receive(to).is_ok();
            let said = conductor.send(to).is_ok();
            assert!(!(closed.0 && heard) && !(closed.1 && said), "a closed session goes on");
        } else {
            let said = agent.send(from).is_ok();
            let heard = conductor.receive(from).is_ok();
            assert!(!(closed.0 && said) && !(closed.1 && heard), "a closed session goes on");
        }
        assert!(!closed.0 || agent.state() == AgentState::Closed);
        assert!(!closed.1 || conductor.state() == ConductorState::Closed);
    }
}

/// Two ends that say only what they may, with messages under way: neither ever breaks the other's
/// rules.
fn together(input: &[u8]) {
    let build = Build::of(&hello(PROTOCOL));
    let (mut agent, mut conductor) =
        (AgentSession::new(build.clone()), ConductorSession::new(build));
    let (mut down, mut up) = (VecDeque::new(), VecDeque::new());
    for &byte in input {
        let number = usize::from(byte >> 2);
        match byte & 3 {
            0 => {
                let message = &TO_AGENT[number % TO_AGENT.len()];
                // Another version at the other end is the subject of `alone`.
                let other = matches!(message, ToAgent::Hello(hello) if hello.protocol != PROTOCOL);
                if !other && conductor.clone().send(message).is_ok() {
                    conductor.send(message).expect("its twin could");
                    down.push_back(message);
                }
            }
            1 => {
                let message = &FROM_AGENT[number % FROM_AGENT.len()];
                let other =
                    matches!(message, FromAgent::Hello(hello) if hello.protocol != PROTOCOL);
                if !other && agent.clone().send(message).is_ok() {
                    agent.send(message).expect("its twin could");
                    up.push_back(message);
                }
            }
            2 => {
                if let Some(message) = down.pop_front() {
                    let state = agent.state();
                    assert!(agent.receive(message).is_ok(), "{message:?} while {}", state.name());
                }
            }
            _ => {
                // A conductor that said `Bye` reads no more.
                let closed = conductor.state() == ConductorState::Closed;
                if let Some(message) = up.pop_front().filter(|_| !closed) {
                    let state = conductor.state();
                    assert!(
                        conductor.receive(message).is_ok(),
                        "{message:?} while {}",
                        state.name()
                    );
                }
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    alone(input);
    together(input);
});
