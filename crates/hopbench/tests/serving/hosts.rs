//! `testbed: hosts`, through the binary: agents that somebody started in two hosts of the test.

use std::path::Path;

use hopbench_model::RunStatus;

use crate::lab::bench::{Bench, good};
use crate::lab::namespace::inside_within;
use crate::lab::pair::B;
use crate::lab::program::{Finished, Running};
use crate::lab::wait::{MS, S, pause, until};
use crate::lab::{Agent, Pair, User};

const A: &str = "10.71.0.1";
const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Two hosts with an agent each, and a third place from which both are reached.
struct Machines {
    pair: Pair,
    folder: tempfile::TempDir,
}

impl Machines {
    fn build() -> Self {
        let pair = Pair::build();
        crate::lab::namespace::shell(
            "ip link add mgmt type veth peer name port-m netns fabric
             ip -n fabric link set port-m master br0 up
             ip addr add 10.71.0.9/24 dev mgmt
             ip link set mgmt up",
        );
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("token"), TOKEN).expect("a token file");
        Self { pair, folder }
    }

    fn token_file(&self) -> String {
        self.folder.path().join("token").to_string_lossy().into_owned()
    }

    fn agent(&self, host: &str, flags: &[&str]) -> Agent {
        let file = self.token_file();
        let arguments = ["serve", "--token-file", &file];
        Agent::start(&mut self.pair.program(host, &[&arguments, flags].concat()))
    }

    fn bench(&self, rest: &str) -> Bench {
        let head = format!(
            "name: machines
testbed: {{hosts: {{token-file: {}, nodes: {{a: {A}, b: {{control: '{B}:7474', address: {B}}}}}}}}}
",
            self.token_file()
        );
        Bench::new(User::Caller, &(head + rest))
    }
}

/// The whole of it: four workloads both ways, proved, with costs of each host and the agents'
/// clocks.
#[test]
fn a_scenario_runs_between_agents_that_somebody_started() {
    inside_within(120 * S, || {
        let machines = Machines::build();
        let mut agents =
            [machines.agent("a", &["--both-ends"]), machines.agent("b", &["--both-ends"])];
        let bench = machines.bench(
            "rounds: 2
time: 300ms
warmup: 50ms
interval: 50ms
seed: 3
baseline: there
a-a: false
paths:
  there: host@a -> host@b
  back:  host@b -> host@a
workloads:
  ask:   {rr: {size: 100B}}
  bulk:  {stream: {connections: 2}}
  page:  {http: {connections: 2, response: 1KiB}}
  dgram: {udp: {size: 100B, rate: 1000pps}}
",
        );
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{}", done.story());
        let results = bench.results();
        assert_eq!((results.run.status, results.run.failures.len()), (RunStatus::Complete, 0));
        assert_eq!(results.records.len(), 2 * 2 * 4);
        results.whole();
        for record in &results.records {
            let name = format!("{} {}", record.path, record.workload);
            let hop = |hop: &str| {
                record
                    .proof
                    .iter()
                    .find(|proof| proof.hop == hop)
                    .map(|proof| proof.evidence.clone())
            };
            let peer = hop("peer").unwrap_or_else(|| panic!("{name}: {:?}", record.proof));
            let client = if record.path == "there" { A } else { B };
            assert!(peer.contains(client), "{name}: {peer}");
            assert!(
                hop("hosts").is_some_and(|said| said.contains("two network namespaces")),
                "{name}"
            );
            let skew: i64 = record.settings["start_skew_ns"].parse().expect("a number");
            assert!((0..5_000_000_000).contains(&skew), "{name}: {skew}");
            let nodes: Vec<&str> =
                record.cost.nodes.iter().map(|node| node.name.as_str()).collect();
            assert_eq!(nodes.len(), 2, "{name}: {nodes:?}");
        }
        assert!(results.run.testbed.contains_key("node b boot_id"), "{:?}", results.run.testbed);
        assert!(agents.iter_mut().all(Agent::runs), "the agents are not the run's to end");
    });
}

fn failed(done: &Finished, words: &[&str]) {
    assert_ne!(done.code, Some(0), "{}", done.story());
    for word in words {
        assert!(done.stderr.contains(word), "`{word}`: {}", done.story());
    }
}

