use std::collections::{BTreeMap, VecDeque};

use hopbench_model::{Fault, fixture};
use proptest::prelude::*;

use super::*;
use crate::flow::FlowKey;
use crate::frame::{FrameReader, encode};
use crate::message::{Hello, PROTOCOL, Prepare, Role};

fn hello(protocol: u32, commit: &str) -> Hello {
    Hello {
        protocol,
        version: "0.1.0".into(),
        commit: commit.into(),
        boot_id: String::new(),
        machine: BTreeMap::new(),
    }
}

fn prepare() -> ToAgent {
    ToAgent::Prepare(Box::new(Prepare {
        run: 1,
        key: FlowKey::new([0; 32]),
        role: Role::Server,
        job: fixture::job("stream", serde_json::Value::Null),
        target: None,
        shared_clock: true,
        peer_clock_offset_ns: 0,
        first_flow: 0,
        all_connections: 0,
        watch: Vec::new(),
        watch_container: None,
        looks_on: false,
        neighbours: BTreeMap::new(),
        permit: None,
        shows_credential: false,
        stays: true,
        replaces: None,
    }))
}

fn to_agent() -> Vec<ToAgent> {
    vec![
        ToAgent::Hello(hello(PROTOCOL, "a")),
        ToAgent::Clock,
        prepare(),
        ToAgent::Revisit { run: 1, warmup_ns: 0 },
        ToAgent::Start { window_start_ns: 0 },
        ToAgent::AllSent { bytes: 1 },
        ToAgent::Finish,
        ToAgent::Abort,
        ToAgent::Ping,
        ToAgent::Bye,
    ]
}

fn from_agent() -> Vec<FromAgent> {
    vec![
        FromAgent::Hello(hello(PROTOCOL, "b")),
        FromAgent::Clock { now_ns: 0 },
        FromAgent::Ready { limited: Vec::new() },
        FromAgent::Progress(Default::default()),
        FromAgent::Done(Default::default()),
        FromAgent::Failed { fault: Fault::measuring("x"), report: None },
        FromAgent::Pong,
    ]
}

#[test]
fn every_message_survives_a_frame() {
    let mut reader = FrameReader::new();
    for message in to_agent() {
        reader.push(&encode(&message).unwrap());
        assert_eq!(reader.next::<ToAgent>(), Ok(Some(message)));
    }
    for message in from_agent() {
        reader.push(&encode(&message).unwrap());
        assert_eq!(reader.next::<FromAgent>(), Ok(Some(message)));
    }
}

/// Its words in a frame, and that they are read again.
#[test]
fn an_order_to_an_onlooker_survives_a_frame() {
    let ToAgent::Prepare(order) = prepare() else { unreachable!() };
    let neighbours = BTreeMap::from([("gateway".to_owned(), "0123456789ab".to_owned())]);
    let order = Prepare { role: Role::Onlooker, neighbours, ..*order };
    let message = ToAgent::Prepare(Box::new(order));
    let words = serde_json::to_value(&message).unwrap();
    assert_eq!(words["prepare"]["role"], "onlooker");
    assert_eq!(words["prepare"]["neighbours"]["gateway"], "0123456789ab");
    assert!(words["prepare"].get("watch_container").is_none(), "{words}");
    let mut reader = FrameReader::new();
    reader.push(&encode(&message).unwrap());
    assert_eq!(reader.next::<ToAgent>(), Ok(Some(message)));
}

#[test]
fn the_container_of_a_server_program_survives_a_frame() {
    let ToAgent::Prepare(order) = prepare() else { unreachable!() };
    let watch_container = Some("0123456789ab".to_owned());
    let message = ToAgent::Prepare(Box::new(Prepare { watch_container, ..*order }));
    let words = serde_json::to_value(&message).unwrap();
    assert_eq!(words["prepare"]["watch_container"], "0123456789ab");
    let mut reader = FrameReader::new();
    reader.push(&encode(&message).unwrap());
    assert_eq!(reader.next::<ToAgent>(), Ok(Some(message)));
}

#[test]
fn a_hello_of_a_later_protocol_can_be_read() {
    let mut later = serde_json::to_value(ToAgent::Hello(hello(2, "c"))).unwrap();
    later["hello"]["new_in_2"] = true.into();
    let mut reader = FrameReader::new();
    reader.push(&encode(&later).unwrap());
    let read = reader.next::<ToAgent>().unwrap();
    assert_eq!(read, Some(ToAgent::Hello(hello(2, "c"))));
}

/// Both ends and what is under way between them.
struct Pair {
    conductor: ConductorSession,
    agent: AgentSession,
    down: VecDeque<ToAgent>,
    up: VecDeque<FromAgent>,
}

impl Pair {
    fn new() -> Self {
        Self {
            conductor: ConductorSession::new(Build::this("0.1.0", "a")),
            agent: AgentSession::new(Build::this("0.1.0", "b")),
            down: VecDeque::new(),
            up: VecDeque::new(),
        }
    }

    /// Sends if the conductor may; whether it did.
    fn conduct(&mut self, message: &ToAgent) -> bool {
        let legal = self.conductor.send(message).is_ok();
        if legal {
            self.down.push_back(message.clone());
        }
        legal
    }

