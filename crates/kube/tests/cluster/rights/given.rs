//! A whole run with a `Role` in one namespace that was there before, and no other rights.

use std::time::Duration;

use hopbench_kube::clean::{CleanupOutcome, CleanupScope, clean};
use hopbench_kube::manifests::{Account, manifests};
use hopbench_model::{GatewaySpec, Plan, TestbedSpec, Via, fixture};
use hopbench_testbed::Testbed;
use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, Node, Pod, Secret, Service, ServiceAccount,
};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;

use super::{Printed, read};
use crate::common::{cell, eventually, eventually_within, ground, hello, path, plan, point, spec};

const TEAM: &str = "hopbench-test-team";

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_role_in_one_namespace_is_enough_and_what_others_have_there_stays() {
    let Some(ground) = ground("given") else { return };
    let folder = tempfile::tempdir().unwrap();
    let admin = &ground.access.client;
    let new = PostParams::default();
    ground.wait_for_the_end_of(TEAM);
    let namespaces: Api<Namespace> = Api::all(admin.clone());
    let team: Namespace = serde_json::from_value(json!({"metadata": {"name": TEAM}})).unwrap();
    ground.access.ask("namespace", namespaces.create(&new, &team)).unwrap();
    let account = Account { namespace: TEAM.to_owned(), only_there: true, ..Account::default() };
    let yaml = manifests(&account);
    let parts: Vec<&str> = yaml.split("---\n").collect();
    // Dropping it removes the namespace, with all that is in it.
    let printed = Printed { ground: &ground, account };
    let accounts: Api<ServiceAccount> = Api::namespaced(admin.clone(), TEAM);
    ground.access.ask("account", accounts.create(&new, &read(parts[0]))).unwrap();
    let roles: Api<Role> = Api::namespaced(admin.clone(), TEAM);
    ground.access.ask("role", roles.create(&new, &read(parts[1]))).unwrap();
    let bindings: Api<RoleBinding> = Api::namespaced(admin.clone(), TEAM);
    ground.access.ask("binding", bindings.create(&new, &read(parts[2]))).unwrap();
    let configs: Api<ConfigMap> = Api::namespaced(admin.clone(), TEAM);
    let other: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "other"}})).unwrap();
    ground.access.ask("a ConfigMap", configs.create(&new, &other)).unwrap();

    let nodes: Api<Node> = Api::all(admin.clone());
    let listed = ground.access.ask("nodes", nodes.list(&ListParams::default())).unwrap();
    let open = |node: &&Node| node.spec.as_ref().is_none_or(|spec| spec.taints.is_none());
    let names: Vec<String> = listed.iter().filter(open).map(ResourceExt::name_any).collect();
    let mut spec = spec();
    spec.namespace = Some(TEAM.to_owned());
    spec.nodes.truncate(2);
    let wanted = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::ClusterIp)]);
    let mut blind = hopbench_kube::Cluster::new(&spec, None).by(printed.access(folder.path()));
    let why = &blind.missing(&wanted)[0].why;
    assert!(why.contains("may not list nodes"), "{why}");

    for (node, name) in spec.nodes.iter_mut().zip(&names) {
        node.node = Some(name.clone());
    }
    let wanted = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::ClusterIp)]);
    let access = printed.access(folder.path());
    let mut cluster = hopbench_kube::Cluster::new(&spec, None).by(access);
    eventually("the rights hold", || cluster.missing(&wanted).is_empty());
    for _ in 0..2 {
        // The second run begins as the objects of the first one go.
        cluster.up(&wanted).unwrap();
        assert_eq!(cluster.namespace(), Some(TEAM));
        let (path, point) = cell(&wanted, "p");
        let route = cluster.route(path, point).unwrap();
        hello(&mut cluster, &route.clients[0]).unwrap();
        let again = hopbench_kube::Cluster::new(&spec, None)
            .by(printed.access(folder.path()))
            .up(&wanted)
            .unwrap_err();
        assert!(again.text.contains("gave a sign"), "{again:?}");
        let scope = CleanupScope { namespace: Some(TEAM.to_owned()), ..CleanupScope::default() };
        let found = clean(&printed.access(folder.path()), &scope).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].outcome, CleanupOutcome::Alive);
        cluster.down();
    }
    let mut entered = spec.clone();
    entered.gateway = Some(GatewaySpec {
        class: Some("contour-provisioned".to_owned()),
        ..GatewaySpec::default()
    });
    let enters = path("in", "pod@a", "pod@b", Via::Gateway(String::new()));
    let testbed = TestbedSpec::Kubernetes(Box::new(entered.clone()));
    let through = Plan { testbed, ..fixture::plan(vec![enters], vec![point("http")]) };
    let mut cluster = hopbench_kube::Cluster::new(&entered, None).by(printed.access(folder.path()));
    assert!(cluster.missing(&through).is_empty());
    cluster.up(&through).unwrap();
    let (path, point) = cell(&through, "in");
    assert_eq!(cluster.route(path, point).unwrap().proxies.len(), 1);
    cluster.down();
    let pods: Api<Pod> = Api::namespaced(admin.clone(), TEAM);
    let of_gateway = ListParams::default().labels("gateway.networking.k8s.io/gateway-name");
    // First the garbage collector removes the Gateway, after all that other tests left to it.
    eventually_within(Duration::from_secs(120), "the Gateway's pods are gone", || {
        ground.access.ask("pods", pods.list(&of_gateway)).unwrap().items.is_empty()
    });
    let secrets: Api<Secret> = Api::namespaced(admin.clone(), TEAM);
    let services: Api<Service> = Api::namespaced(admin.clone(), TEAM);
    let ours = ListParams::default().labels(&hopbench_kube::labels::of_all());
    eventually("nothing of the run is left", || {
        let left = async {
            let pods = pods.list(&ours).await?.items.len();
            let secrets = secrets.list(&ours).await?.items.len();
            Ok(pods + secrets + services.list(&ours).await?.items.len())
        };
        ground.access.ask("what is left", left).unwrap() == 0
    });
    assert!(ground.access.ask("the owner", configs.get_opt("run")).unwrap().is_none());
    assert!(ground.access.ask("the other's", configs.get_opt("other")).unwrap().is_some());
    ground.access.ask("the end", namespaces.delete(TEAM, &DeleteParams::default())).unwrap();
}
