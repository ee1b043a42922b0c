//! Tools of others beside a workload, in the pods of a real cluster, through the binary.

use hopbench_model::Record;

use crate::ground::{ANY_THREE, assert_sound, ground};

/// The image of the test cluster that has iperf3 and ping.
const PEERS: &str = "peers: {image: \"hopbench.test/peers:1\"}";

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn tools_measure_in_the_same_pods() {
    let Some(ground) = ground("tools of others") else { return };
    let rest = "rounds: 1\ntime: 1s\npaths:\n  direct: pod@a -> pod@b\n  host: host@a -> host@b\n  \
         service: {from: pod@a, to: pod@b, via: cluster-ip}\n  \
         port: {from: host@a, to: pod@b, via: node-port@c}\nworkloads:\n  \
         bulk: {stream: {}, peer: iperf3}\n  \
         echo: {ping: {every: 20ms}, peer: ping, paths: [direct, host]}\n";
    let records = ground.measured("peers", &format!("{ANY_THREE}, {PEERS}"), rest);
    assert_eq!(records.len(), 12);
    let (theirs, ours): (Vec<&Record>, Vec<&Record>) =
        records.iter().partition(|record| record.workload.ends_with(')'));
    ours.into_iter().for_each(assert_sound);
    assert_eq!(theirs.len(), 6);
    for record in theirs {
        let what = format!("{} {}", record.path, record.workload);
        for proof in &record.proof {
            println!("{what}: {}: {}", proof.hop, proof.evidence);
        }
        assert_eq!((&record.error, &record.incomplete), (&None, &None), "{what}");
        assert!(record.proof.iter().all(|proof| proof.ok), "{what}: {:#?}", record.proof);
        let setting = |key: &str| record.settings.get(key).map(String::as_str).unwrap_or_default();
        assert!(setting("measured by").contains(char::is_numeric), "{what}: {:?}", record.settings);
        let hops: Vec<&str> = record.proof.iter().map(|proof| proof.hop.as_str()).collect();
        let to = match record.path.as_str() {
            "direct" => "10.244.",
            "host" => "10.199.0.",
            "service" => "10.96.",
            _ => "10.199.0.13 -p 3",
        };
        let metric = |name: &str| record.metrics.get(name).copied().unwrap_or_default();
        if record.workload == "bulk (iperf3)" {
            assert!(setting("command").starts_with(&format!("iperf3 -c {to}")), "{what}");
            assert_eq!(setting("server command"), "iperf3 -s -1 -p 5201 -4", "{what}");
            assert!(metric("received_bits_per_s") > 1e6, "{what}: {:?}", record.metrics);
            let service = ["service", "port"].contains(&record.path.as_str());
            let expected: &[&str] = if service {
                &["client", "server", "service"]
            } else {
                &["client", "server", "address"]
            };
            assert_eq!(hops, expected, "{what}");
        } else {
            assert!(setting("command").contains(&format!(" {to}")), "{what}");
            assert_eq!(setting("server command"), "", "{what}");
            assert!(metric("received") > 40.0, "{what}: {:?}", record.metrics);
            assert_eq!(hops, ["client", "address"], "{what}");
        }
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_tool_that_its_image_does_not_have_costs_its_own_trials_only() {
    let Some(ground) = ground("a tool that is not there") else { return };
    let rest = "rounds: 1\ntime: 1s\npaths: {direct: pod@a -> pod@b}\n\
                workloads: {ask: {rr: {size: 64B}, peer: sockperf}}\n";
    let testbed = format!("{ANY_THREE}, {PEERS}");
    let ended = ground.run("no-peer", &testbed, rest).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let records = ground.records();
    let workloads: Vec<&str> = records.iter().map(|record| record.workload.as_str()).collect();
    assert_eq!(workloads, ["ask"], "{said}");
    records.iter().for_each(assert_sound);
    let failures = ground.run_file().failures;
    assert!(!failures.is_empty(), "{said}");
    for failure in &failures {
        assert_eq!(failure.workload, "ask (sockperf)", "{failure:?}");
        assert!(failure.reason.starts_with("sockperf: "), "{failure:?}");
    }
}
