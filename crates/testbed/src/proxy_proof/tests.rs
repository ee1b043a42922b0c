//! Proofs of made-up proxies and counters.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Counter, EndReport, MeshMode, Path, Variant, Via, fixture};

use super::*;
use crate::AgentId;

fn job(workload: &str, connections: u32) -> Job {
    Job { connections, ..fixture::job(workload, serde_json::Value::Null) }
}

/// A client's report with these counts.
fn end(counts: &[(Counter, u64)]) -> EndReport {
    let mut end = EndReport::default();
    counts.iter().for_each(|(counter, count)| end.drained.set(*counter, *count));
    end
}

fn proxy(name: &str, named: bool) -> Proxy {
    let (name, node) = (name.into(), "a".into());
    Proxy { name, node, named, pids: vec![], beside: None, workers: 1, cpus: None }
}

/// The hops whose proof fails, when these proxies of a path counted this.
fn doubts(
    mode: MeshMode,
    variant: Variant,
    job: &Job,
    client: &EndReport,
    counted: &[(&str, &[(&str, u64)])],
) -> BTreeSet<String> {
    let path =
        Path { mesh: mode, variant: (!mode.is_none()).then_some(variant), ..fixture::path("p") };
    let names = |name: &str| match name {
        "client-sidecar" => mode.has_client(),
        "server-sidecar" | "policy" | "telemetry" => mode.has_server(),
        _ => false,
    };
    #[rustfmt::skip]
    let of_proxies: &[&str] = &[
        "downstream_connections", "upstream_connections", "requests", "retries", "policy_checks",
        "policy_errors", "reports", "reports_lost",
    ];
    let (mut before, mut after) = (Counters::new(), Counters::new());
    for (name, values) in counted {
        let all: &[&str] = match *name {
            "policy" => &["checks"],
            "telemetry" => &["reports", "failed_calls"],
            _ => of_proxies,
        };
        for counter in all {
            let grown =
                values.iter().find(|(known, _)| *known == *counter).map_or(0, |(_, value)| *value);
            before.insert(of_proxy(name, counter), 1000);
            after.insert(of_proxy(name, counter), 1000 + grown);
        }
    }
    let proxies: Vec<Proxy> = counted.iter().map(|(name, _)| proxy(name, names(name))).collect();
    let clients = [(AgentId("bridge@a".into()), client.clone())];
    let seen =
        Seen { job, clients: &clients, servers: &[], machines: &BTreeMap::new(), stood: false };
    let found = proxy_proofs(&path, &proxies, &before, &after, &seen);
    found.into_iter().filter(|proof| !proof.ok).map(|proof| proof.hop).collect()
}

fn set(hops: &[&str]) -> BTreeSet<String> {
    hops.iter().map(|hop| (*hop).to_owned()).collect()
}

