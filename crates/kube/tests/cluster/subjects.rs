//! Pods of subjects, and what is read back of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hopbench_model::{Path, Plan, PodSettings, ServerImage, Subject, TestbedSpec, Via};
use hopbench_testbed::{Seen, Testbed};

use crate::common::{ground, hello, path, spec};
use crate::fixture;

/// The usual image by its long name: another word for the same one.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_subject_has_pods_of_its_own_and_images_that_are_the_same_are_told() {
    let Some(ground) = ground("pods of subjects") else { return };
    let mut spec = spec();
    let nginx = ServerImage {
        image: "hopbench.test/nginx:1".into(),
        port: 8080,
        cpu_millis: None,
        args: Vec::new(),
        request: None,
    };
    spec.servers.insert("nginx".into(), nginx);
    let of = |subject: &str| Path {
        subject: Some(subject.to_owned()),
        ..path(&format!("p.{subject}"), "pod@a", "pod@b", Via::Direct)
    };
    // An image of a registry has one name only.
    let long = Some(format!("docker.io/library/{}", spec.image));
    let agent = long.filter(|_| !spec.image.contains('/'));
    let env = BTreeMap::from([("HOPBENCH_TEST".to_owned(), "yes".to_owned())]);
    let pod = PodSettings { agent: agent.clone(), env, ..PodSettings::default() };
    let old = Subject { name: "old".into(), ..Subject::default() };
    let plan = Plan {
        subjects: vec![old, Subject { name: "new".into(), pod, ..Subject::default() }],
        testbed: TestbedSpec::Kubernetes(Box::new(spec.clone())),
        ..fixture::plan(vec![of("old"), of("new")], vec![fixture::point("http", "nginx")])
    };
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let mut cluster =
        ground.cluster(&spec).telling(move |line| heard.lock().unwrap().push(line.to_owned()));
    cluster.up(&plan).unwrap();
    let mut evidence = Vec::new();
    for path in &plan.paths {
        let point = &plan.points[0];
        let route = cluster.route(path, point).unwrap();
        let mut machines = BTreeMap::new();
        for agent in route.agents() {
            let hello = hello(&mut cluster, agent).unwrap();
            machines.insert(agent.clone(), hello.machine);
        }
        let counters = cluster.counters(&route).unwrap();
        let seen =
            Seen { job: &point.job, clients: &[], servers: &[], machines: &machines, stood: false };
        let proofs = cluster.prove(&route, &counters, &counters, &seen);
        assert!(proofs.iter().all(|proof| proof.ok), "{proofs:?}");
        evidence.extend(proofs.into_iter().filter(|proof| proof.hop.starts_with("subject ")));
    }
    let env = |agent: &str| -> Vec<String> {
        let spec = ground.pod(&cluster, agent).spec.unwrap();
        let program = spec.containers.into_iter().find(|one| one.name == "program").unwrap();
        program.env.into_iter().flatten().map(|variable| variable.name).collect()
    };
    assert_eq!(env("pod@b:nginx"), [""; 0]);
    assert_eq!(env("pod@b~new:nginx"), ["HOPBENCH_TEST"]);
    let same = |line: &String| line.contains(" are the same image, ");
    assert_eq!(said.lock().unwrap().iter().any(same), agent.is_some());
    let [old, new] = &evidence[..] else { panic!("{evidence:?}") };
    assert!(old.evidence.ends_with("env HOPBENCH_TEST not set"), "{old:?}");
    assert!(new.evidence.ends_with("env HOPBENCH_TEST yes"), "{new:?}");
    if let Some(agent) = agent {
        assert!(old.evidence.starts_with(&format!("agent {} (", spec.image)), "{old:?}");
        assert!(new.evidence.starts_with(&format!("agent {agent} (")), "{new:?}");
        let digest = |text: &str| text.split(['(', ')']).nth(1).map(str::to_owned);
        assert_eq!(digest(&old.evidence), digest(&new.evidence));
    }
    cluster.down();
}
