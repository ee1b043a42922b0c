//! Proofs of made-up counters of proxies on nodes.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopbench_model::{Counter, EndReport, Job, fixture};
use hopbench_testbed::{AgentId, Proxy, of_proxy};

use super::*;

fn route(proxies: &[&str]) -> Route {
    let proxy = |name: &&str| Proxy {
        name: (*name).to_owned(),
        node: "a".to_owned(),
        named: true,
        pids: Vec::new(),
        beside: None,
        workers: 0,
        cpus: None,
    };
    Route {
        path: "p".to_owned(),
        clients: vec![AgentId("pod@a/mesh".to_owned())],
        servers: vec![AgentId("pod@b/mesh".to_owned())],
        proxies: proxies.iter().map(proxy).collect(),
        ..Route::to(SocketAddr::from(([10, 0, 0, 2], 7474)))
    }
}

/// The hops whose proof fails, when these proxies counted this much more.
fn doubts(
    provider: MeshProvider,
    path: &Path,
    (workload, reports): (&str, &[(Counter, u64)]),
    grown: &[(&str, &str, u64)],
) -> Vec<String> {
    let job = Job { connections: 4, ..fixture::job(workload, serde_json::Value::Null) };
    let mut client = EndReport::default();
    reports.iter().for_each(|(counter, count)| client.drained.set(*counter, *count));
    let clients = [(AgentId("pod@a/mesh".to_owned()), client)];
    let machines = BTreeMap::new();
    let seen =
        Seen { job: &job, clients: &clients, servers: &[], machines: &machines, stood: false };
    let name = |(proxy, counter, _): &(&str, &str, u64)| of_proxy(proxy, counter);
    let before: Counters = grown.iter().map(|one| (name(one), 100)).collect();
    let after: Counters = grown.iter().map(|one| (name(one), 100 + one.2)).collect();
    let mut proxies: Vec<&str> = grown.iter().map(|(proxy, ..)| *proxy).collect();
    proxies.dedup();
    let found = prove(provider, path, &route(&proxies), (&before, &after), &seen);
    found.into_iter().filter(|proof| !proof.ok).map(|proof| proof.hop).collect()
}

#[test]
fn both_ztunnels_must_count_the_connections_of_a_path() {
    let judge_via = |via: Via, mesh: MeshMode, client: [u64; 2], server: [u64; 2]| {
        let path = Path { mesh, via, ..fixture::path("p") };
        let grown = [
            ("node-proxy", "client_connections", client[0]),
            ("node-proxy", "client_mtls_connections", client[1]),
            ("node-proxy#2", "server_connections", server[0]),
            ("node-proxy#2", "server_mtls_connections", server[1]),
        ];
        doubts(MeshProvider::IstioAmbient, &path, ("rr", &[]), &grown)
    };
    let judge = |mesh, client, server| judge_via(Via::Direct, mesh, client, server);
    let none: [&str; 0] = [];
    let [client, server] = ["client's ztunnel", "server's ztunnel"];
    assert_eq!(judge(MeshMode::Both, [4, 4], [4, 4]), none);
    assert_eq!(judge(MeshMode::Both, [4, 0], [4, 4]), [client], "without mTLS");
    assert_eq!(judge(MeshMode::Both, [4, 4], [3, 3]), [server]);
    assert_eq!(judge(MeshMode::Both, [0, 0], [0, 0]), [client, server]);
    assert_eq!(judge(MeshMode::Client, [4, 0], [0, 0]), none);
    assert_eq!(judge(MeshMode::Client, [4, 0], [4, 0]), [server], "it is not in the mesh");
    assert_eq!(judge(MeshMode::Server, [0, 0], [4, 0]), none);
    assert_eq!(judge(MeshMode::None, [0, 0], [0, 0]), none);
    assert_eq!(judge(MeshMode::None, [1, 0], [0, 0]), [client]);
    // To the client's ztunnel a node is no workload.
    let by_node = Via::NodePort("c".to_owned());
    assert_eq!(judge_via(by_node, MeshMode::Both, [4, 0], [4, 0]), none);
    let path = Path { mesh: MeshMode::Both, ..fixture::path("p") };
    let nobody = doubts(MeshProvider::IstioAmbient, &path, ("rr", &[]), &[]);
    assert_eq!(nobody, ["node-proxy"], "none is known");
}

#[test]
fn cilium_must_have_counted_something() {
    let judge = |mesh: MeshMode, counted: u64| {
        let path = Path { mesh, ..fixture::path("p") };
        let sent = [(Counter::Connects, 4), (Counter::Sent, 10), (Counter::Completed, 10)];
        let grown = [("node-proxy", "requests", counted)];
        doubts(MeshProvider::Cilium, &path, ("http", &sent), &grown).is_empty()
    };
    assert!(judge(MeshMode::Server, 20) && judge(MeshMode::Server, 7));
    assert!(!judge(MeshMode::Server, 0));
    assert!(judge(MeshMode::None, 0), "it has no part in it");
}