#[test]
fn connections_are_equal_at_every_proxy() {
    let judge = |client: u64, made: u64, server: u64| {
        let counted: [(&str, &[(&str, u64)]); 2] = [
            (
                "client-sidecar",
                &[("downstream_connections", client), ("upstream_connections", made)],
            ),
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
    assert!(
        judge(100, 100, 100, None) && !judge(100, 100, 99, None) && !judge(100, 100, 101, None)
    );
    // Five that timed out may have got there or not.
    assert!(judge(100, 95, 95, None) && judge(100, 95, 100, None) && !judge(100, 95, 94, None));
    // Five that were answered with an error did.
    assert!(judge(100, 95, 100, Some((503, 5))) && !judge(100, 95, 99, Some((503, 5))));
}

#[test]
fn a_proxy_that_is_not_named_must_not_move() {
    let judge = |mode: MeshMode, workload: &str, moved: u64| {
        let counted: [(&str, &[(&str, u64)]); 2] = [
            ("client-sidecar", &[("downstream_connections", moved)]),
            ("server-sidecar", &[("requests", moved)]),
        ];
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
    let judge = |asked: u64, errors: u64, checks: u64| {
        let client = end(&[(Counter::Connects, 1), (Counter::Sent, 10), (Counter::Completed, 10)]);
        let counters: &[(&str, u64)] = &[
            ("downstream_connections", 1),
            ("requests", 10),
            ("policy_checks", asked),
            ("policy_errors", errors),
        ];
        let variant = Variant { policy_check: true, ..Variant::plain() };
        let counted: [(&str, &[(&str, u64)]); 2] =
            [("server-sidecar", counters), ("policy", &[("checks", checks)])];
        doubts(MeshMode::Server, variant, &job("http", 1), &client, &counted)
    };
    assert_eq!(judge(10, 0, 10), set(&[]));
    assert_eq!((judge(9, 0, 9), judge(11, 0, 11)), (set(&["policy"]), set(&["policy"])));
    assert_eq!(
        (judge(10, 0, 9), judge(10, 0, 11)),
        (set(&["policy"]), set(&["policy"])),
        "another one was asked"
    );
    // Without an answer, and asked all the same: what failed is in the figures.
    assert_eq!(
        (judge(10, 1, 10), judge(10, 1, 9), judge(10, 1, 8)),
        (set(&[]), set(&[]), set(&["policy"]))
    );
}

/// A connection that carries nothing need not be asked about: the one with which `crr` finds out
/// whether there is a server.
#[test]
fn connections_that_carried_something_are_checked() {
    let judge = |asked: u64| {
        let mut client =
            end(&[(Counter::Connects, 10), (Counter::Sent, 10), (Counter::Completed, 10)]);
        client.settings.insert("preflight_connections".into(), "1".into());
        let counters: &[(&str, u64)] = &[("downstream_connections", 11), ("policy_checks", asked)];
        let variant = Variant { policy_check: true, ..Variant::plain() };
        let counted: [(&str, &[(&str, u64)]); 2] =
            [("server-sidecar", counters), ("policy", &[("checks", asked)])];
        doubts(MeshMode::Server, variant, &job("crr", 1), &client, &counted).is_empty()
    };
    assert!(judge(10) && judge(11) && !judge(9) && !judge(12));
}

/// What is behind a proxy gets all that was answered but what that proxy answered itself.
#[test]
fn errors_of_the_server_were_passed_on() {
    let judge = |reason: &str, passed: u64| {
        let mut client = end(&[
            (Counter::Connects, 1),
            (Counter::Sent, 10),
            (Counter::Completed, 6),
            (Counter::Errors, 4),
        ]);
        client.statuses = [("200".to_owned(), 6), ("500".to_owned(), 4)].into();
        client.errors = [(reason.to_owned(), 4)].into();
        let ahead: &[(&str, u64)] =
            &[("downstream_connections", 1), ("requests", 10), ("upstream_connections", 1)];
        let behind: &[(&str, u64)] = &[("downstream_connections", 1), ("requests", passed)];
        let counted = [("client-sidecar", ahead), ("server-sidecar", behind)];
        doubts(MeshMode::Both, Variant::plain(), &job("http", 1), &client, &counted)
    };
    assert_eq!(
        (judge("status_5xx", 10), judge("status_5xx", 9)),
        (set(&[]), set(&["server-sidecar"]))
    );
    assert_eq!((judge("503 UF", 6), judge("503 UF", 5)), (set(&[]), set(&["server-sidecar"])));
    assert_eq!((judge("403 UAEX", 6), judge("other", 6)), (set(&[]), set(&[])));
}

#[test]
fn an_answer_with_an_error_came_on_a_connection_that_is_counted() {
    let judge = |connections: u64, status: Option<(u16, u64)>| {
        let mut client = end(&[
            (Counter::Connects, 2),
            (Counter::Sent, 10),
            (Counter::Completed, 5),
            (Counter::Errors, 5),
        ]);
        client.statuses.extend(status.map(|(status, count)| (status.to_string(), count)));
        let counters: &[(&str, u64)] = &[("downstream_connections", connections), ("requests", 10)];
        doubts(
            MeshMode::Server,
            Variant::plain(),
            &job("http", 2),
            &client,
            &[("server-sidecar", counters)],
        )
        .is_empty()
    };
    assert!(judge(2, None) && judge(7, None) && !judge(8, None));
    assert!(judge(2, Some((503, 5))) && !judge(3, Some((503, 5))));
}

/// A service that is not to be asked must not have been asked. One that does not run takes nothing.
#[test]
fn what_is_beside_the_path_is_still_or_not_there() {
    let judge = |counted: &[(&str, &[(&str, u64)])]| {
        doubts(MeshMode::None, Variant::plain(), &job("rr", 1), &end(&[]), counted)
    };
    let (policy, telemetry) = ([("checks", 1)], [("reports", 1)]);
    assert_eq!(judge(&[("policy", &[]), ("telemetry", &[]), ("server-sidecar", &[])]), set(&[]));
    assert_eq!(
        judge(&[("policy", &policy), ("telemetry", &telemetry)]),
        set(&["policy", "telemetry"])
    );
    let nobody = idle(
        &proxy("server-sidecar", false),
        &Grown { before: &Counters::new(), after: &Counters::new() },
        "w",
    );
    assert!(nobody.ok && nobody.evidence == "w: does not run, it took nothing", "{nobody:?}");
}

#[test]
fn reports_come_and_none_is_made_up() {
    let judge_of = |requests: u64, sent: u64, lost: u64, got: u64, failed: u64| {
        let client = end(&[
            (Counter::Connects, 1),
            (Counter::Sent, requests),
            (Counter::Completed, requests),
        ]);
        let counters: &[(&str, u64)] = &[
            ("downstream_connections", 1),
            ("requests", requests),
            ("reports", sent),
            ("reports_lost", lost),
        ];
        let variant = Variant { policy_report: true, ..Variant::plain() };
        let service: &[(&str, u64)] = &[("reports", got), ("failed_calls", failed)];
        let counted = [("server-sidecar", counters), ("telemetry", service)];
        doubts(MeshMode::Server, variant, &job("http", 1), &client, &counted).is_empty()
    };
    let judge = |sent, lost, got, failed| judge_of(10, sent, lost, got, failed);
    assert!(judge(10, 0, 10, 0) && judge(7, 0, 5, 0), "the last ones come later");
    assert!(judge(9, 1, 9, 0), "what Envoy drops under load took the way all the same");
    assert!(judge(10, 0, 13, 0), "some of the trial before came in this one");
    assert!(!judge(10, 0, 21, 0) && !judge(10, 0, 9, 1));
    assert!(
        judge_of(5000, 1, 0, 0, 0) && !judge_of(5000, 0, 0, 0, 0),
        "so many requests leave a trace at once"
    );
}

#[test]
fn sidecars_behind_a_gateway_of_others_count_at_least_what_came() {
    let report = end(&[(Counter::Connects, 4), (Counter::Sent, 100), (Counter::Completed, 100)]);
    let clients = [(AgentId("a".into()), report)];
    let (job, machines) = (job("http", 4), BTreeMap::new());
    let seen =
        Seen { job: &job, clients: &clients, servers: &[], machines: &machines, stood: false };
    let path = Path {
        via: Via::Gateway(String::new()),
        mesh: MeshMode::Server,
        variant: Some(Variant::plain()),
        ..fixture::path("p")
    };
    let at = |connections: u64, requests: u64| {
        let counted = [("downstream_connections", connections), ("requests", requests)];
        Counters::from(counted.map(|(name, count)| (of_proxy("server-sidecar", name), count)))
    };
    let ok = |requests: u64| {
        let sidecar = [proxy("server-sidecar", true)];
        let proofs = proxy_proofs(&path, &sidecar, &at(9, 1000), &at(9, 1000 + requests), &seen);
        let [proof] = proofs.as_slice() else { panic!("{proofs:?}") };
        assert_eq!(
            proof.evidence,
            format!("requests +{requests}, the clients sent 100 to the gateway")
        );
        proof.ok
    };
    assert!(ok(100) && ok(103) && !ok(99));
    let none = proxy_proofs(&path, &[], &Counters::new(), &Counters::new(), &seen);
    assert!(!none[0].ok, "{none:?}");
    // Bytes show no requests: their connections are compared.
    let job = self::job("rr", 4);
    let seen = Seen { job: &job, ..seen };
    let of_bytes = |connections: u64, requests: u64| {
        let sidecar = [proxy("server-sidecar", true)];
        let after = at(9 + connections, 1000 + requests);
        let proofs = proxy_proofs(&path, &sidecar, &at(9, 1000), &after, &seen);
        assert!(proofs[0].evidence.ends_with("the clients used 4 to the gateway"), "{proofs:?}");
        proofs[0].ok
    };
    assert!(of_bytes(4, 0) && of_bytes(5, 0) && !of_bytes(3, 0) && !of_bytes(4, 1));
}

#[test]
fn a_gateway_that_was_there_before_has_no_counters_here() {
    let report = end(&[(Counter::Connects, 4), (Counter::Completed, 100)]);
    let clients = [(AgentId("a".into()), report)];
    let (job, machines) = (job("http", 4), BTreeMap::new());
    let seen =
        Seen { job: &job, clients: &clients, servers: &[], machines: &machines, stood: false };
    let of = |node: &str, proxies: &[Proxy]| {
        let path = Path {
            via: Via::Gateway(node.to_owned()),
            variant: Some(Variant::plain()),
            ..fixture::path("p")
        };
        proxy_proofs(&path, proxies, &Counters::new(), &Counters::new(), &seen)
    };
    let two = [proxy("gateway", true), proxy("gateway#2", true)];
    for proxies in [&[][..], &two] {
        assert_eq!(of("", proxies), []);
        let own = of("c", proxies);
        assert!(own.iter().any(|proof| proof.hop.contains("gateway") && !proof.ok), "{own:?}");
    }
}
