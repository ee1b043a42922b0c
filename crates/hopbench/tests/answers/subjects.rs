//! Two versions in one run, with differences that are known beforehand.

use hopbench_model::Record;

use crate::lab::bench::Results;
use crate::lab::namespace::{outside, outside_alone};
use crate::lab::records::metric;
use crate::lab::{Bench, User, envoy};

/// Full frames of both subjects fill the same link. Headers take more of the smaller ones.
const FRAMES: &str = "
name: frames
testbed: {lab: {nodes: [a, b], link: 500Mbit, mtu: 9000}}
rounds: 3
time: 400ms
warmup: 200ms
paths: {p: bridge@a -> bridge@b}
subjects: {jumbo: , small: {mtu: 1280}}
workloads: {w: {stream: {connections: 2}}}
";

fn of<'r>(results: &'r Results, path: &'r str) -> impl Iterator<Item = &'r Record> {
    results.records.iter().filter(move |record| record.path == path)
}

/// The median of three rounds.
fn middle(results: &Results, path: &str, name: &str) -> f64 {
    let mut all: Vec<f64> = of(results, path).map(|record| metric(record, name)).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The evidence on a path's subject, the same in all its records, each of which holds.
fn evidence(results: &Results, path: &str, subject: &str) -> String {
    let hop = format!("subject {subject}");
    let mut found: Vec<&str> = of(results, path)
        .map(|record| {
            let proof = record.proof.iter().find(|proof| proof.hop == hop);
            let proof = proof.unwrap_or_else(|| panic!("{path}: no proof of {hop}: {record:?}"));
            assert!(proof.ok, "{path}: {}", proof.evidence);
            proof.evidence.as_str()
        })
        .collect();
    found.dedup();
    assert_eq!(found.len(), 1, "{path}: {found:?}");
    found[0].to_owned()
}

#[test]
fn an_mtu_gives_what_headers_predict() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let bench = Bench::new(User::Caller, FRAMES);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    results.whole();
    assert_eq!(results.records.len(), 9, "p.jumbo, p.small and p.jumbo again");
    // Of a frame of 14 bytes of Ethernet and the MTU, IP and TCP with time stamps take 52.
    let payload = |mtu: f64| (mtu - 52.0) / (mtu + 14.0);
    let expected = payload(1280.0) / payload(9000.0);
    let rate = |path| middle(&results, path, "received_bits_per_s");
    let ratio = rate("p.small") / rate("p.jumbo");
    assert!((ratio / expected - 1.0).abs() < 0.01, "{ratio}, expected {expected}");
    assert_eq!(evidence(&results, "p.small", "small"), "mtu 1280");
    assert_eq!(evidence(&results, "p.jumbo", "jumbo"), "mtu 9000");
}

/// What a subject says is set in its pods and on its nodes, by either user, and nowhere else. The
/// commands run in turn.
const SETTINGS: &str = "
name: settings
testbed: {lab: {nodes: [a, b]}}
rounds: 2
time: 60ms
warmup: 10ms
paths:
  pods: bridge@a -> bridge@b
  host: host@a -> host@b
subjects:
  old:
    command:
      before: 'test -e $HOPBENCH_NODE_a && echo $HOPBENCH_SUBJECT >> FILE'
  new:
    sysctl: {net.ipv4.tcp_congestion_control: reno, net.ipv4.tcp_rmem: 4096 65536 65536}
    offloads: {tso: off, gro: on}
    command: {before: echo begin >> FILE, after: echo end >> FILE}
workloads: {w: {stream: {}}}
";

