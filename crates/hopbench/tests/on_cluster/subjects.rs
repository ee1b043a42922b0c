//! Subjects on a real cluster, through the binary: what they change is there, and is read back.

use std::collections::BTreeMap;

use hopbench_model::{Proof, Record};

use crate::ground::{ANY_THREE, assert_sound, ground};

/// The proof of a record's subject.
fn of_subject(record: &Record) -> &Proof {
    let found = record.proof.iter().find(|proof| proof.hop.starts_with("subject "));
    found.unwrap_or_else(|| panic!("{}: {:#?}", record.path, record.proof))
}

/// The evidence on the subject of each path, the same in all its records, which are sound.
fn evidence(records: &[Record]) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for record in records {
        assert_sound(record);
        let evidence = of_subject(record).evidence.as_str();
        let first = *found.entry(record.path.as_str()).or_insert(evidence);
        assert_eq!(first, evidence, "{}", record.path);
    }
    found
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn agents_of_another_image_are_in_pods_of_their_own() {
    let test = "subject-agent";
    let Some(ground) = ground(test) else { return };
    let Some(other) = ground.other_agent(test) else { return };
    let rest = format!(
        "rounds: 2\ntime: 300ms\nsubjects: {{old: , new: {{agent: \"{other}\"}}}}\n\
         paths: {{p: pod@a -> pod@b, h: host@a -> pod@b via cluster-ip}}\n\
         workloads: {{rr: {{rr: {{}}}}}}\n"
    );
    let records = ground.measured(test, ANY_THREE, &rest);
    assert_eq!(records.len(), 2 * 6, "each path with both, and once more with the first");
    let found = evidence(&records);
    let usual = format!("agent {} (", ground.image());
    let (old, new) = (found["p.old"], found["p.new"]);
    assert!(old.starts_with(&usual), "{old}");
    assert!(new.starts_with(&format!("agent {other} (")), "{new}");
    let digest = |text: &str| text.split_once(" (").map(|(_, digest)| digest.to_owned());
    assert_ne!(digest(old), digest(new));
    assert_eq!((found["h.old"], found["h.new"], found["p.old again"]), (old, new, old));
    for (path, pods) in [("p.old", ["pod@a:", "pod@b:"]), ("p.new", ["pod@a~new:", "pod@b~new:"])] {
        let record = records.iter().find(|record| record.path == path).unwrap();
        for (end, pod) in ["client", "server"].into_iter().zip(pods) {
            let mut of_end = record.proof.iter().filter(|proof| proof.hop == end);
            let has_pod = of_end.any(|proof| proof.evidence.starts_with(pod));
            assert!(has_pod, "{path}: {:#?}", record.proof);
        }
    }
}

const TWO_ENVOYS: &str = "rounds: 1\ntime: 300ms\npaths: {p: pod@a -> pod@b mesh server}\n\
                          subjects: {old: , new: {proxy: \"hopbench.test/envoy:2\"}}\n\
                          workloads: {http: {http: {connections: 2}}}\n";

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn proxies_have_the_image_of_their_subject() {
    let test = "subject-proxy";
    for (mesh, container) in [
        ("{provider: envoy, image: \"hopbench.test/envoy:1\"}", "envoy-sidecar"),
        ("{provider: istio}", "istio-proxy"),
    ] {
        let Some(ground) = ground(test) else { return };
        if !ground.has_envoy(test) {
            return;
        }
        let records = ground.measured(test, &format!("{ANY_THREE}, mesh: {mesh}"), TWO_ENVOYS);
        let found = evidence(&records);
        for (path, image) in [("p.old", "envoy:1"), ("p.new", "envoy:2")] {
            let expected = format!("{container} hopbench.test/{image} (");
            assert!(found[path].starts_with(&expected), "{path}: {}", found[path]);
        }
    }
}

/// As where a mesh does not know the annotation: a patch takes it away.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_mesh_that_keeps_its_image_proves_nothing_of_the_subject() {
    let test = "subject-ignored";
    let Some(ground) = ground(test) else { return };
    if !ground.has_envoy(test) {
        return;
    }
    let patch = "{metadata: {annotations: {sidecar.istio.io/proxyImage: ~}}}";
    let testbed = format!("{ANY_THREE}, mesh: {{provider: istio}}, patch: {patch}");
    let ended = ground.run(test, &testbed, TWO_ENVOYS).output().unwrap();
    let records = ground.records();
    let of = |path: &str| records.iter().find(|record| record.path == path);
    let (Some(old), Some(new)) = (of("p.old"), of("p.new")) else { panic!("{ended:?}") };
    assert_sound(old);
    let proof = of_subject(new);
    assert!(new.error.is_some() && !proof.ok, "{proof:?}");
    for words in ["istio-proxy of pod pod-b-new has hopbench.test/envoy:1 (", "proxyImage?"] {
        assert!(proof.evidence.contains(words), "{}", proof.evidence);
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn commands_run_here_in_turn_if_the_scenario_allows_them() {
    let test = "subject-commands";
    let Some(ground) = ground(test) else { return };
    let file = ground.file("commands");
    let file = file.display();
    let rest = format!(
        "rounds: 2\ntime: 100ms\npaths: {{p: pod@a -> pod@b}}\nworkloads: {{rr: {{rr: {{}}}}}}\n\
         subjects:\n  old:\n  new:\n    command:\n      \
         before: 'echo $HOPBENCH_SUBJECT $HOPBENCH_NAMESPACE $HOPBENCH_NODE_a >> {file}'\n      \
         after: 'echo end >> {file}'\n"
    );
    let refused = ground.run(test, ANY_THREE, &rest).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("allow-commands: true"), "{said}");
    let records = ground.measured(test, &format!("{ANY_THREE}, allow-commands: true"), &rest);
    assert_eq!(records.len(), 2 * 3);
    records.iter().for_each(assert_sound);
    let said = std::fs::read_to_string(ground.file("commands")).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let turns = lines.len() / 2;
    assert!(turns > 0 && lines.len() == 2 * turns, "{said}");
    for turn in lines.chunks(2) {
        let words: Vec<&str> = turn[0].split(' ').collect();
        let ["new", namespace, node] = words[..] else { panic!("{said}") };
        assert!(namespace.starts_with("hopbench-") && node.starts_with('n'), "{said}");
        assert_eq!(turn[1], "end", "{said}");
    }
}
