//! Flows between agents, and what each of them counts.

use std::collections::BTreeSet;

use hopbench_model::{Counter, EndReport, Job, SECOND};
use hopbench_sys::clock;
use hopbench_wire::{Role, ToAgent};

use crate::rig::{Agent, MS, TestTrial, assert_sound, job, moved, params};

#[test]
fn flows_at_the_port_belong_to_the_runs_of_the_session() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    for (run, name) in ["rr", "stream", "udp", "rr-udp", "crr", "push"].into_iter().enumerate() {
        let job = job(name.trim_end_matches("-udp"), params(name, server.address), 3);
        let trial = TestTrial::new(job, server.address);
        let outcome = trial.run(run as u32, &mut [&mut client], &mut [&mut server]);
        let (client, server) = (&outcome.clients[0], &outcome.servers[0]);
        assert!(client.incomplete.is_none() && server.incomplete.is_none(), "{name}");
        assert!(moved(client) > 0 && moved(server) > 0, "{name}: nothing moved");
        assert_sound(&trial, client, server);
        // The proof of path needs both ends' addresses, of connections that lived for one exchange
        // too.
        let ours: BTreeSet<_> = client.flows.iter().map(|f| f.local.clone()).collect();
        assert!(!server.flows.is_empty(), "{name}");
        if name != "crr" {
            assert!(
                server.flows.iter().all(|f| ours.contains(&f.peer)),
                "{name}: {ours:?} {:?}",
                server.flows
            );
        }
        for reading in ["self", "cpu", "netdev"] {
            assert!(server.end.readings.contains_key(reading), "{name}: no {reading}");
        }
    }
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn two_clients_share_a_server_and_its_flow_numbers() {
    let (mut one, mut two, mut server) = (Agent::start(), Agent::start(), Agent::start());
    for (run, name) in ["rr", "crr", "udp", "stream"].into_iter().enumerate() {
        let job = job(name, params(name, server.address), 2);
        let trial = TestTrial::new(job, server.address);
        let outcome = trial.run(run as u32, &mut [&mut one, &mut two], &mut [&mut server]);
        let served = &outcome.servers[0];
        let sum = |counter| outcome.clients.iter().map(|c| c.drained.of(counter)).sum::<u64>();
        let at_server = |counter| served.drained.of(counter);
        match name {
            // Each byte that was sent arrived.
            "stream" => assert_eq!(at_server(Counter::ReceivedBytes), sum(Counter::SentBytes)),
            "udp" => assert_eq!(
                at_server(Counter::Completed),
                sum(Counter::Sent),
                "loopback loses nothing"
            ),
            _ => assert_eq!(at_server(Counter::Completed), sum(Counter::Completed), "{name}"),
        }
        assert!(outcome.clients.iter().all(|c| c.drained.of(Counter::SentBytes) > 0), "{name}");
        if name != "crr" {
            let numbers =
                |end: &EndReport| end.flows.iter().map(|f| f.flow).collect::<BTreeSet<_>>();
            let expected = [BTreeSet::from([0, 1]), BTreeSet::from([2, 3])];
            assert_eq!(
                [numbers(&outcome.clients[0]), numbers(&outcome.clients[1])],
                expected,
                "{name}"
            );
            assert_eq!(numbers(served), (0..4).collect(), "{name}");
            for flow in outcome.clients.iter().flat_map(|c| &c.flows) {
                let theirs = served.flows.iter().find(|f| f.flow == flow.flow).unwrap();
                assert_eq!((&flow.local, &flow.peer), (&theirs.peer, &theirs.local), "{name}");
            }
        }
    }
    for agent in [one, two, server] {
        assert_eq!(agent.bye(), Ok(()));
    }
}

#[test]
fn a_server_waits_for_no_flow_that_went_to_another() {
    let (mut client, mut busy, mut idle) = (Agent::start(), Agent::start(), Agent::start());
    for (run, name) in (0..).zip(["rr", "crr", "udp", "rr-udp", "stream", "push", "http"]) {
        let job = job(name.trim_end_matches("-udp"), params(name, busy.address), 2);
        let trial = TestTrial::new(job.clone(), busy.address);
        // Both servers are prepared for more than will come to either.
        let order = TestTrial::new(Job { connections: 8, ..job }, busy.address).prepare(
            run,
            Role::Server,
            0,
            1,
        );
        for server in [&mut busy, &mut idle] {
            server.send(&order);
            server.ready();
        }
        client.send(&trial.prepare(run, Role::Client, 0, 1));
        client.ready();
        let window_start_ns = clock::now() + 25 * MS;
        for agent in [&mut client, &mut busy, &mut idle] {
            agent.send(&ToAgent::Start { window_start_ns });
        }
        assert!(moved(&client.report()) > 0, "{name}");
        let began = clock::now();
        busy.send(&ToAgent::Finish);
        idle.send(&ToAgent::Finish);
        let (busy_saw, idle_saw) = (busy.report(), idle.report());
        // 2 s is what a server waits for flows that do not end.
        let took = clock::now() - began;
        assert!(took < SECOND, "{name}: {took} ns");
        assert!(busy_saw.incomplete.is_none() && idle_saw.incomplete.is_none(), "{name}");
        assert!(moved(&busy_saw) > 0 && moved(&idle_saw) == 0, "{name}");
        assert_eq!((busy_saw.flows.is_empty(), idle_saw.flows.is_empty()), (false, true), "{name}");
        assert!(!idle_saw.ticks.is_empty(), "{name}");
    }
    for agent in [client, busy, idle] {
        assert_eq!(agent.bye(), Ok(()));
    }
}
