//! Proofs of made-up readings.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{CpuSet, Path, fixture};
use hopbench_testbed::placement::{Endpoints, Group, Placement, PodId, Rules};

use super::*;
use crate::topology::packet_path::{Link, Owner, PacketPath, Side};

const TRAFFIC: TrialTraffic = TrialTraffic {
    out_bytes: 100_000,
    back_bytes: 100_000,
    out_packets: 1,
    back_packets: 1,
    connections: 1,
};

fn packet_path(still: Vec<(Link, Side)>) -> PacketPath {
    PacketPath { still, ..PacketPath::default() }
}

fn link(name: &str) -> Link {
    Link { owner: Owner::Node("a".to_owned()), name: name.to_owned() }
}

fn endpoints() -> Endpoints {
    let place = fixture::place("bridge", "a");
    let path = Path { from: place.clone(), to: place, ..fixture::path("p") };
    Placement::of(&fixture::plan(vec![path], vec![]), Rules::default()).paths.remove("p").unwrap()
}

fn way<'a>(
    endpoints: &'a Endpoints,
    packet_path: &PacketPath,
    tunnels: &'a BTreeSet<&'static str>,
) -> WayFacts<'a> {
    let packet_path = packet_path.clone();
    WayFacts { endpoints, packet_path, service: None, tunnels, proxies: &[] }
}

#[test]
fn a_device_that_was_built_must_have_a_counter() {
    let packet_path =
        packet_path(vec![(link("vxlan0"), Side::Sends), (link("eth0"), Side::Receives)]);
    let judge = |built: &[&'static str], counters: &[(&str, u64)]| {
        let at = |grown: bool| -> Counters {
            counters
                .iter()
                .map(|(name, by)| ((*name).to_owned(), if grown { *by } else { 0 }))
                .collect()
        };
        let grown = Grown { before: &at(false), after: &at(true) };
        let built = built.iter().copied().collect();
        links::still(&way(&endpoints(), &packet_path, &built), &grown, TRAFFIC, false)
    };
    let (nic, tunnel) = (("a/eth0 rx_bytes", 7), ("a/vxlan0 tx_bytes", 9));
    let quiet = judge(&["vxlan0"], &[nic, tunnel]);
    assert!(quiet.ok && quiet.evidence == "a/vxlan0 tx 9 bytes, a/eth0 rx 7 bytes", "{quiet:?}");
    // A tunnel that no path needs is not there, and has no counter.
    assert!(judge(&[], &[nic]).ok);
    let doubt = judge(&["vxlan0"], &[nic]);
    assert!(!doubt.ok && doubt.evidence.contains("a/vxlan0 tx has no counter"), "{doubt:?}");
    assert!(!judge(&["vxlan0"], &[tunnel]).ok, "a node always has its NIC");
    assert!(!judge(&["vxlan0"], &[nic, ("a/vxlan0 tx_bytes", 90_000)]).ok);
}

/// What the proxies say to the services takes its own way, and no other one is excused for it.
#[test]
fn only_the_way_to_the_services_need_not_be_still() {
    let mut packet_path =
        packet_path(vec![(link("eth0"), Side::Sends), (link("vxlan0"), Side::Sends)]);
    packet_path.called.insert((link("eth0"), Side::Sends));
    let built = BTreeSet::from(["vxlan0"]);
    let at = |nic, tunnel| {
        Counters::from([("a/eth0 tx_bytes", nic), ("a/vxlan0 tx_bytes", tunnel)].map(named))
    };
    let (before, nic, tunnel) = (at(0, 0), at(90_000, 0), at(0, 90_000));
    let judge = |after: &Counters, bypassed: bool| {
        let grown = Grown { before: &before, after };
        links::still(&way(&endpoints(), &packet_path, &built), &grown, TRAFFIC, bypassed).ok
    };
    assert!(judge(&nic, false) && !judge(&nic, true), "datagrams are reported to nobody");
    assert!(!judge(&tunnel, false) && !judge(&tunnel, true));
}

fn named((name, value): (&str, u64)) -> (String, u64) {
    (name.to_owned(), value)
}

#[test]
fn an_agent_on_other_cpus_is_told() {
    let endpoints = endpoints();
    let pod = PodId::first(endpoints.path.from.clone(), Group::Shared);
    let judge = |found: &[&[usize]]| {
        let found = found.iter().map(|cpus| CpuSet(cpus.to_vec())).collect();
        let held = BTreeMap::from([(&pod, (vec![0, 1], found))]);
        let known = AgentFacts { held, ..AgentFacts::default() };
        agents::held(&known).map(|proof| (proof.evidence, proof.ok)).unwrap()
    };
    assert_eq!(judge(&[&[0, 1]]), ("bridge@a on 0,1".to_owned(), true));
    assert_eq!(judge(&[&[1]]), ("bridge@a on 1".to_owned(), true), "narrower, by its own job");
    let elsewhere = "bridge@a was held to 0,1 and may use 2".to_owned();
    assert_eq!(judge(&[&[0], &[2]]), (elsewhere, false), "one of its processes is elsewhere");
    assert_eq!(judge(&[]), ("bridge@a is gone".to_owned(), false));
}
