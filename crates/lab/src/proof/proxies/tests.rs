//! Proxies and what they counted, made up.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Counter, EndReport, EngineKind, MeshMode, Pacing, Path, Place, Schedule, Timing, Variant, Via};
use hopbench_testbed::{AgentId, Counters};

use super::*;
use crate::cast::Cast;
use crate::trail::Trail;

fn job(workload: &str, connections: u32) -> Job {
    Job {
        workload: workload.into(),
        params: serde_json::Value::Null,
        schedule: Schedule::Closed,
        engine: EngineKind::Epoll,
        connections,
        threads: 1,
        pacing: Pacing::Sleep,
        client_cpus: None,
        server_cpus: None,
        timing: Timing { warmup_ns: 0, window_ns: 1, interval_ns: 1, timeout_ns: 1 },
        seed: 1,
    }
}

/// A client's report with these counts.
fn end(counts: &[(Counter, u64)]) -> EndReport {
    let mut end = EndReport::default();
    counts.iter().for_each(|(counter, count)| end.drained.set(*counter, *count));
    end
}

fn proxy(name: &str, named: bool) -> Proxy {
    Proxy { name: name.into(), node: "a".into(), named, pids: vec![], workers: 1, cpus: None }
}

/// The hops whose proof fails, when these proxies of a path counted this.
fn doubts(
    mode: MeshMode,
    variant: Variant,
    job: &Job,
    client: &EndReport,
    counted: &[(&str, &[(&str, u64)])],
) -> BTreeSet<String> {
    let place = Place { network: "bridge".into(), node: "a".into(), runtime: None };
    let path = Path {
        name: "p".into(),
        from: place.clone(),
        to: place,
        via: Via::Direct,
        clients: 1,
        backends: 1,
        mesh: mode,
        variant: (!mode.is_none()).then_some(variant),
    };
    let names = |name: &str| match name {
        "client-sidecar" => mode.has_client(),
        "server-sidecar" | "policy" | "telemetry" => mode.has_server(),
        _ => false,
    };
    let all =
        ["downstream_connections", "upstream_connections", "requests", "retries", "policy_checks", "policy_errors"];
    let (mut before, mut after) = (Counters::new(), Counters::new());
    for (name, values) in counted.iter().filter(|(name, _)| !["policy", "telemetry"].contains(name)) {
        for counter in all {
            let grown = values.iter().find(|(known, _)| *known == counter).map_or(0, |(_, value)| *value);
            before.insert(of_proxy(name, counter), 1000);
            after.insert(of_proxy(name, counter), 1000 + grown);
        }
    }
    let proxies: Vec<Proxy> = counted.iter().map(|(name, _)| proxy(name, names(name))).collect();
    let trail = Trail { hops: vec![], stages: vec![], still: vec![], nics: BTreeSet::new(), crosses_zones: false };
    let known = Known {
        cast: &Cast::new(&path, None, None, BTreeSet::new()),
        trail: &trail,
        service: None,
        tunnels: &BTreeSet::new(),
        held: BTreeMap::new(),
        namespaces: BTreeMap::new(),
        sandboxes: BTreeMap::new(),
        kernel: String::new(),
        peers: BTreeSet::new(),
        proxies: &proxies,
    };
    let clients = [(AgentId("bridge@a".into()), client.clone())];
    let seen = Seen { job, clients: &clients, servers: &[], machines: &BTreeMap::new() };
    let found = super::proxies(&known, &Grown { before: &before, after: &after }, &seen);
    found.into_iter().filter(|proof| !proof.ok).map(|proof| proof.hop).collect()
}

fn set(hops: &[&str]) -> BTreeSet<String> {
    hops.iter().map(|hop| (*hop).to_owned()).collect()
}

