//! Tests of patches: the fields that a scenario wants of its pods arrive there.

use std::collections::BTreeMap;

use hopbench_model::{PodNetwork, Via};
use hopbench_testbed::Testbed;
use serde_json::json;

use crate::common::{ground, path, plan, spec};

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn patches_annotations_and_labels_arrive_at_the_pods() {
    let Some(ground) = ground("patches") else { return };
    let mut spec = spec();
    spec.patch = Some(json!({
        "metadata": {"annotations": {"example.com/all": "yes"}},
        "spec": {
            "containers": [{
                "name": "agent",
                "env": [{"name": "MORE", "value": "1"}],
                "resources": {"requests": {"cpu": "20m"}, "limits": {"memory": "256Mi"}},
            }],
            "tolerations": [{"key": "example.com/node", "operator": "Exists"}],
        },
    }));
    let marked = PodNetwork {
        annotations: BTreeMap::from([("k8s.example/networks".into(), "macvlan".into())]),
        labels: BTreeMap::from([("k8s.example/kind".into(), "marked".into())]),
        patch: Some(json!({"spec": {"priority": null, "dnsPolicy": "Default"}})),
        ..PodNetwork::default()
    };
    spec.networks.insert("marked".into(), marked);
    let plan = plan(&spec, vec![path("p", "pod@a", "marked@a", Via::ClusterIp)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let pods = ["pod@a", "marked@a/p"]
        .map(|agent| serde_json::to_value(ground.pod(&cluster, agent)).unwrap());
    for pod in &pods {
        assert_eq!(pod["metadata"]["annotations"]["example.com/all"], "yes");
        let agent = &pod["spec"]["containers"][0];
        assert_eq!(agent["env"], json!([{"name": "MORE", "value": "1"}]));
        let resources =
            json!({"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"memory": "256Mi"}});
        assert_eq!(agent["resources"], resources);
        let tolerations = pod["spec"]["tolerations"].as_array().unwrap();
        assert!(
            tolerations.iter().any(|toleration| toleration["key"] == "example.com/node"),
            "{tolerations:?}"
        );
        // Under `restricted`, with nothing that its agent could do to the cluster.
        assert_eq!(agent["securityContext"]["capabilities"], json!({"drop": ["ALL"]}));
        assert_eq!(pod["spec"]["automountServiceAccountToken"], false);
        assert_eq!(pod["metadata"]["ownerReferences"][0]["kind"], "ConfigMap");
    }
    let [plain, marked] = &pods;
    assert_eq!(marked["metadata"]["annotations"]["k8s.example/networks"], "macvlan");
    assert_eq!(marked["metadata"]["labels"]["k8s.example/kind"], "marked");
    assert_eq!(
        (&marked["spec"]["dnsPolicy"], &plain["spec"]["dnsPolicy"]),
        (&json!("Default"), &json!("ClusterFirst"))
    );
    assert_eq!(plain["metadata"]["annotations"].get("k8s.example/networks"), None);
    cluster.down();
}
