//! Tests of changes: they are told to the routes that they concern, and to no others.

use hopbench_kube::Cluster;
use hopbench_model::{GatewaySpec, Via};
use hopbench_testbed::{Route, Testbed};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::{Value, json};

use crate::common::{Ground, cell, eventually, ground, path, plan, spec};

/// What a restricted pod looks like that does nothing.
fn idle() -> Value {
    json!({
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": false,
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{
            "name": "idle",
            "image": "hopbench.test/busybox:1",
            "imagePullPolicy": "Never",
            "command": ["sleep", "600"],
            "ports": [{"name": "agent", "containerPort": 7474}],
            "securityContext": {
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
            },
        }],
    })
}

/// Waits for a sentence; all that were said until then.
fn wait_for(cluster: &mut Cluster, route: &Route, words: &[&str]) -> Vec<String> {
    let mut said = Vec::new();
    eventually(&format!("{words:?}"), || {
        said.extend(cluster.changes(route).unwrap());
        said.iter().any(|text| words.iter().all(|word| text.contains(word)))
    });
    said
}

fn create<K>(ground: &Ground, cluster: &Cluster, object: Value) -> Api<K>
where
    K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::Serialize
        + serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let object: K = serde_json::from_value(object).unwrap();
    ground.access.ask("create", api.create(&PostParams::default(), &object)).unwrap();
    api
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_pod_that_joins_a_service_and_one_that_leaves_are_told_to_their_route() {
    let Some(ground) = ground("changes") else { return };
    let spec = spec();
    let paths = vec![
        path("svc", "pod@a", "pod@b", Via::ClusterIp),
        path("other", "pod@a", "pod@c", Via::Direct),
    ];
    let plan = plan(&spec, paths);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (svc, point) = cell(&plan, "svc");
    let through = cluster.route(svc, point).unwrap();
    let (other, point) = cell(&plan, "other");
    let direct = cluster.route(other, point).unwrap();

    // A quiet time: what was before the first question is not told again.
    cluster.changes(&through).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(cluster.changes(&through).unwrap(), Vec::<String>::new());

    // Somebody scales what is behind the Service.
    let services: Api<Service> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let service = ground
        .access
        .ask("services", services.list(&ListParams::default()))
        .unwrap()
        .items
        .remove(0);
    let selector = service.spec.as_ref().unwrap().selector.clone().unwrap();
    let joined = json!({"metadata": {"name": "joined", "labels": selector}, "spec": idle()});
    let pods: Api<Pod> = create(&ground, &cluster, joined);
    let gained =
        format!("the Service {} gained joined: 2 instead of 1 endpoints", service.name_any());
    wait_for(&mut cluster, &through, &[&gained]);
    ground.access.ask("delete", pods.delete("joined", &DeleteParams::default())).unwrap();
    wait_for(&mut cluster, &through, &["lost joined", "1 instead of 2"]);

    // The server of one route goes: the other one does not care.
    let server = direct.servers[0].clone();
    let name = cluster.pod(&server).unwrap().to_owned();
    ground
        .access
        .ask("delete", pods.delete(&name, &DeleteParams::default().grace_period(1)))
        .unwrap();
    eventually("the pod is gone", || {
        ground.access.ask("get", pods.get_opt(&name)).unwrap().is_none()
    });
    // The end of the pod that joined may be told as late as now.
    let said = cluster.changes(&through).unwrap();
    assert!(said.iter().all(|text| text.contains("pod joined ")), "{said:?}");
    let (other, point) = cell(&plan, "other");
    let direct = cluster.route(other, point).unwrap();
    // A quiet time: what became of the first of this name must not be taken for the second.
    std::thread::sleep(std::time::Duration::from_secs(2));
    cluster.changes(&direct).unwrap();
    ground
        .access
        .ask("delete", pods.delete(&name, &DeleteParams::default().grace_period(1)))
        .unwrap();
    let said = wait_for(&mut cluster, &direct, &[&format!("pod {name}"), "was removed"]);
    assert!(said.iter().any(|text| text.contains("is being deleted")), "{said:?}");
    let namespace = cluster.namespace().unwrap().to_owned();
    cluster.down();
    ground.assert_gone(&namespace);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn what_scales_pods_in_the_namespace_is_told() {
    let Some(ground) = ground("scalers") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::Direct)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    cluster.changes(&route).unwrap();
    let labels = json!({"app": "web"});
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": idle()},
        },
    });
    let deployments: Api<Deployment> = create(&ground, &cluster, deployment);
    wait_for(&mut cluster, &route, &["the Deployment web was added with 1 replicas"]);
    let scaled = Patch::Merge(json!({"spec": {"replicas": 3}}));
    ground.access.ask("scale", deployments.patch("web", &PatchParams::default(), &scaled)).unwrap();
    wait_for(&mut cluster, &route, &["the Deployment web was scaled from 1 to 3 replicas"]);
    let scaler = json!({
        "metadata": {"name": "web"},
        "spec": {
            "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        },
    });
    let _: Api<HorizontalPodAutoscaler> = create(&ground, &cluster, scaler);
    wait_for(&mut cluster, &route, &["the autoscaler web was added; it scales Deployment web"]);
    cluster.down();
}