#[test]
fn connections_are_equal_at_every_proxy() {
    let judge = |client: u64, made: u64, server: u64| {
        let counted: [(&str, &[(&str, u64)]); 2] = [
            ("client-sidecar", &[("downstream_connections", client), ("upstream_connections", made)]),
            ("server-sidecar", &[("downstream_connections", server)]),
        ];
        doubts(MeshMode::Both, Variant::plain(), &job("rr", 4), &end(&[]), &counted)
    };
    assert_eq!(judge(4, 4, 4), set(&[]));
    assert_eq!(judge(5, 4, 4), set(&["client-sidecar"]));
    assert_eq!(judge(3, 4, 4), set(&["client-sidecar"]));
    assert_eq!(judge(4, 4, 3), set(&["server-sidecar"]));
    assert_eq!(judge(4, 4, 5), set(&["server-sidecar"]));
    assert_eq!(judge(0, 0, 0), set(&["client-sidecar", "server-sidecar"]));
}

#[test]
fn requests_are_equal_unless_some_failed() {
    let judge = |sent: u64, completed: u64, requests: u64, status: Option<(u16, u64)>| {
        let mut client = end(&[
            (Counter::Connects, 2),
            (Counter::Sent, sent),
            (Counter::Completed, completed),
            (Counter::Errors, sent - completed),
        ]);
        client.settings.insert("preflight_connections".into(), "1".into());
        client.statuses.extend(status.map(|(status, count)| (status.to_string(), count)));
        let counted: [(&str, &[(&str, u64)]); 1] =
            [("server-sidecar", &[("downstream_connections", 3), ("requests", requests)])];
        doubts(MeshMode::Server, Variant::plain(), &job("http", 2), &client, &counted).is_empty()
    };
    assert!(judge(100, 100, 100, None) && !judge(100, 100, 99, None) && !judge(100, 100, 101, None));
    // Five that timed out may have got there or not.
    assert!(judge(100, 95, 95, None) && judge(100, 95, 100, None) && !judge(100, 95, 94, None));
    // Five that were answered with an error did.
    assert!(judge(100, 95, 100, Some((503, 5))) && !judge(100, 95, 99, Some((503, 5))));
}

#[test]
fn a_proxy_that_is_not_named_must_not_move() {
    let judge = |mode: MeshMode, workload: &str, moved: u64| {
        let counted: [(&str, &[(&str, u64)]); 2] =
            [("client-sidecar", &[("downstream_connections", moved)]), ("server-sidecar", &[("requests", moved)])];
        doubts(mode, Variant::plain(), &job(workload, 1), &end(&[]), &counted)
    };
    assert_eq!(judge(MeshMode::None, "rr", 0), set(&[]));
    assert_eq!(judge(MeshMode::None, "rr", 1), set(&["client-sidecar", "server-sidecar"]));
    assert_eq!(judge(MeshMode::Both, "udp", 0), set(&[]), "datagrams pass by");
    assert_eq!(judge(MeshMode::Both, "udp", 1), set(&["client-sidecar", "server-sidecar"]));
    let nobody = doubts(MeshMode::Both, Variant::plain(), &job("rr", 1), &end(&[]), &[]);
    assert_eq!(nobody, set(&["client-sidecar", "server-sidecar"]), "named and not there");
}

#[test]
fn every_request_is_checked_and_answered() {
    let judge = |asked: u64, errors: u64| {
        let client = end(&[(Counter::Connects, 1), (Counter::Sent, 10), (Counter::Completed, 10)]);
        let counters: &[(&str, u64)] =
            &[("downstream_connections", 1), ("requests", 10), ("policy_checks", asked), ("policy_errors", errors)];
        let variant = Variant { policy_check: true, ..Variant::plain() };
        let counted = [("server-sidecar", counters), ("policy", &[])];
        doubts(MeshMode::Server, variant, &job("http", 1), &client, &counted)
    };
    assert_eq!(judge(10, 0), set(&[]));
    assert_eq!((judge(9, 0), judge(10, 1)), (set(&["policy"]), set(&["policy"])));
}
