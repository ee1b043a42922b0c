//! The same patches by a real API server: `HOPBENCH_CLUSTER_KUBECONFIG` names its kubeconfig.

use std::path::PathBuf;

use k8s_openapi::api::core::v1::{Namespace, PodTemplate};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::merge;
use crate::api::access::Access;
use crate::api::client::Api;

/// A namespace for these objects, without a run.
const NAMESPACE: &str = "patches-hopbench-test";

fn base() -> Value {
    json!({
        "metadata": {"labels": {"run": "x"}, "annotations": {"a/b": "c"}},
        "spec": {
            "containers": [
                {
                    "name": "agent",
                    "image": "hopbench",
                    "args": ["serve", "--port"],
                    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                    "ports": [
                        {"name": "agent", "containerPort": 7474, "protocol": "TCP"},
                        {"name": "agent-udp", "containerPort": 7475, "protocol": "UDP"},
                    ],
                    "resources": {"requests": {"cpu": "10m"}},
                    "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsUser": 1000},
                    "volumeMounts": [{"name": "token", "mountPath": "/token"}],
                },
                {"name": "program", "image": "nginx"},
            ],
            "volumes": [{"name": "token", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
            "tolerations": [{"operator": "Exists"}],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
            "imagePullSecrets": [{"name": "one"}],
        },
    })
}

fn patches() -> Vec<Value> {
    let spec = |spec: Value| json!({"spec": spec});
    let agent = |mut fields: Value| {
        fields["name"] = "agent".into();
        json!({"spec": {"containers": [fields]}})
    };
    vec![
        json!({}),
        json!({"metadata": {"labels": {"run": null, "team": "net"}, "annotations": {"x": "y"}}}),
        agent(json!({
            "image": "other", "args": ["x"],
            "env": [{"name": "C", "value": "3"}, {"name": "A", "value": "9"}],
        })),
        agent(json!({"env": [{"name": "A", "$patch": "delete"}]})),
        agent(json!({
            "resources": {"limits": {"cpu": "1"}},
            "securityContext": {"runAsUser": null, "privileged": true},
        })),
        agent(json!({"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}})),
        agent(json!({"securityContext": {"capabilities": {"drop": ["NET_RAW"]}}})),
        agent(json!({
            "volumeMounts": [
                {"name": "tmp", "mountPath": "/tmp"}, {"name": "tmp", "mountPath": "/token"},
            ],
        })),
        agent(json!({"ports": [{"containerPort": 7474, "name": "first"}, {"containerPort": 80}]})),
        agent(json!({"securityContext": {"runAsUser": 7, "$patch": "replace"}})),
        agent(json!({"resources": {"$patch": "delete"}})),
        spec(json!({
            "containers": [
                {"name": "agent", "image": "only"}, {"name": "program", "$patch": "replace"},
            ],
        })),
        spec(json!({
            "containers": [{"name": "new", "image": "busybox"}],
            "initContainers": [{"name": "i", "image": "i"}],
        })),
        spec(json!({"containers": [{"name": "program", "$patch": "delete"}]})),
        spec(json!({"tolerations": [{"key": "k", "operator": "Exists"}]})),
        spec(json!({
            "tolerations": null, "hostNetwork": true, "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["10.0.0.9"]},
        })),
        spec(json!({
            "hostAliases": [
                {"ip": "10.0.0.1", "hostnames": ["b"]}, {"ip": "10.0.0.2", "hostnames": ["c"]},
            ],
        })),
        spec(json!({"imagePullSecrets": [{"name": "two"}]})),
        spec(json!({
            "volumes": [
                {"$patch": "replace"}, {"name": "token", "emptyDir": {"medium": "Memory"}},
            ],
        })),
        spec(json!({"volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Mi"}}]})),
        spec(
            json!({"securityContext": {"sysctls": [{"name": "a.b", "value": "1"}], "fsGroup": 7}}),
        ),
        spec(json!({"topologySpreadConstraints": [
            {
                "topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"a": "b"}},
            },
        ]})),
    ]
}

fn access() -> Option<Access> {
    let Some(kubeconfig) =
        std::env::var_os("HOPBENCH_CLUSTER_KUBECONFIG").filter(|path| !path.is_empty())
    else {
        let required = std::env::var("HOPBENCH_REQUIRE_CLUSTER").is_ok_and(|said| said == "1");
        assert!(
            !required,
            "HOPBENCH_REQUIRE_CLUSTER=1, and HOPBENCH_CLUSTER_KUBECONFIG names no cluster"
        );
        println!("SKIP patches by a real API server: HOPBENCH_CLUSTER_KUBECONFIG names no cluster");
        return None;
    };
    Some(Access::open_file(Some(&PathBuf::from(kubeconfig)), None).unwrap())
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn an_api_server_merges_the_same() {
    let Some(access) = access() else { return };
    let namespaces: Api<Namespace> = Api::all(access.client.clone());
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": NAMESPACE}})).unwrap();
    access.ask("a namespace", namespaces.create(&PostParams::default(), &namespace)).unwrap();
    let templates: Api<PodTemplate> = Api::namespaced(access.client.clone(), NAMESPACE);
    let make = |name: String, template: &Value| {
        let object: PodTemplate =
            serde_json::from_value(json!({"metadata": {"name": name}, "template": template}))
                .unwrap();
        access.ask("a template", templates.create(&PostParams::default(), &object)).unwrap()
    };
    let compared: Vec<(Value, Value, Value)> = (0..)
        .zip(patches())
        .map(|(number, patch)| {
            let name = format!("theirs-{number}");
            make(name.clone(), &base());
            let theirs = Patch::Strategic(json!({"template": patch}));
            let theirs = access
                .ask("a patch", templates.patch(&name, &PatchParams::default(), &theirs))
                .unwrap();
            let mut merged = base();
            merge(&mut merged, &patch).unwrap();
            // Whatever the server adds by itself it adds to both.
            let ours = make(format!("ours-{number}"), &merged);
            let value = |object: PodTemplate| serde_json::to_value(object.template).unwrap();
            (patch, value(theirs), value(ours))
        })
        .collect();
    access.ask("delete", namespaces.delete(NAMESPACE, &DeleteParams::background())).unwrap();
    for (patch, theirs, ours) in compared {
        assert_eq!(ours, theirs, "{patch}");
    }
}
