//! Runs on a real cluster in which something breaks: what it costs, what is told, and that nothing
//! is left.
#![allow(clippy::disallowed_methods, reason = "all of this file is test")]

mod running;

use std::process::Command;
use std::time::{Duration, Instant};

use kube::api::{DeleteParams, EvictParams};

use running::start;

/// A second of a trial in which its traffic is on.
const MIDWAY: Duration = Duration::from_millis(1300);

/// A script of the test cluster.
fn script(name: &str) -> Command {
    Command::new(format!("{}/../../tests/cluster/{name}", env!("CARGO_MANIFEST_DIR")))
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn an_api_server_that_restarts_costs_the_trial_under_way() {
    let rest = "rounds: 4\ntime: 2s\npaths:\n  near: pod@a -> pod@b\n  \
                far: pod@a -> pod@c via cluster-ip\n\
                workloads: {rr: {rr: {}}}\n";
    let Some(run) = start("restarted", "", rest) else { return };
    run.until_trial("near", 2);
    std::thread::sleep(MIDWAY);
    let ended = script("restart-apiserver.sh").output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let (run, over) = run.over();
    let failed = [over.failures("near"), over.failures("far")].concat();
    println!("{failed:#?}\n{}", over.log);
    // The one that was on, and one more if the API server takes long to be there again.
    assert!(failed.len() <= 2, "{failed:?}");
    let good = over.good("near").len() + over.good("far").len();
    assert!(good >= 8 - failed.len(), "{good} good, {failed:?}");
    for record in
        over.good("near").iter().chain(&over.good("far")).filter(|record| record.round == 4)
    {
        // Whoever watches the cluster is back, too.
        assert_eq!(record.settings.get("changes"), None, "{}", record.path);
        assert!(record.proof.iter().all(|proof| proof.ok), "{:#?}", record.proof);
    }
    assert_eq!(over.code, Some(if failed.is_empty() { 0 } else { 4 }), "{}", over.said);
    run.heal();
}

/// The cable of a node; it is put back, however the test ends.
struct Cable(&'static str);

impl Cable {
    fn set(&self, how: &str) {
        let ended = Command::new("ip")
            .args(["-n", "hbc-fabric", "link", "set", self.0, how])
            .status()
            .unwrap();
        assert!(ended.success(), "{} {how}", self.0);
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.set("up");
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_node_that_is_lost_costs_its_own_cells() {
    let rest = "rounds: 3\ntime: 2s\npaths:\n  near: pod@a -> pod@b\n  lost: pod@a -> pod@c\n\
                workloads: {rr: {rr: {}}, stream: {stream: {}}}\n";
    let Some(run) = start("lost", "", rest) else { return };
    run.until_trial("lost", 2);
    std::thread::sleep(MIDWAY);
    let cable = Cable("n3");
    cable.set("down");
    let began = Instant::now();
    let (run, over) = run.over();
    let took = began.elapsed();
    drop(cable);
    let failed = over.failures("lost");
    println!("{took:?}: {failed:#?}\n{}", over.log);
    assert!((3..=4).contains(&failed.len()), "the rest of round 2, and round 3: {failed:?}");
    // As soon as the cluster knows it, its words are the reason.
    let told =
        |text: &String| text.contains("node n3 is not ready: Kubelet stopped posting node status");
    assert!(told(failed.last().unwrap()), "{failed:?}");
    assert_eq!((over.good("near").len(), over.failures("near")), (6, Vec::new()));
    assert_eq!(over.code, Some(4), "{}", over.said);
    assert!(took < Duration::from_secs(90), "{took:?}");
    run.heal();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn pods_that_are_evicted_or_deleted_cost_their_own_trial() {
    let rest = "rounds: 4\ntime: 2s\npaths:\n  evicted:\n    \
                {from: pod@a, to: pod@b, via: cluster-ip, backends: 2}\n  \
                deleted: pod@a -> pod@c\nworkloads: {rr: {rr: {}}}\n";
    let Some(run) = start("evicted", "", rest) else { return };
    run.until_trial("evicted", 2);
    std::thread::sleep(MIDWAY);
    let pods = run.pods();
    run.access.ask("eviction", pods.evict("pod-b-evicted-2", &EvictParams::default())).unwrap();
    run.until_trial("deleted", 3);
    std::thread::sleep(MIDWAY);
    run.access.ask("deletion", pods.delete("pod-c", &DeleteParams::default())).unwrap();
    let (run, over) = run.over();
    println!("{}", over.log);
    for (path, round, pod, words) in [
        ("evicted", 2, "pod-b-evicted-2", "lost pod-b-evicted-2"),
        ("deleted", 3, "pod-c", "pod-c of node n3 is being deleted"),
    ] {
        let failed = over.failures(path);
        let again: Vec<(u32, &String)> = over
            .good(path)
            .iter()
            .filter_map(|one| Some((one.round, one.settings.get("measured_again")?)))
            .collect();
        // It was measured again with another pod, and not for nothing; the other trials had nothing
        // to do with it.
        assert_eq!((failed, again.len()), (Vec::new(), 1), "{path}: {again:?}");
        assert!(again[0].0 == round && again[0].1.contains(words), "{path}: {again:?}");
        assert_eq!(over.good(path).len(), 4, "{path}");
        assert!(
            over.good(path).iter().all(|record| record.proof.iter().all(|proof| proof.ok)),
            "{path}"
        );
        let gone = [
            format!("container agent of pod {pod} is being deleted"),
            format!("pod {pod} is gone"),
        ];
        assert!(gone.iter().any(|words| over.log.contains(words)), "{pod}: {}", over.log);
    }
    assert_eq!(over.code, Some(0), "{}", over.said);
    run.heal();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn an_agent_that_crashes_leaves_its_last_words() {
    let rest = "rounds: 2\ntime: 3s\npaths: {p: pod@a -> pod@b}\nworkloads: {rr: {rr: {}}}\n";
    let Some(run) = start("crashed", "", rest) else { return };
    run.until_trial("p", 1);
    std::thread::sleep(MIDWAY);
    // As the kernel does with one that takes too much memory.
    let find = "pgrep -f '[h]opbench serve --both-ends' | head -n 1 | xargs kill -KILL";
    let ended = script("on.sh").args(["n2", "sh", "-c", find]).output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let (run, over) = run.over();
    println!("{:#?}\n{}{}", over.events, over.said, over.log);
    let told = over
        .log
        .lines()
        .find(|line| line.contains("container agent of pod pod-b ended with code 137"));
    assert!(told.is_some_and(|line| !line.contains("cannot be read")), "{}", over.log);
    // Its session may end before anybody knows why: then the trial has failed. Else it is measured
    // again. The next trial finds the agent started again.
    let (good, failed) = (over.good("p"), over.failures("p"));
    match (good.as_slice(), failed.len()) {
        ([second], 1) => assert_eq!(second.round, 2),
        ([first, second], 0) => {
            let why = first
                .settings
                .get("measured_again")
                .or_else(|| second.settings.get("measured_again"));
            assert!(why.is_some_and(|why| why.contains("pod-b")), "{good:?}");
        }
        _ => panic!("{good:?} {failed:?}"),
    }
    run.heal();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn who_stops_a_run_whose_pods_wait_need_not_wait() {
    // One has no room anywhere, the other runs and never counts as ready: the run would wait for a
    // minute.
    let huge =
        "{patch: {spec: {containers: [{name: agent, resources: {requests: {cpu: \"1000\"}}}]}}}";
    let never = "{patch: {spec: {readinessGates: [{conditionType: hopbench.test/never}]}}}";
    let more = format!(", networks: {{huge: {huge}, never: {never}}}");
    let rest = "rounds: 1\ntime: 1s\npaths: {huge: pod@a -> huge@b, never: pod@a -> never@c}\n\
                workloads: {rr: {rr: {}}}\n";
    let Some(run) = start("stopped", &more, rest) else { return };
    let pods = run.pods();
    let began = Instant::now();
    loop {
        let found =
            run.access.ask("pods", pods.list(&kube::api::ListParams::default())).unwrap().items;
        if found.len() >= 3 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{} pods", found.len());
        std::thread::sleep(Duration::from_millis(100));
    }
    let began = Instant::now();
    run.interrupt();
    let (run, over) = run.over();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!((over.code, over.records.len()), (Some(4), 0), "{}", over.said);
    assert!(over.said.contains("interrupted while waiting for the pods"), "{}", over.said);
    run.heal();
}
