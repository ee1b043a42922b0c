//! Trials with agents at no end of the path, which look at what is beside them.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;

use hopbench_agent::{hello, local};
use hopbench_model::{Job, Plan, Record, SECOND};
use hopbench_run::{AgentConnection, Ends, TrialResult, Watch, conduct};
use hopbench_sys::clock;
use hopbench_testbed::{AgentId, Beside, NodeOnlooker, Proxy};
use serde_json::json;

use crate::bed::Bed;
use crate::far::Far;
use crate::follower::{Follower, contents, run};
use crate::hangs::{Nobody, hangs, never_ready};
use crate::plans::{job, path, plan, point};

fn gate() -> AgentId {
    AgentId("gate".to_owned())
}

/// A gateway with an agent beside it, which sees no container of this id.
fn gateway() -> Proxy {
    let beside = Some(Beside { agent: gate(), container: "0123456789abcdefnowhere".to_owned() });
    let (name, node) = ("gateway".to_owned(), "c".to_owned());
    Proxy { name, node, named: true, pids: Vec::new(), beside, workers: 1, cpus: None }
}

fn measured(bed: &mut Far, rounds: u32) -> Vec<Record> {
    let dir = tempfile::tempdir().unwrap();
    let points = vec![point("w", &[], job("rr", json!({"size": "1B"}), 1, 50))];
    let mut follower = Follower::default();
    let plan = plan(vec![path("x", 1, 1)], points, rounds);
    let ended = run(plan, dir.path(), bed, &mut follower).unwrap();
    assert_eq!((ended.errors, ended.failures), (0, 0), "{:?}", follower.failed);
    contents(dir.path()).1
}

/// What the record says of the gateway's cost.
fn said(record: &Record) -> &str {
    &record.settings["proxy_gateway"]
}

/// Nobody waits for meters until it is known that the agent is no help.
#[test]
fn an_onlooker_takes_part_in_trials_and_is_of_neither_side() {
    let mut bed = Far { proxies: vec![gateway()], ..Far::of_run() };
    let records = measured(&mut bed, 3);
    assert_eq!((records.len(), bed.opened[&gate()]), (3, 1));
    for record in &records[..2] {
        let why = "unavailable: the agent beside it does not see its processes, and no meter read \
                   it both before the trial and after it";
        assert_eq!(said(record), why);
        let nodes: Vec<&str> = record.cost.nodes.iter().map(|node| &*node.name).collect();
        assert_eq!(nodes, ["c1", "s"]);
        assert!(record.settings.keys().all(|name| !name.contains("neighbour")));
    }
    assert!(said(&records[2]).starts_with("unavailable: its processes cannot be seen from here"));
    // Two questions a trial, and those of a wait of 2 s every 250 ms.
    assert!((5 + 4..=5 + 9).contains(&bed.asked), "{}", bed.asked);
}

/// It is an agent that only serves, of no run.
#[test]
fn an_onlooker_that_refuses_costs_nothing_but_its_figures() {
    let mut bed = Far { proxies: vec![gateway()], only_serves: vec![gate()], ..Far::new(true) };
    let records = measured(&mut bed, 1);
    let why = "unavailable: the agent beside it reported nothing: this agent only serves";
    assert!(said(&records[0]).starts_with(why), "{}", said(&records[0]));
    assert!(records[0].metrics["requests"] > 0.0);
}

#[test]
fn an_onlooker_that_cannot_be_reached_is_told_and_left_alone() {
    let mut bed = Far { proxies: vec![gateway()], gone: vec![gate()], ..Far::new(false) };
    let records = measured(&mut bed, 3);
    for record in &records {
        assert_eq!(record.settings["onlooker gate"], "unavailable: nobody is there");
        assert!(said(record).starts_with("unavailable: its processes cannot be seen from here"));
    }
    assert_eq!(bed.opened[&gate()], 1, "not once a trial");
}

#[test]
fn an_onlooker_on_a_node_takes_part_if_it_is_there() {
    for absent in [None, Some("its pod is gone".to_owned())] {
        let onlooker = NodeOnlooker { node: "c".to_owned(), agent: gate(), absent: absent.clone() };
        let mut bed = Far { node_onlookers: vec![onlooker], ..Far::of_run() };
        let told = absent.map(|why| format!("unavailable: {why}"));
        for record in measured(&mut bed, 2) {
            assert_eq!(record.settings.get("onlooker gate"), told.as_ref());
        }
        let opened = bed.opened.get(&gate()).copied();
        assert_eq!(opened, told.is_none().then_some(1));
    }
}

#[test]
fn ends_stay_prepared_beside_an_onlooker() {
    let dir = tempfile::tempdir().unwrap();
    let proxies = BTreeMap::from([("x".to_owned(), vec![gateway()])]);
    let mut bed = Bed { proxies, ..Bed::default() };
    let points = vec![point("ask", &[], job("rr", json!({"size": "1B"}), 2, 50))];
    let plan = Plan { stay_connected: true, ..plan(vec![path("x", 1, 1)], points, 3) };
    run(plan, dir.path(), &mut bed, &mut Follower::default()).unwrap();
    let (file, records) = contents(dir.path());
    assert!(file.failures.is_empty(), "{:?}", file.failures);
    let stood: Vec<bool> =
        records.iter().map(|record| record.settings.contains_key("visit")).collect();
    assert_eq!(stood, [false, true, true]);
    assert_eq!(bed.opened[&gate()], 1);
    for record in &records[..2] {
        assert!(said(record).contains("does not see its processes"), "{}", said(record));
    }
}

/// A trial of echoes on the loopback, which need no server, with one onlooker.
fn echoes(onlooker: UnixStream) -> (TrialResult, u64) {
    let ours = hello();
    let onlooker = AgentConnection::over_pair(onlooker, &ours, "the onlooker".to_owned()).unwrap();
    let client = AgentConnection::over(local().unwrap(), &ours).unwrap();
    let onlookers = vec![(gate(), onlooker)];
    let mut ends = Ends { clients: vec![client], onlookers, ..Ends::default() };
    let job: Job = job("ping", json!({"every": "50ms", "size": "56B"}), 1, 300);
    let began = clock::now();
    let target = "127.0.0.1:0".parse().unwrap();
    let outcome = conduct(&mut ends, &job, target, &Watch::default(), &mut Nobody).unwrap();
    (outcome, clock::now() - began)
}

#[test]
fn an_onlooker_reads_the_window_of_the_ends() {
    let (outcome, _) = echoes(local().unwrap());
    assert_eq!(outcome.fault, None);
    assert!(outcome.server.is_none() && outcome.servers.is_empty());
    let seen = &outcome.onlookers[&gate()];
    assert_eq!(seen.window_ns, outcome.client.window_ns);
    assert!(seen.start.readings.contains_key("cpu") && seen.end.readings.contains_key("cpu"));
    let [Some(client)] = &outcome.clients[..] else { panic!("{:?}", outcome.clients) };
    assert_eq!(client.drained, outcome.client.drained);
}

#[test]
fn an_onlooker_that_hangs_is_done_without() {
    for hang in [hangs, never_ready] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        std::thread::spawn(move || hang(theirs));
        let (outcome, took) = echoes(ours);
        assert_eq!((outcome.fault, outcome.onlookers.len()), (None, 0));
        assert!(outcome.failed_onlookers[&gate()].contains("in time"), "it says why");
        assert!(outcome.clients[0].as_ref().is_some_and(|seen| seen.incomplete.is_none()));
        // Its patience, and a busy machine.
        assert!(took < 20 * SECOND, "{took} ns");
    }
}
