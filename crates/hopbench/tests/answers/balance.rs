//! The balance of servers behind a Service of the lab, whose answer is known beforehand.

use hopbench_model::{Member, Record, WarningKind};

use crate::lab::namespace::outside;
use crate::lab::records::sound;
use crate::lab::{Bench, User};

/// One client, whose address decides on the backend of one Service and not of the other. At random
/// no backend gets half of 60 connections in more than 1 of 1000 runs.
const THREE: &str = "
name: three
testbed: {lab: {nodes: [a, b]}}
rounds: 1
time: 500ms
warmup: 100ms
interval: 50ms
paths:
  tied: {from: bridge@a, to: bridge@b, via: cluster-ip, backends: 3, affinity: client-ip}
  free: {from: bridge@a, to: bridge@b, via: cluster-ip, backends: 3}
workloads:
  ask: {rr: {size: 100B, connections: 60, threads: 2}}
";

#[test]
fn a_service_that_sends_all_connections_to_one_backend_is_reported() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, THREE);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    let of = |path: &str| results.records.iter().find(|r| r.path == path).expect("a record");
    let (tied, free) = (of("tied"), of("free"));
    sound(tied);
    sound(free);
    assert_eq!(said(free), [""; 0]);
    assert_eq!(servers(free).iter().filter_map(|one| one.connections).sum::<u64>(), 60);
    let told = said(tied);
    let one = servers(tied).into_iter().find(|one| one.connections == Some(60));
    let one = one.unwrap_or_else(|| panic!("{:?}", tied.cost.members));
    let requests = one.requests.unwrap_or(0);
    let expected = format!(
        "3 servers: {} on node b carried 100 % of {requests} requests, and had 100 % of 60 \
         connections; an equal share is 33 %",
        one.name
    );
    assert_eq!(told, [expected]);
    assert!(requests > 0 && one.cpu_s.is_some_and(|cpu_s| cpu_s > 0.0), "{one:?}");
    // Its two workers share the connections: of 60 flows every second one.
    let of_workers = tied.cost.members.iter().filter(|member| member.of == one.name);
    let each: Vec<_> = of_workers.map(|worker| worker.connections).collect();
    assert_eq!(each, [Some(30), Some(30)]);
}

fn said(record: &Record) -> Vec<String> {
    let all = record.warnings.iter().filter(|warning| warning.kind == WarningKind::Unbalanced);
    all.map(|warning| warning.detail.clone()).collect()
}

fn servers(record: &Record) -> Vec<&Member> {
    record.cost.members.iter().filter(|member| member.role == "server").collect()
}