#[test]
fn settings_are_where_they_belong_and_commands_run_in_turn() {
    let Some(_turn) = outside() else {
        return;
    };
    for user in User::all() {
        let folder = user.folder();
        let file = folder.path().join("commands");
        let bench = Bench::new(user, &SETTINGS.replace("FILE", &file.to_string_lossy()));
        let done = bench.run(&[]);
        assert_eq!(done.code, Some(0), "{user}: {}", done.story());
        let results = bench.results();
        results.whole();
        for path in ["pods", "host"] {
            let new = evidence(&results, &format!("{path}.new"), "new");
            let expected = "gro on, net.ipv4.tcp_congestion_control reno, net.ipv4.tcp_rmem \
                            4096\t65536\t65536, tso off";
            assert_eq!(new, expected, "{user}");
            let old = evidence(&results, &format!("{path}.old"), "old");
            assert!(old.contains("tso on") && !old.contains("reno"), "{user}: {old}");
        }
        let said = std::fs::read_to_string(&file).expect("what the commands wrote");
        let lines: Vec<&str> = said.lines().collect();
        let count = |word: &str| lines.iter().filter(|line| **line == word).count();
        assert!(count("old") > 0 && count("begin") > 0, "{user}: {said}");
        assert_eq!(count("begin"), count("end"), "{user}: {said}");
        let starts: Vec<&&str> = lines.iter().filter(|line| **line != "end").collect();
        assert!(starts.windows(2).all(|two| two[0] != two[1]), "{user}: {said}");
        // Whoever is given a folder does not run the commands in it.
        let resumed = bench.resume(&[]);
        assert_eq!(resumed.code, Some(2), "{user}: {}", resumed.story());
        assert!(resumed.stderr.contains("runs programs"), "{user}: {}", resumed.stderr);
    }
}

/// Nothing can be said of two rounds.
const FEW: &str = "
name: few
testbed: {lab: {nodes: [a, b]}}
rounds: 2
time: 60ms
warmup: 10ms
paths: {p: bridge@a -> bridge@b}
subjects: {old: , new: {mtu: 1400, bounds: {throughput: 50%}}}
workloads: {w: {stream: {}}}
";

#[test]
fn a_bound_that_nobody_could_judge_is_told_and_fails_where_it_is_asked_for() {
    let Some(_turn) = outside() else {
        return;
    };
    let bench = Bench::new(User::Caller, FEW);
    let done = bench.run(&[]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let told = "no cell could judge bound throughput>50% of new; give the run more time";
    assert!(!done.stderr.contains(told), "the answer says it: {}", done.story());
    let asked = format!("--fail-unjudged: {told}");
    for (more, code, said) in [
        (&["--no-report"][..], 0, told),
        (&["--no-report", "--fail-unjudged"], 1, &*asked),
        (&["--fail-unjudged"], 1, &*asked),
    ] {
        let again = bench.resume(more);
        assert_eq!(again.code, Some(code), "{more:?}: {}", again.story());
        assert!(again.stderr.contains(said), "{more:?}: {}", again.story());
    }
}

/// The proxies of `slow` spin for 300 us of CPU in each request. Those of `same` do nothing new.
const SPIN: &str = "
name: spin
testbed: {lab: {nodes: [a, b]}}
budget: 12s
seed: 4
paths: {p: bridge@a -> bridge@b mesh server}
mesh: {variants: {plain: }}
subjects: {old: , SUBJECT}
workloads: {w: {http: {connections: 1}}}
";

const SLOW: &str = "slow: {variant: slow, bounds: {p50_service: 10%}}";
const SAME: &str = "same: {bounds: {p50_service: 100%, throughput: 100%}}";

#[test]
fn a_filter_of_known_cost_is_found_and_breaks_its_bound() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let Some(envoy) = envoy::program() else {
        return;
    };
    let envoy = ["--envoy", &envoy.to_string_lossy()];
    let spin = "variants: {slow: {lua: 'function envoy_on_request(handle) local till = os.clock() \
                + 0.0003; while os.clock() < till do end end'}}";
    let slow = SPIN.replace("SUBJECT", SLOW).replace("variants: {plain: }", spin);
    // The variant of the paths themselves is plain.
    let slow = slow.replace("subjects: {old: ,", "subjects: {old: {variant: plain},");
    let bench = Bench::new(User::Caller, &slow);
    let done = bench.run(&envoy);
    assert_eq!(done.code, Some(1), "{}", done.story());
    let told = "bound p50_service>10% of slow is broken: p.slow";
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(told), "{}", done.story());
    let results = bench.results();
    let p50 = |path: &str| {
        let mut all: Vec<u64> = of(&results, path)
            .filter_map(|record| Some(record.latency.get("service_ns")?.p50))
            .collect();
        all.sort_unstable();
        all[all.len() / 2] as f64 / 1e3
    };
    let more = p50("p.slow") - p50("p.old");
    // A clock of CPU time that several threads share may run a little faster.
    assert!((200.0..=500.0).contains(&more), "{more} us more, expected about 300");

    let bench = Bench::new(User::Caller, &SPIN.replace("SUBJECT", SAME));
    let done = bench.run(&[&envoy[..], &["--fail-unjudged"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.story());
}
