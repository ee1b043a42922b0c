//! Tests of garbage collection: it removes dead runs, and nothing that lives or is not a run's.

use std::time::Duration;

use hopbench_kube::clean::{CleanupOutcome, CleanupScope, DEAD_AFTER, FoundRun, clean};
use hopbench_kube::labels;
use hopbench_model::Via;
use hopbench_testbed::Testbed;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::common::{Ground, eventually, ground, ground_alone, path, plan, spec};

/// What is left of a run that was killed: its namespace, with its last sign, which is an old one.
fn leave(ground: &Ground, name: &str, run: &str) {
    let client = &ground.access.client;
    let marks = json!({labels::MANAGED_BY.0: labels::MANAGED_BY.1, labels::RUN: run});
    let namespace = json!({"metadata": {"name": name, "labels": marks}});
    let namespace: Namespace = serde_json::from_value(namespace).unwrap();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    ground.access.ask("namespace", namespaces.create(&PostParams::default(), &namespace)).unwrap();
    let sign = json!({"hopbench.dev/renewed": "2026-01-01T00:00:00Z"});
    let owner = json!({"metadata": {"name": "run", "labels": marks, "annotations": sign}});
    let owner: ConfigMap = serde_json::from_value(owner).unwrap();
    let owners: Api<ConfigMap> = Api::namespaced(client.clone(), name);
    ground.access.ask("owner", owners.create(&PostParams::default(), &owner)).unwrap();
}

fn is_there(ground: &Ground, namespace: &str) -> bool {
    let namespaces: Api<Namespace> = Api::all(ground.access.client.clone());
    ground.access.ask("namespace", namespaces.get_opt(namespace)).unwrap().is_some()
}

fn outcome(swept: &[FoundRun], namespace: &str) -> Option<CleanupOutcome> {
    swept.iter().find(|swept| swept.namespace == namespace).map(|swept| swept.outcome.clone())
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_run_sweeps_what_dead_runs_left_and_nothing_else() {
    // Any run that began meanwhile would sweep the dead one.
    let Some(ground) = ground_alone("leftovers") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@a", Via::Direct)]);
    let mut living = ground.cluster(&spec);
    living.up(&plan).unwrap();
    let alive = living.namespace().unwrap().to_owned();
    leave(&ground, "hopbench-testdead01", "testdead01");
    // It has the labels of a run, and not its name: somebody copied them.
    leave(&ground, "test-labelled", "testdead02");
    // Nobody sweeps what gave a sign a moment ago, were it only that its namespace was made.
    let now =
        clean(&ground.access, &CleanupScope { dry_run: true, ..CleanupScope::default() }).unwrap();
    assert_eq!(outcome(&now, "hopbench-testdead01"), Some(CleanupOutcome::Alive), "{now:?}");
    assert_eq!(outcome(&now, "test-labelled"), None, "{now:?}");
    std::thread::sleep(DEAD_AFTER + Duration::from_secs(2));
    let now =
        clean(&ground.access, &CleanupScope { dry_run: true, ..CleanupScope::default() }).unwrap();
    assert_eq!(
        outcome(&now, "hopbench-testdead01"),
        Some(CleanupOutcome::WouldBeRemoved),
        "{now:?}"
    );
    assert_eq!(outcome(&now, &alive), Some(CleanupOutcome::Alive), "{now:?}");
    assert!(is_there(&ground, "hopbench-testdead01"), "a dry run removes nothing");
    let mut next = ground.cluster(&spec);
    next.up(&plan).unwrap();
    eventually("the dead run is swept", || !is_there(&ground, "hopbench-testdead01"));
    assert!(is_there(&ground, &alive), "a run that lives was swept");
    assert!(is_there(&ground, "test-labelled"), "a namespace of others was swept");
    next.down();
    living.down();
    ground.assert_gone(&alive);
    let namespaces: Api<Namespace> = Api::all(ground.access.client.clone());
    ground
        .access
        .ask("namespace", namespaces.delete("test-labelled", &DeleteParams::default()))
        .unwrap();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_run_that_is_named_is_removed_and_one_that_is_not_there_is_told() {
    let Some(ground) = ground("clean") else { return };
    leave(&ground, "hopbench-testdead03", "testdead03");
    let named = |dry_run| CleanupScope {
        run: Some("testdead03".to_owned()),
        dry_run,
        ..CleanupScope::default()
    };
    let would = clean(&ground.access, &named(true)).unwrap();
    assert_eq!(would.len(), 1);
    assert_eq!(would[0].outcome, CleanupOutcome::WouldBeRemoved);
    let whole = CleanupScope { run: Some("hopbench-testdead03".to_owned()), ..named(true) };
    assert_eq!(
        clean(&ground.access, &whole).unwrap()[0].outcome,
        CleanupOutcome::WouldBeRemoved,
        "by its namespace"
    );
    let removed = clean(&ground.access, &named(false)).unwrap();
    assert_eq!(removed[0].outcome, CleanupOutcome::Removed, "{removed:?}");
    assert!(!is_there(&ground, "hopbench-testdead03"));
    leave(&ground, "hopbench-testdead04", "testdead04");
    let gone = clean(&ground.access, &named(false)).unwrap_err();
    assert!(
        gone.text.contains("hopbench-testdead03") && gone.text.contains("testdead04"),
        "{gone}"
    );
    let other =
        CleanupScope { run: Some("hopbench-testdead04".to_owned()), ..CleanupScope::default() };
    assert_eq!(clean(&ground.access, &other).unwrap()[0].outcome, CleanupOutcome::Removed);
}