/// What stands behind an address that leads through a gateway of others; it goes with this.
struct Gateway<'a>(&'a Ground);

const GATEWAY: &str = "hopbench-test-gateway";

impl Drop for Gateway<'_> {
    fn drop(&mut self) {
        let namespaces: Api<Namespace> = Api::all(self.0.access.client.clone());
        let _ =
            self.0.access.ask("namespace", namespaces.delete(GATEWAY, &DeleteParams::background()));
        self.0.wait_for_the_end_of(GATEWAY);
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_gateway_of_others_that_is_scaled_is_told_to_those_who_enter_by_it() {
    let Some(ground) = ground("a gateway that is scaled") else { return };
    let client = ground.access.client.clone();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": GATEWAY}})).unwrap();
    ground.access.ask("namespace", namespaces.create(&PostParams::default(), &namespace)).unwrap();
    let _gateway = Gateway(&ground);
    let labels = json!({"app": "gateway"});
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "gateway"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": idle()},
        },
    }))
    .unwrap();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), GATEWAY);
    ground
        .access
        .ask("deployment", deployments.create(&PostParams::default(), &deployment))
        .unwrap();
    let ready = |replicas: i32| {
        eventually("the gateway is ready", || {
            let found = ground.access.ask("deployment", deployments.get("gateway")).unwrap();
            found.status.and_then(|status| status.ready_replicas) == Some(replicas)
        });
    };
    ready(1);
    let mut spec = spec();
    spec.gateway = Some(GatewaySpec {
        address: Some("10.199.0.11:80".into()),
        namespace: Some(GATEWAY.into()),
        labels: [("app".to_owned(), "gateway".to_owned())].into(),
        ..GatewaySpec::default()
    });
    let ways = [("in", Via::Gateway(String::new())), ("past", Via::Direct)];
    let plan = plan(&spec, ways.map(|(name, via)| path(name, "pod@a", "pod@b", via)).into());
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let mut route = |name| {
        let (path, point) = cell(&plan, name);
        cluster.route(path, point).unwrap()
    };
    let (through, past) = (route("in"), route("past"));
    // What an autoscaler does.
    let scale = |replicas: i32| {
        let scaled = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        ground
            .access
            .ask("scale", deployments.patch_scale("gateway", &PatchParams::default(), &scaled))
            .unwrap();
    };
    cluster.changes(&through).unwrap();
    scale(2);
    let said = wait_for(&mut cluster, &through, &["pod gateway-", "became ready"]);
    for words in ["the Deployment gateway was scaled from 1 to 2 replicas", "was added"] {
        assert!(said.iter().any(|text| text.contains(words)), "{words}: {said:?}");
    }
    // The same means nothing to who goes straight to the server. Both watch the same log: what one
    // asks for is gone.
    scale(1);
    ready(1);
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(cluster.changes(&past).unwrap(), Vec::<String>::new());
    cluster.down();
}