    /// Sends if the agent may; whether it did.
    fn report(&mut self, message: &FromAgent) -> bool {
        let legal = self.agent.send(message).is_ok();
        if legal {
            self.up.push_back(message.clone());
        }
        legal
    }

    fn deliver_down(&mut self) -> Result<Option<Heed>, SessionError> {
        self.down.pop_front().map(|m| self.agent.receive(&m)).transpose()
    }

    fn deliver_up(&mut self) -> Result<Option<Heed>, SessionError> {
        self.up.pop_front().map(|m| self.conductor.receive(&m)).transpose()
    }

    /// Sends down, delivers, and says what the agent makes of it.
    fn down(&mut self, message: &ToAgent) -> Heed {
        assert!(self.conduct(message), "{message:?} in {:?}", self.conductor.state());
        self.deliver_down().unwrap().unwrap()
    }

    /// Sends up, delivers, and says what the conductor makes of it.
    fn up(&mut self, message: &FromAgent) -> Heed {
        assert!(self.report(message), "{message:?} in {:?}", self.agent.state());
        self.deliver_up().unwrap().unwrap()
    }

    fn greeted() -> Self {
        let mut pair = Self::new();
        pair.down(&to_agent()[0]);
        pair.up(&from_agent()[0]);
        pair
    }

    fn running() -> Self {
        let mut pair = Self::greeted();
        pair.down(&prepare());
        pair.up(&from_agent()[2]);
        pair.down(&ToAgent::Start { window_start_ns: 0 });
        pair
    }
}

#[test]
fn a_trial_from_hello_to_bye() {
    let mut pair = Pair::running();
    assert_eq!(pair.agent.state(), AgentState::Running);
    assert_eq!(pair.conductor.state(), ConductorState::Running);
    pair.down(&ToAgent::Ping);
    pair.up(&FromAgent::Pong);
    pair.up(&from_agent()[3]);
    assert_eq!(pair.up(&from_agent()[4]), Heed::Act);
    assert_eq!(pair.agent.state(), AgentState::Idle);
    assert_eq!(pair.conductor.state(), ConductorState::Idle);
    pair.down(&ToAgent::Bye);
    assert_eq!(pair.agent.state(), AgentState::Closed);
    assert_eq!(pair.conductor.state(), ConductorState::Closed);
}

#[test]
fn a_finish_that_crosses_the_end_means_nothing() {
    let mut pair = Pair::running();
    assert!(pair.report(&from_agent()[4]));
    assert!(pair.conduct(&ToAgent::Finish));
    assert_eq!(pair.deliver_down(), Ok(Some(Heed::Ignore)));
    assert_eq!(pair.deliver_up(), Ok(Some(Heed::Act)), "the report is wanted");
    assert_eq!(pair.conductor.state(), ConductorState::Idle);
}

#[test]
fn the_next_trial_waits_for_the_end_of_an_aborted_one() {
    let mut pair = Pair::running();
    assert!(pair.report(&from_agent()[3]));
    pair.down(&ToAgent::Abort);
    assert!(!pair.conduct(&prepare()));
    assert_eq!(pair.deliver_up(), Ok(Some(Heed::Ignore)));
    assert!(!pair.report(&from_agent()[4]), "nobody wants the report");
    assert_eq!(pair.up(&from_agent()[5]), Heed::Ignore);
    pair.down(&prepare());
    assert_eq!(pair.agent.state(), AgentState::Preparing);
}

