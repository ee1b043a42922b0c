//! An agent of a run: whom it obeys, and what it does without a permit of the run's conductor.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::flows;
use crate::session::{self, job, prepare};
use hopbench_agent::{Limits, Options, Server, hello};
use hopbench_control::conductor::Conductor;
use hopbench_control::credentials::Credentials;
use hopbench_control::keys::KeyPair;
use hopbench_control::{Channel, ChannelError, tls};
use hopbench_model::{Bounds, FaultKind, Job, SECOND, SignedPermit};
use hopbench_sys::clock;
use hopbench_wire::{FLOW_ACCEPTED, FlowKey, FlowKind, FromAgent, Prepare, Role, ToAgent};

/// An agent of a run, with the key that only it has.
struct Agent {
    server: Server,
    keys: KeyPair,
}

impl Agent {
    fn of(conductor: &Conductor, limits: Limits) -> Self {
        let keys = KeyPair::random().unwrap();
        // As a pod finds them in its file.
        let credentials: Credentials =
            Credentials::text(&keys, &conductor.run_key()).parse().unwrap();
        let listen = "127.0.0.1:0".parse().unwrap();
        let options = Options { listen, credentials, limits, http: false, both_ends: true };
        Self { server: Server::start(&options).unwrap(), keys }
    }

    /// A session with it, opened with the keys `own`; `Err`: it lets nobody in who has these.
    fn session(&self, own: &KeyPair) -> Result<Channel, ChannelError> {
        let stream =
            TcpStream::connect_timeout(&self.server.address(), Duration::from_secs(5)).unwrap();
        let config = tls::conductor_config(own, &self.keys.public()).unwrap();
        let mut channel = Channel::open(stream, config)?;
        channel.send(&ToAgent::Hello(hello()))?;
        match channel.receive_until(clock::now() + 5 * SECOND)? {
            Some(FromAgent::Hello(_)) => Ok(channel),
            other => panic!("neither hello nor end: {other:?}"),
        }
    }
}

fn bounds() -> Bounds {
    let mut bounds = Bounds::default();
    bounds.cover(&job());
    bounds
}

fn permit(conductor: &mut Conductor, targets: &[SocketAddr]) -> SignedPermit {
    conductor.permit(targets.iter().copied().collect(), bounds())
}

/// The order to connect to `target`, with this permit.
fn client_of(target: SocketAddr, job: Job, permit: Option<&SignedPermit>) -> ToAgent {
    let ToAgent::Prepare(order) = prepare(Role::Client, job) else { unreachable!() };
    ToAgent::Prepare(Box::new(Prepare {
        target: Some(target.to_string()),
        permit: permit.cloned(),
        ..*order
    }))
}

/// What comes of an order: `Ok` when the agent got ready, or why it did not. The trial is ended
/// again.
fn ordered(channel: &mut Channel, order: &ToAgent) -> Result<(), String> {
    channel.send(order).unwrap();
    match channel.receive_until(clock::now() + 10 * SECOND).unwrap() {
        Some(FromAgent::Ready { .. }) => {
            channel.send(&ToAgent::Abort).unwrap();
            let ended = channel.receive_until(clock::now() + 10 * SECOND).unwrap();
            assert!(matches!(ended, Some(FromAgent::Failed { .. })), "{ended:?}");
            Ok(())
        }
        Some(FromAgent::Failed { fault, .. }) => {
            assert_eq!(fault.kind, FaultKind::Environment, "{fault}");
            Err(fault.text)
        }
        other => panic!("neither ready nor refused: {other:?}"),
    }
}

/// A peer that accepts the flows of anybody, and counts their connections.
struct Peer {
    address: SocketAddr,
    accepted: Arc<std::sync::atomic::AtomicUsize>,
}

impl Peer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let accepted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let (address, count) = (listener.local_addr().unwrap(), Arc::clone(&accepted));
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                std::thread::spawn(move || {
                    let mut header = [0; hopbench_wire::FLOW_HEADER_BYTES];
                    let _ = stream
                        .read_exact(&mut header)
                        .and_then(|()| stream.write_all(&FLOW_ACCEPTED));
                    let _ = stream.read(&mut header);
                });
            }
        });
        Self { address, accepted }
    }

    fn met(&self) -> usize {
        self.accepted.load(std::sync::atomic::Ordering::SeqCst)
    }
}

#[test]
fn what_an_agent_has_opens_a_session_to_no_other() {
    let conductor = Conductor::new().unwrap();
    let [one, other] = [(); 2].map(|()| Agent::of(&conductor, Limits::default()));
    for agent in [&one, &other] {
        agent.session(conductor.keys()).unwrap();
    }
    // The key that was taken from one opens neither the other nor that one itself; nor does a key
    // of another run.
    let foreign = Conductor::new().unwrap();
    for (thief, victim) in [(&one.keys, &other), (&one.keys, &one), (foreign.keys(), &one)] {
        let refused = victim.session(thief).unwrap_err();
        assert!(matches!(refused, ChannelError::Tls(_)), "{refused}");
    }
    // Nor can it pass for the other before the conductor.
    let stream = TcpStream::connect(one.server.address()).unwrap();
    let config = tls::conductor_config(conductor.keys(), &other.keys.public()).unwrap();
    let mut channel = Channel::open(stream, config).unwrap();
    let refused = channel.send(&ToAgent::Hello(hello())).unwrap_err();
    assert!(matches!(refused, ChannelError::Tls(_)), "{refused}");
}

