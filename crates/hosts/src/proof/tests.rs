//! Proofs of made-up machines and reports.

#![allow(clippy::unwrap_used, reason = "all of this is test")]

use hopbench_model::{FlowReport, fixture};
use hopbench_wire::{Hello, PROTOCOL};
use serde_json::json;

use super::*;

fn path(from: &str, to: &str, via: Via) -> Path {
    Path {
        from: fixture::place("host", from),
        to: fixture::place("host", to),
        via,
        ..fixture::path("p")
    }
}

fn facts(hostname: &str, netns: &str) -> BTreeMap<String, String> {
    [("hostname", hostname), ("netns", netns), ("pid", "7")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .into()
}

fn machine(boot_id: &str, hostname: &str) -> Machine {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "1".to_owned(),
        commit: "c".to_owned(),
        boot_id: boot_id.to_owned(),
        machine: facts(hostname, "1"),
    };
    let address = "10.0.0.1:7474".parse().unwrap();
    Machine { control: address, target: address, hello }
}

/// What is proved of a path from a to b, each with its boot id, host name now and network
/// namespace; the addresses are the client's own and the one that the server saw.
fn proved(
    path: &Path,
    a: [&str; 3],
    b: [&str; 3],
    addresses: [&str; 2],
) -> Vec<(String, bool, String)> {
    let machines = BTreeMap::from([
        ("a".to_owned(), machine(a[0], "one")),
        ("b".to_owned(), machine(b[0], "two")),
    ]);
    let flow = |local: &str, peer: &str| FlowReport {
        flow: 0,
        local: local.to_owned(),
        peer: peer.to_owned(),
    };
    let end = |local, peer| EndReport { flows: vec![flow(local, peer)], ..EndReport::default() };
    let (client, server) = (AgentId("host@a".to_owned()), AgentId("host@b".to_owned()));
    let job = fixture::job("rr", json!({}));
    let seen = Seen {
        job: &job,
        clients: &[(client.clone(), end(addresses[0], "10.0.0.2:7474"))],
        servers: &[(server.clone(), end("10.0.0.2:7474", addresses[1]))],
        machines: &BTreeMap::from([(client, facts(a[1], a[2])), (server, facts(b[1], b[2]))]),
        stood: false,
    };
    prove(path, &machines, &seen)
        .into_iter()
        .map(|proof| (proof.hop, proof.ok, proof.evidence))
        .collect()
}

const SAME: [&str; 2] = ["10.0.0.1:40000", "[::ffff:10.0.0.1]:40000"];

/// The hops whose proof fails.
fn failed(proofs: &[(String, bool, String)]) -> Vec<&str> {
    proofs.iter().filter(|(_, ok, _)| !ok).map(|(hop, ..)| hop.as_str()).collect()
}

#[test]
fn two_machines_that_see_each_other_prove_a_path() {
    let direct = path("a", "b", Via::Direct);
    let proofs = proved(&direct, ["x", "one", "1"], ["y", "two", "1"], SAME);
    assert_eq!(
        proofs.iter().map(|(hop, ..)| hop.as_str()).collect::<Vec<_>>(),
        ["client", "server", "hosts", "peer"]
    );
    assert!(failed(&proofs).is_empty(), "{proofs:?}");
    // Two namespaces of one machine are two stacks.
    assert!(failed(&proved(&direct, ["x", "one", "1"], ["x", "two", "2"], SAME)).is_empty());
}

#[test]
fn what_is_not_as_it_should_be_is_no_proof() {
    let direct = path("a", "b", Via::Direct);
    let one_stack = proved(&direct, ["x", "one", "1"], ["x", "two", "1"], SAME);
    assert_eq!(failed(&one_stack), ["hosts"]);
    assert!(one_stack[2].2.contains("nothing left it"), "{}", one_stack[2].2);
    assert_eq!(failed(&proved(&direct, ["x", "other", "1"], ["y", "two", "1"], SAME)), ["client"]);
    assert_eq!(failed(&proved(&direct, ["", "one", "1"], ["y", "two", "1"], SAME)), ["hosts"]);
    let translated = ["10.0.0.1:40000", "192.0.2.9:40000"];
    assert_eq!(
        failed(&proved(&direct, ["x", "one", "1"], ["y", "two", "1"], translated)),
        ["peer"]
    );
    // An address outside may translate.
    let via = path("a", "b", Via::Address("192.0.2.1:7474".to_owned()));
    assert!(failed(&proved(&via, ["x", "one", "1"], ["y", "two", "1"], translated)).is_empty());
}