const SHORT: &str = "rounds: 1
time: 100ms
warmup: 0s
paths: {there: host@a -> host@b}
workloads: {ask: {rr: {size: 1B}}}
";

/// Nothing is measured where an agent is not there, has another token, or only serves; the error
/// says which and what to do. Where the other way is possible, that is measured.
#[test]
fn what_is_missing_is_told_before_anything_is_measured() {
    inside_within(120 * S, || {
        let machines = Machines::build();
        let bench = machines.bench(SHORT);
        let _b = machines.agent("b", &[]);
        failed(
            &bench.run(&[]),
            &["the agent of a is missing", "refused", "hopbench serve --both-ends"],
        );
        {
            let _a = machines.agent("a", &[]);
            failed(
                &bench.run(&[]),
                &["an agent for both ends on a is missing", "only serves", "--both-ends"],
            );
        }
        {
            let other = Machines { pair: Pair, folder: tempfile::tempdir().expect("a folder") };
            std::fs::write(other.folder.path().join("token"), TOKEN.replace('0', "1"))
                .expect("a token file");
            let _a = other.agent("a", &["--both-ends"]);
            failed(&bench.run(&[]), &["the agent of a is missing", "has another token"]);
        }
        assert!(!Path::new(&bench.out()).exists(), "a folder in which nothing can ever be");
        // b only serves, which is all that `there` asks of it.
        let _a = machines.agent("a", &["--both-ends"]);
        let both =
            machines.bench(&SHORT.replace(
                "there: host@a -> host@b",
                "there: host@a -> host@b, back: host@b -> host@a",
            ));
        let done = both.run(&[]);
        assert_eq!(done.code, Some(0), "{}", done.story());
        let results = both.results();
        assert_eq!(results.records.len(), 1);
        good(&results.records[0]);
        assert!(
            results.run.skipped[0].reason.contains("both ends on b"),
            "{:?}",
            results.run.skipped
        );
    });
}

/// An agent dies in the middle of a trial: that trial and those that need it fail, the others are
/// measured; once it is back, `--resume` measures what is missing.
#[test]
fn an_agent_that_is_killed_fails_its_trials_only() {
    inside_within(180 * S, || {
        let machines = Machines::build();
        let _a = machines.agent("a", &["--both-ends"]);
        let b = machines.agent("b", &["--both-ends"]);
        let bench = machines.bench(
            "rounds: 2
time: 1500ms
warmup: 0s
interval: 100ms
paths:
  there: host@a -> host@b
  here:  host@a -> host@a
workloads: {ask: {rr: {size: 1B}}}
",
        );
        let running: Running = bench.start(&[]);
        // The first trial between the two is under way when b has flows of it for a while. One
        // connection is the control session, and a second one can be that of a short question.
        let has_flows = || {
            let sockets =
                machines.pair.shell("b", "ss -Htn state established 'sport = :7474' | wc -l");
            sockets.trim().parse::<u32>().is_ok_and(|count| count >= 2)
        };
        let begun = until(30 * S, || {
            let before = has_flows();
            pause(300 * MS);
            (before && has_flows()).then_some(())
        });
        assert!(begun.is_some(), "no trial began");
        drop(b);
        let done = running.finish_within(90 * S);
        assert_eq!(done.code, Some(4), "{}", done.story());
        let results = bench.results();
        let whole: Vec<&str> = results
            .records
            .iter()
            .filter(|r| r.incomplete.is_none())
            .map(|r| r.path.as_str())
            .collect();
        assert_eq!(
            whole.iter().filter(|path| **path == "here").count(),
            2,
            "{whole:?} {}",
            done.story()
        );
        let reasons: Vec<String> = results
            .records
            .iter()
            .filter_map(|record| record.incomplete.clone())
            .chain(results.run.failures.iter().map(|failure| failure.reason.clone()))
            .collect();
        assert!(reasons.iter().any(|why| why.contains("lost the agent host@b")), "{reasons:?}");
        let _b = machines.agent("b", &["--both-ends"]);
        let done = bench.resume(&[]);
        assert_eq!(done.code, Some(0), "{}", done.story());
        let results = bench.results();
        assert_eq!(results.run.status, RunStatus::Complete);
        results.whole();
    });
}