#[test]
fn it_connects_to_the_targets_of_its_permit_and_nowhere_else() {
    let mut conductor = Conductor::new().unwrap();
    let agent = Agent::of(&conductor, Limits::default());
    let mut channel = agent.session(conductor.keys()).unwrap();
    let (listed, victim) = (Peer::start(), Peer::start());
    let first = permit(&mut conductor, &[listed.address]);
    assert_eq!(ordered(&mut channel, &client_of(listed.address, job(), Some(&first))), Ok(()));
    assert_eq!(listed.met(), 1);
    let mut refused = |target, permit: Option<&SignedPermit>, words: &str| {
        let why = ordered(&mut channel, &client_of(target, job(), permit)).unwrap_err();
        assert!(why.contains(words), "{why}");
    };
    refused(victim.address, Some(&first), "none of the 1 targets");
    refused(listed.address, None, "has no permit");
    // Somebody else signed it, or changed it, or it is of another run.
    let foreign = permit(&mut Conductor::new().unwrap(), &[victim.address]);
    let port = |address: SocketAddr| format!(":{}\"", address.port());
    let text = first.text.replace(&port(listed.address), &port(victim.address));
    assert_ne!(text, first.text);
    let changed = SignedPermit { text, ..first.clone() };
    for bad in [
        &SignedPermit { signature: foreign.signature.clone(), ..first.clone() },
        &foreign,
        &changed,
    ] {
        refused(victim.address, Some(bad), "not that of the run's conductor");
        refused(listed.address, Some(bad), "not that of the run's conductor");
    }
    // A later permit takes the place of an earlier one, which is not taken any more.
    let later = permit(&mut conductor, &[victim.address]);
    refused(listed.address, Some(&later), "none of the 1 targets");
    refused(listed.address, Some(&first), "knows number 2 already");
    assert_eq!((listed.met(), victim.met()), (1, 0), "nobody else was connected to");
    assert_eq!(ordered(&mut channel, &client_of(victim.address, job(), Some(&later))), Ok(()));
    assert_eq!(victim.met(), 1);
    // What one session brought holds for all.
    let mut another = agent.session(conductor.keys()).unwrap();
    let why = ordered(&mut another, &client_of(listed.address, job(), Some(&first))).unwrap_err();
    assert!(why.contains("knows number 2 already"), "{why}");
}

#[test]
fn the_plans_bounds_hold_beside_its_own_limits() {
    let mut conductor = Conductor::new().unwrap();
    let agent = Agent::of(
        &conductor,
        Limits { flows: Some(2), duration_ns: Some(2 * SECOND), ..Limits::default() },
    );
    let mut channel = agent.session(conductor.keys()).unwrap();
    let peer = Peer::start();
    let wide = Bounds { trial_ns: 3600 * SECOND, connections: 1000, threads: 64 };
    let [narrow, wide] =
        [bounds(), wide].map(|bounds| conductor.permit(BTreeSet::from([peer.address]), bounds));
    let with = |connections, threads| Job { connections, threads, ..job() };
    let longer =
        |window_ns| Job { timing: hopbench_model::Timing { window_ns, ..job().timing }, ..job() };
    let mut order = |role: Role, job: Job, permit: &SignedPermit| {
        let ToAgent::Prepare(order) = client_of(peer.address, job, Some(permit)) else {
            unreachable!()
        };
        ordered(&mut channel, &ToAgent::Prepare(Box::new(Prepare { role, ..*order })))
    };
    assert_eq!(order(Role::Client, job(), &narrow), Ok(()));
    for role in [Role::Client, Role::Server, Role::Onlooker] {
        for (job, words) in [
            (with(2, 1), "at most 1 connections"),
            (with(2, 2), "at most 1 connections"),
            (longer(2 * SECOND), "for a trial"),
        ] {
            let why = order(role, job, &narrow).unwrap_err();
            assert!(why.contains(words) && why.contains("no trial of the plan"), "{why}");
        }
    }
    // A plan that asks for more does not widen what whoever started the agent allows.
    assert_eq!(order(Role::Client, with(2, 2), &wide), Ok(()));
    for (job, words) in [(with(3, 1), "--max-flows"), (longer(3 * SECOND), "--max-duration")] {
        let why = order(Role::Client, job, &wide).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
}

/// A token of one trial is worth nothing in the next, whose key is another.
#[test]
fn tokens_of_one_trial_are_refused_in_the_next() {
    let agent = session::server(Limits::default());
    let mut conductor = session::Conductor::of(&agent);
    let keys = [FlowKey::new([7; 32]), FlowKey::new([8; 32])];
    let mut trial = |run: u32, key: &FlowKey| {
        let ToAgent::Prepare(order) = session::prepare_run(run, Role::Server, job()) else {
            unreachable!()
        };
        conductor.send(&ToAgent::Prepare(Box::new(Prepare { key: key.clone(), ..*order })));
        let answer = conductor.answer(5);
        assert!(matches!(answer, Some(FromAgent::Ready { .. })), "{answer:?}");
        let is_in = |run: u32, key: &FlowKey| {
            let mut stream = flows::connect(agent.address());
            let header = flows::header("rr", FlowKind::Tcp, run, 0);
            stream.write_all(&header.encode(key)).unwrap();
            stream.read_exact(&mut [0; FLOW_ACCEPTED.len()]).is_ok()
        };
        let seen = [(1, 0), (1, 1), (2, 0), (2, 1)].map(|(run, key)| is_in(run, &keys[key]));
        conductor.send(&ToAgent::Abort);
        conductor.refusal(5);
        seen
    };
    assert_eq!(trial(1, &keys[0]), [true, false, false, false]);
    assert_eq!(trial(2, &keys[1]), [false, false, false, true]);
}
