//! Servers and gateways on sets of nodes. Their links together are as fast as is known beforehand.

use hopbench_model::Member;

use crate::lab::envoy;
use crate::lab::namespace::outside;
use crate::lab::records::sound;
use crate::lab::{Bench, User};

/// One of both servers gets none of 16 connections in 1 of 32 000 runs.
const SETS: &str = "
name: sets
testbed: {lab: {nodes: {a: {link: 1Gbit}, b: {link: 50Mbit}, c: {link: 50Mbit}}}}
rounds: 1
time: 1s
warmup: 500ms
paths:
  one: bridge@a -> bridge@b via cluster-ip
  two: bridge@a -> bridge@[b, c] via cluster-ip
workloads:
  bulk: {stream: {connections: 16}}
";

#[test]
fn servers_on_two_nodes_have_the_links_of_both() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, SETS);
    let done = bench.run(&["--units", "MB/s"]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    assert!(done.stdout.contains("MB/s") && !done.stdout.contains("bit/s"), "{}", done.stdout);
    let results = bench.results();
    let of = |path: &str| results.records.iter().find(|r| r.path == path).expect("a record");
    for (path, nodes) in [("one", vec!["b"]), ("two", vec!["b", "c"])] {
        let record = of(path);
        sound(record);
        let mbit = nodes.len() as f64 * 50.0;
        let received = record.metrics["received_bits_per_s"] / 1e6;
        // A link that was idle sends 10 ms of its rate at once: 1 % of a window of a second.
        let most = 1.01 * mbit;
        assert!((0.8 * mbit..=most).contains(&received), "{path}: {received} of {mbit} Mbit/s");
        assert_eq!(record.settings["link_bits_per_s"], format!("{mbit}000000"), "{path}");
        if nodes.len() > 1 {
            let servers = record.cost.members.iter().filter(|member| member.role == "server");
            assert_eq!(self::nodes(&servers.collect::<Vec<_>>()), nodes);
            assert!(record.settings["hops"].contains("eth0 of [b, c]"), "{record:?}");
        }
    }
}

/// One of four gateways gets none of 60 connections in 1 of 8 million runs.
const GATEWAYS: &str = "
name: gateways
testbed: {lab: {nodes: 5}}
rounds: 1
time: 1s
warmup: 500ms
paths:
  many:
    {from: bridge@a, to: 'bridge@[b, c]', backends: 4, via: 'gateway@[d, e]', gateways: 4,
     mesh: server}
workloads:
  ask: {http: {connections: 60, rate: 500}}
";

#[test]
fn gateways_on_two_nodes_share_the_connections() {
    let (Some(envoy), Some(_turn)) = (envoy::program(), outside()) else { return };
    let bench = Bench::new(User::Caller, GATEWAYS);
    let done = bench.run(&["--envoy", &envoy.to_string_lossy()]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    let [record] = results.records.as_slice() else { panic!("{}", done.story()) };
    sound(record);
    let of = |role: &str| -> Vec<&Member> {
        record.cost.members.iter().filter(|member| member.role == role).collect()
    };
    assert_eq!(nodes(&of("server")), ["b", "c"]);
    assert_eq!(nodes(&of("gateway")), ["d", "e"]);
    let carried: Vec<_> = of("gateway").iter().map(|one| one.connections).collect();
    assert!(carried.len() == 4 && carried.iter().all(|each| *each > Some(0)), "{carried:?}");
    // A proxy counts the client's question before the trial, too.
    assert!((60..=61).contains(&carried.iter().flatten().sum::<u64>()), "{carried:?}");
    assert!(record.settings["hops"].contains("gateway on [d, e]"), "{:?}", record.settings);
}

/// The nodes of members, each once.
fn nodes<'r>(members: &[&'r Member]) -> Vec<&'r str> {
    let mut nodes: Vec<&str> = members.iter().map(|member| member.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
