//! The beginning and end of sessions, and what ends with them.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

use hopbench_agent::{Inherited, Limits, hello};
use hopbench_control::conductor::Conductor;
use hopbench_control::{Channel, ChannelError};
use hopbench_model::{Bounds, FaultKind, SECOND, SignedPermit};
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, Prepare, Role, ToAgent};

use crate::rig::{Agent, MS, TestTrial, ask, job, params};

#[test]
fn the_end_of_the_session_ends_the_load_at_once() {
    let mut fastest = [u64::MAX; 2];
    for run in 0..3 {
        for (end, best) in fastest.iter_mut().enumerate() {
            let (mut client, mut server) = (Agent::start(), Agent::start());
            let mut job = job("stream", params("stream", server.address), 2);
            job.timing.window_ns = 60 * SECOND;
            let trial = TestTrial::new(job, server.address);
            server.send(&trial.prepare(run, Role::Server, 0, 1));
            server.ready();
            client.send(&trial.prepare(run, Role::Client, 0, 1));
            client.ready();
            for agent in [&mut client, &mut server] {
                agent.send(&ToAgent::Start { window_start_ns: clock::now() + 5 * MS });
            }
            clock::sleep_until(clock::now() + 100 * MS);
            let (dies, mut stays) = if end == 0 { (client, server) } else { (server, client) };
            let (began, port) = (clock::now(), dies.address);
            let fault = dies.vanish().unwrap_err();
            *best = (*best).min(clock::now() - began);
            assert!(fault.text.contains("without a goodbye"), "{fault:?}");
            assert!(TcpStream::connect(port).is_err(), "its port is closed");
            // A sender whose receiver is gone has lost a connection; a receiver sees the end of the
            // stream.
            if end == 1 {
                assert!(matches!(stays.answer(), FromAgent::Failed { .. }));
            } else {
                stays.send(&ToAgent::Abort);
                assert!(matches!(stays.answer(), FromAgent::Failed { .. }));
            }
            assert_eq!(stays.bye(), Ok(()));
        }
    }
    assert!(fastest.iter().all(|ns| *ns <= 100 * MS), "client and server: {fastest:?} ns");
}

#[test]
fn silence_ends_a_session_inside_a_trial_only() {
    let (mut idle, mut prepared) = (Agent::start(), Agent::start());
    let trial = TestTrial::new(job("rr", params("rr", prepared.address), 1), prepared.address);
    prepared.send(&trial.prepare(1, Role::Server, 0, 1));
    prepared.ready();
    let until = clock::now() + 11 * SECOND / 2;
    match prepared.channel.receive_until::<FromAgent>(until) {
        Err(ChannelError::Closed) => {}
        other => panic!("a trial whose conductor hangs goes on: {other:?}"),
    }
    assert!(prepared.vanish().unwrap_err().text.contains("silent"));
    clock::sleep_until(until);
    idle.send(&ToAgent::Clock);
    assert!(matches!(idle.answer(), FromAgent::Clock { .. }), "it rested");
    assert_eq!(idle.bye(), Ok(()));
}

#[test]
fn a_flood_of_messages_does_not_starve_the_trial() {
    let mut agent = Agent::start();
    let trial = TestTrial::new(job("rr", params("rr", agent.address), 1), agent.address);
    agent.send(&trial.prepare(1, Role::Server, 0, 1));
    agent.ready();
    agent.send(&ToAgent::Start { window_start_ns: clock::now() + 30 * MS });
    let (mut pongs, mut ticks) = (0, 0);
    let until = clock::now() + 5 * SECOND;
    while ticks < 2 {
        assert!(clock::now() < until, "{pongs} answers and {ticks} ticks in 5 s");
        // More than one turn takes, each time.
        (0..200).for_each(|_| agent.send(&ToAgent::Ping));
        let mut answered = 0;
        while answered < 200 {
            match agent.channel.receive_until(until).unwrap() {
                Some(FromAgent::Pong) => answered += 1,
                Some(FromAgent::Progress(_)) => ticks += 1,
                other => panic!("{other:?}"),
            }
        }
        pongs += answered;
    }
    assert!(agent.vanish().is_err());
}

#[test]
fn a_port_in_use_is_told_over_the_session() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let agent =
        std::thread::spawn(move || Inherited::serve(theirs, Some(listen), Limits::default(), None));
    let mut channel = Channel::pair(ours).unwrap();
    let until = clock::now() + 5 * SECOND;
    channel.send(&ToAgent::Hello(hello())).unwrap();
    assert!(matches!(channel.receive_until(until).unwrap(), Some(FromAgent::Hello(_))));
    let order =
        TestTrial::new(job("rr", params("rr", listen), 1), listen).prepare(1, Role::Server, 0, 1);
    channel.send(&order).unwrap();
    let told = match channel.receive_until(until).unwrap() {
        Some(FromAgent::Failed { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(told.kind, FaultKind::Environment);
    assert!(
        told.text.contains("in use") && told.text.contains(&listen.port().to_string()),
        "{told:?}"
    );
    assert_eq!(agent.join().unwrap(), Err(told));
}

#[test]
fn the_port_has_no_word_for_strangers() {
    let agent = Agent::start();
    // The head of a TLS ClientHello: there is no secret that it could show.
    let hello = [&[22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3][..], &[7; 194][..]].concat();
    assert_eq!(ask(agent.address, &hello), "");
    assert_eq!(ask(agent.address, b"SSH-2.0-x\r\n"), "");
    assert_eq!(agent.bye(), Ok(()));
}

#[test]
fn an_agent_says_where_it_is() {
    let agent = Agent::start();
    let netns = std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
    assert_eq!(agent.hello.machine["netns"], netns.to_string());
    assert_eq!(agent.hello.machine["pid"], std::process::id().to_string());
    assert_eq!(agent.bye(), Ok(()));
}

/// The session of a lab's agent is private to it, and still it does nothing that is not in the
/// plan.
#[test]
fn an_agent_of_a_run_needs_its_permit() {
    let mut conductor = Conductor::new().unwrap();
    let mut agents = [(); 2].map(|()| Agent::of(Some(conductor.run_key())));
    let [client, server] = &mut agents;
    let job = job("rr", params("rr", server.address), 1);
    let mut bounds = Bounds::default();
    bounds.cover(&job);
    let trial = TestTrial::new(job, server.address);
    let permit = conductor.permit([server.address].into(), bounds);
    let order = |role, permit: Option<&SignedPermit>| {
        let ToAgent::Prepare(order) = trial.prepare(1, role, 0, 1) else { unreachable!() };
        ToAgent::Prepare(Box::new(Prepare { permit: permit.cloned(), ..*order }))
    };
    let refused = |agent: &mut Agent, order: &ToAgent, words: &str| {
        agent.send(order);
        let answer = agent.answer();
        assert!(
            matches!(&answer, FromAgent::Failed { fault, .. } if fault.text.contains(words)),
            "{answer:?}"
        );
    };
    for (agent, role) in [(&mut *client, Role::Client), (&mut *server, Role::Server)] {
        refused(agent, &order(role, None), "has no permit");
    }
    let elsewhere = conductor.permit([client.address].into(), bounds);
    server.send(&order(Role::Server, Some(&permit)));
    server.ready();
    client.send(&order(Role::Client, Some(&permit)));
    client.ready();
    client.send(&ToAgent::Abort);
    assert!(matches!(client.answer(), FromAgent::Failed { .. }));
    refused(client, &order(Role::Client, Some(&elsewhere)), "none of the 1 targets");
    for agent in agents {
        assert_eq!(agent.bye(), Ok(()));
    }
}