#[test]
fn another_protocol_is_named_at_both_ends() {
    let mut agent = AgentSession::new(Build::this("0.1.0", "aaa"));
    let error = agent.receive(&ToAgent::Hello(hello(99, "bbb"))).unwrap_err().to_string();
    let ours = format!("protocol {PROTOCOL} (version 0.1.0, commit aaa)");
    for part in [ours.as_str(), "protocol 99", "commit bbb"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(agent.send(&FromAgent::Pong).is_err());
    agent.send(&FromAgent::Hello(hello(PROTOCOL, "aaa"))).unwrap();
    assert_eq!(agent.state(), AgentState::Closed);

    let mut conductor = ConductorSession::new(Build { protocol: 99, ..Build::this("9", "bbb") });
    conductor.send(&ToAgent::Hello(hello(99, "bbb"))).unwrap();
    let error = conductor.receive(&FromAgent::Hello(hello(PROTOCOL, "aaa"))).unwrap_err();
    assert!(matches!(error, SessionError::Mismatch { .. }), "{error}");
    assert_eq!(conductor.state(), ConductorState::Closed);
}

#[test]
fn an_illegal_message_names_state_and_message_and_closes() {
    let mut pair = Pair::greeted();
    let error = pair.agent.receive(&ToAgent::Start { window_start_ns: 0 }).unwrap_err();
    assert_eq!(error.to_string(), "the conductor sent `start` while the agent was idle");
    assert_eq!(pair.agent.state(), AgentState::Closed);
    let error = pair.conductor.receive(&FromAgent::Pong).unwrap_err();
    assert_eq!(error.to_string(), "the agent sent `pong` while the conductor was idle");
    assert_eq!(pair.conductor.state(), ConductorState::Closed);
}

/// An agent that got to the state on the shortest way.
fn agent_in(state: AgentState) -> AgentSession {
    use AgentState as S;
    let mut agent = AgentSession::new(Build::this("0.1.0", "b"));
    let greeted = [S::AwaitHello, S::Answering, S::Refusing];
    if state == S::Refusing {
        agent.receive(&ToAgent::Hello(hello(99, "a"))).unwrap_err();
    } else if state != S::AwaitHello {
        agent.receive(&to_agent()[0]).unwrap();
    }
    if !greeted.contains(&state) {
        agent.send(&from_agent()[0]).unwrap();
        let way: &[ToAgent] = match state {
            S::Closed => &[ToAgent::Bye],
            S::Finishing => &[prepare(), ToAgent::Finish],
            S::Aborting => &[prepare(), ToAgent::Abort],
            S::Preparing | S::Ready | S::Running => &[prepare()],
            _ => &[],
        };
        for message in way {
            agent.receive(message).unwrap();
        }
    }
    if matches!(state, S::Ready | S::Running) {
        agent.send(&from_agent()[2]).unwrap();
    }
    if state == S::Running {
        agent.receive(&ToAgent::Start { window_start_ns: 0 }).unwrap();
    }
    assert_eq!(agent.state(), state);
    agent
}

/// The whole table of what the agent takes, so that a change of it is seen.
#[test]
fn what_the_agent_takes_in_each_state() {
    use AgentState as S;
    let hello_only = ["hello"].as_slice();
    let always = ["clock", "abort", "ping", "bye"];
    let table: &[(S, Vec<&str>)] = &[
        (S::AwaitHello, hello_only.to_vec()),
        (S::Answering, vec![]),
        (S::Refusing, vec![]),
        (S::Idle, [&always[..], &["prepare", "revisit"]].concat()),
        (S::Preparing, [&always[..], &["finish"]].concat()),
        (S::Ready, [&always[..], &["start", "finish"]].concat()),
        (S::Running, [&always[..], &["all_sent", "finish"]].concat()),
        (S::Finishing, always.to_vec()),
        (S::Aborting, vec!["clock", "ping", "bye"]),
        (S::Closed, vec![]),
    ];
    for (state, legal) in table {
        for message in to_agent() {
            let mut agent = agent_in(*state);
            let name = to_agent_name(&message);
            assert_eq!(agent.receive(&message).is_ok(), legal.contains(&name), "{name} {state:?}");
        }
    }
}

proptest! {
    /// Two ends that send only what their session allows never break each other's, whatever
    /// crosses on the way, and they agree in the end.
    #[test]
    fn legal_ends_never_break_each_other(
        steps in prop::collection::vec((0u8..4, 0usize..10), 0..300),
    ) {
        let (to_agent, from_agent) = (to_agent(), from_agent());
        let mut pair = Pair::greeted();
        let (mut prepared, mut ended) = (0, 0);
        for (what, which) in steps {
            match what {
                0 if to_agent[which] != ToAgent::Bye => {
                    let sent = pair.conduct(&to_agent[which]);
                    let opens = matches!(
                        to_agent[which],
                        ToAgent::Prepare(_) | ToAgent::Revisit { .. }
                    );
                    prepared += usize::from(sent && opens);
                }
                1 if which < from_agent.len() => {
                    let message = &from_agent[which];
                    let sent = pair.report(message);
                    let end = matches!(message, FromAgent::Done(_) | FromAgent::Failed { .. });
                    ended += usize::from(sent && end);
                }
                2 => prop_assert!(pair.deliver_down().is_ok()),
                3 => prop_assert!(pair.deliver_up().is_ok()),
                _ => {}
            }
        }
        while !pair.down.is_empty() {
            prop_assert!(pair.deliver_down().is_ok());
        }
        if pair.agent.state().in_trial() {
            prop_assert!(pair.report(&from_agent[5]));
            ended += 1;
        }
        while !pair.up.is_empty() {
            prop_assert!(pair.deliver_up().is_ok());
        }
        prop_assert_eq!(pair.agent.state(), AgentState::Idle);
        prop_assert_eq!(pair.conductor.state(), ConductorState::Idle);
        prop_assert_eq!(prepared, ended);
    }

    /// Whatever is said, in whatever order, no end panics, and an error closes it.
    #[test]
    fn nonsense_is_refused(order in prop::collection::vec(0usize..10, 0..60)) {
        let mut agent = AgentSession::new(Build::this("0.1.0", "b"));
        let mut conductor = ConductorSession::new(Build::this("0.1.0", "a"));
        for which in order {
            let closes = agent.receive(&to_agent()[which]).is_err();
            prop_assert!(!closes || agent.state() == AgentState::Closed);
            if let Some(message) = from_agent().get(which) {
                let closes = conductor.receive(message).is_err();
                prop_assert!(!closes || conductor.state() == ConductorState::Closed);
                let before = agent.state();
                prop_assert!(agent.send(message).is_ok() || agent.state() == before);
            }
        }
    }
}
