use std::collections::BTreeMap;

use hopbench_model::{MeteredCost, ProxyCost, fixture};
use hopbench_testbed::Proxy;
use serde_json::json;

use super::*;

const UNSEEN: [&[Option<EndReport>]; 2] = [&[None], &[None]];

/// A client on node a and a server on node b of one machine with 4 CPUs, two for each; a sidecar on
/// b.
fn lab() -> (Route, Record) {
    let agents: Vec<AgentId> = ["client", "server"].map(|name| AgentId(name.to_owned())).to_vec();
    let proxy = |name: &str, workers, cpus: Option<Vec<usize>>| Proxy {
        name: name.to_owned(),
        node: "b".to_owned(),
        named: true,
        pids: vec![1],
        beside: None,
        workers,
        cpus,
    };
    let route = Route {
        path: "x".to_owned(),
        clients: vec![agents[0].clone()],
        servers: vec![agents[1].clone()],
        nodes: vec![(agents[0].clone(), "a".to_owned()), (agents[1].clone(), "b".to_owned())],
        cpus: BTreeMap::from([(agents[0].clone(), vec![0, 1]), (agents[1].clone(), vec![2, 3])]),
        proxies: vec![
            proxy("server-sidecar", 2, Some(vec![2])),
            proxy("server-sidecar#2", 3, None),
        ],
        ..Route::to("127.0.0.1:1".parse().unwrap())
    };
    let mut record = fixture::record(&[]);
    record.cost.one_machine = true;
    let node = |name: &str| NodeCost {
        name: name.to_owned(),
        busy_cores: 2.0,
        per_cpu_busy: vec![0.9, 0.5, 0.4, 0.2],
        ..NodeCost::default()
    };
    record.cost.nodes = vec![node("a"), node("b")];
    record.cost.client.insert("cores".to_owned(), 0.8);
    record.cost.server.insert("cores".to_owned(), 0.2);
    let spent = |name: &str, cores| ProxyCost {
        name: name.to_owned(),
        node: "b".to_owned(),
        named: true,
        figures: BTreeMap::from([("cores".to_owned(), cores)]),
    };
    record.cost.proxies = vec![spent("server-sidecar", 0.1), spent("server-sidecar#2", 0.6)];
    (route, record)
}

fn share(of: &CpuOf, job: &Job, (route, record): &(Route, Record)) -> Result<f64, String> {
    let load = LoadTimes { quiet_since_s: -5.0, began_s: -1.0, window_s: 10.0 };
    let (hellos, program_limits) = (&[], &[]);
    Known { job, route, hellos, reports: UNSEEN, load: &load, is_by_agents: true, program_limits }
        .share(record, of)
}

fn near(found: &Result<f64, String>, expected: f64) -> bool {
    found.as_ref().is_ok_and(|found| (found - expected).abs() < 1e-9)
}

#[test]
fn each_is_taken_of_the_cpus_that_it_may_use() {
    let mut lab = lab();
    let mut job = fixture::job("http", json!({}));
    job.connections = 8;
    let node = |name: &str| CpuOf::Node(name.to_owned());
    let of = |of: &CpuOf, job: &Job, lab: &_| share(of, job, lab);
    // The CPUs of the node, not those of the machine; the processes of b used more than the ticks
    // saw.
    assert!(near(&of(&node("a"), &job, &lab), 0.8 / 2.0 + 0.3), "{:?}", of(&node("a"), &job, &lab));
    assert!(near(&of(&node("b"), &job, &lab), 0.45), "{:?}", of(&node("b"), &job, &lab));
    // One thread, two CPUs.
    assert!(near(&of(&CpuOf::Client, &job, &lab), 0.8));
    job.threads = 4;
    assert!(near(&of(&CpuOf::Client, &job, &lab), 0.4));
    assert!(near(&of(&CpuOf::Server, &job, &lab), 0.1));
    job.server_cpus = Some(CpuSet(vec![3]));
    assert!(near(&of(&CpuOf::Server, &job, &lab), 0.2));
    // Two workers on one CPU use 0.1 of it, three on two CPUs 0.6 of these; the busier one counts.
    lab.0.proxies[1].cpus = Some(vec![2, 3]);
    assert!(near(&of(&CpuOf::Proxy("server-sidecar".to_owned()), &job, &lab), 0.3));
    assert!(near(&of(&CpuOf::Proxy("server-sidecar#2".to_owned()), &job, &lab), 0.3));
    let none = of(&CpuOf::Proxy("gateway".to_owned()), &job, &lab).unwrap_err();
    assert!(none.contains("no proxy gateway") && none.contains("server-sidecar#2"), "{none}");
    // Nodes that share all CPUs are the machine.
    lab.0.cpus.clear();
    lab.0.proxies.clear();
    assert!(near(&of(&node("b"), &job, &lab), 0.5));
    job.server_cpus = None;
    assert!(near(&of(&CpuOf::Server, &job, &lab), 0.05));
}

#[test]
fn what_only_meters_know_is_taken_from_them() {
    let mut lab = lab();
    lab.1.cost.one_machine = false;
    lab.0.cpus.clear();
    lab.1.cost.nodes.pop();
    let job = fixture::job("http", json!({}));
    let of = CpuOf::Node("b".to_owned());
    let unseen = share(&of, &job, &lab).unwrap_err();
    assert!(unseen.contains("no meter read it"), "{unseen}");
    let figures = BTreeMap::from([("cpu_s".to_owned(), 22.0)]);
    lab.1.cost.metered.push(MeteredCost {
        who: "b".to_owned(),
        what: "node".to_owned(),
        source: "kubelet".to_owned(),
        window_s: 15.0,
        starts_at_s: -3.0,
        figures,
    });
    let unknown = share(&of, &job, &lab).unwrap_err();
    assert!(unknown.contains("how many CPUs the node b has"), "{unknown}");
    // A cpu time of 22 s in the 11 s of load are 2 cores, of the 4 that an agent there knows of.
    lab.1.cost.nodes.push(NodeCost { name: "b".to_owned(), ..NodeCost::default() });
    let mut told = lab.0.clone();
    told.nodes[0].1 = "b".to_owned();
    lab.0 = told;
    let load = LoadTimes { quiet_since_s: -5.0, began_s: -1.0, window_s: 10.0 };
    let machine = BTreeMap::from([("cpu_count".to_owned(), "4".to_owned())]);
    let empty = String::new;
    let hello = Hello { protocol: 0, version: empty(), commit: empty(), boot_id: empty(), machine };
    let (hellos, is_by_agents) = (&[hello][..], true);
    let (route, load) = (&lab.0, &load);
    let (job, reports, program_limits) = (&job, UNSEEN, &[]);
    let known = Known { job, route, hellos, reports, load, is_by_agents, program_limits };
    assert!(near(&known.share(&lab.1, &of), 0.5), "{:?}", known.share(&lab.1, &of));
    // Nor is there a share where nobody saw the processes.
    lab.1.cost.server.clear();
    lab.1.settings.insert("server_program".to_owned(), "unavailable: nobody metered it".to_owned());
    assert_eq!(share(&CpuOf::Server, job, &lab).unwrap_err(), "unavailable: nobody metered it");
}

#[test]
fn a_node_that_only_an_onlooker_sees_has_its_share() {
    let (route, mut record) = lab();
    record.cost.nodes.clear();
    let figures =
        [("load_cores", 1.5), ("cpus", 2.0)].map(|(name, value)| (name.to_owned(), value));
    record.cost.metered.push(MeteredCost {
        who: "c".to_owned(),
        what: "node".to_owned(),
        source: "agent".to_owned(),
        window_s: 0.25,
        starts_at_s: 0.001,
        figures: figures.into(),
    });
    let job = fixture::job("http", json!({}));
    assert!(near(&share(&CpuOf::Node("c".to_owned()), &job, &(route, record)), 0.75));
}

#[test]
fn a_program_in_a_container_of_its_own_has_its_limit_or_its_node() {
    let (mut route, mut record) = lab();
    let (job, load) = (
        fixture::job("http", json!({})),
        LoadTimes { quiet_since_s: -5.0, began_s: -1.0, window_s: 10.0 },
    );
    let share = |(route, record): (&Route, &Record), program_limits: &[Option<f64>]| {
        let (hellos, reports, is_by_agents) = (&[][..], UNSEEN, false);
        let (job, load) = (&job, &load);
        let known = Known { job, route, hellos, reports, load, is_by_agents, program_limits };
        known.share(record, &CpuOf::Server)
    };
    let of = |limit: Option<f64>| share((&route, &record), &[limit]);
    // It used 0.2 cores. Its node has four CPUs, whatever its agent may use.
    assert!(near(&of(None), 0.05), "{:?}", of(None));
    assert!(near(&of(Some(0.5)), 0.4), "{:?}", of(Some(0.5)));
    assert!(near(&of(Some(8.0)), 0.05), "{:?}", of(Some(8.0)));
    // On two nodes of 2 and 8 CPUs, limits of 4 allow 2 and 4.
    record.cost.one_machine = false;
    let node = |name: &str, cpus| NodeCost {
        name: name.to_owned(),
        per_cpu_busy: vec![0.1; cpus],
        ..NodeCost::default()
    };
    record.cost.nodes = vec![node("b", 2), node("c", 8)];
    let other = AgentId("server#2".to_owned());
    route.servers.push(other.clone());
    route.nodes.push((other, "c".to_owned()));
    let of = |limits: &[Option<f64>]| share((&route, &record), limits);
    assert!(near(&of(&[Some(4.0), Some(4.0)]), 0.2 / 6.0));
    assert!(near(&of(&[Some(4.0), None]), 0.2 / 10.0));
}
