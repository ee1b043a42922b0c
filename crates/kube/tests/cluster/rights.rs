//! A whole run with the rights that `hopbench kube manifests` prints, and no others.

mod asked;
mod given;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex};

use hopbench_kube::doctor::{State, examine};
use hopbench_kube::manifests::{Account, manifests};
use hopbench_kube::{Access, Cluster, RIGHTS};
use hopbench_model::{
    GatewaySpec, MeshMode, ParentGateway, Path, Pattern, Plan, Point, PrometheusSpec, TestbedSpec,
    Transport, Variant, Via, WorkloadKind, fixture,
};
use hopbench_testbed::{Route, Testbed};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace, Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use kube::config::Kubeconfig;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::asked::{Asked, noting};
use crate::common::{Ground, cell, eventually, ground, hello, path, plan, point, spec};

/// An account with the rights that were printed; it goes with this.
struct Printed<'a> {
    ground: &'a Ground,
    account: Account,
}

impl<'a> Printed<'a> {
    /// Applies what was printed, as `kubectl` would.
    fn apply(ground: &'a Ground, account: Account) -> Self {
        let yaml = manifests(&account);
        let parts: Vec<&str> = yaml.split("---\n").collect();
        let printed = Self { ground, account };
        let client = &ground.access.client;
        let new = PostParams::default();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        ground.access.ask("namespace", namespaces.create(&new, &read(parts[0]))).unwrap();
        ground.access.ask("account", printed.accounts().create(&new, &read(parts[1]))).unwrap();
        let roles: Api<ClusterRole> = Api::all(client.clone());
        ground.access.ask("role", roles.create(&new, &read(parts[2]))).unwrap();
        let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
        ground.access.ask("binding", bindings.create(&new, &read(parts[3]))).unwrap();
        printed
    }

    fn accounts(&self) -> Api<ServiceAccount> {
        Api::namespaced(self.ground.access.client.clone(), &self.account.namespace)
    }

    /// The cluster as the account sees it, and what it is asked for.
    fn noted(&self, folder: &FilePath) -> (Access, Arc<Mutex<Asked>>) {
        let mut access = self.access(folder);
        let asked = Arc::new(Mutex::new(Asked::new()));
        let kubeconfig = Kubeconfig::read_from(folder.join("kubeconfig")).unwrap();
        access.client = access.runtime.block_on(noting(kubeconfig, Arc::clone(&asked)));
        (access, asked)
    }

    /// The cluster as the account sees it: the administrator's kubeconfig with another user.
    fn access(&self, folder: &FilePath) -> Access {
        let spec =
            TokenRequestSpec { expiration_seconds: Some(3600), ..TokenRequestSpec::default() };
        let request = TokenRequest { spec, ..TokenRequest::default() };
        let asked = async {
            self.accounts()
                .create_token_request(&self.account.name, &PostParams::default(), &request)
                .await
        };
        let token = self.ground.access.ask("token", asked).unwrap().status.unwrap().token;
        let admin = std::env::var_os("HOPBENCH_CLUSTER_KUBECONFIG").unwrap();
        let admin = Kubeconfig::read_from(admin).unwrap();
        let mut config = serde_json::to_value(admin).unwrap();
        for user in config["users"].as_array_mut().unwrap() {
            user["user"] = json!({"token": token});
        }
        let file = folder.join("kubeconfig");
        std::fs::write(&file, config.to_string()).unwrap();
        Access::open_file(Some(&file), None).unwrap()
    }
}

impl Drop for Printed<'_> {
    fn drop(&mut self) {
        let client = &self.ground.access.client;
        let (name, now) = (self.account.name.as_str(), DeleteParams::default());
        let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
        let _ = self.ground.access.ask("binding", bindings.delete(name, &now));
        let roles: Api<ClusterRole> = Api::all(client.clone());
        let _ = self.ground.access.ask("role", roles.delete(name, &now));
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let _ =
            self.ground.access.ask("namespace", namespaces.delete(&self.account.namespace, &now));
    }
}

fn read<K: DeserializeOwned>(yaml: &str) -> K {
    serde_saphyr::from_str(yaml).unwrap()
}

fn account(name: &str, least: bool) -> Account {
    Account { name: name.to_owned(), namespace: name.to_owned(), only_there: false, least }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_run_uses_the_rights_that_are_printed_and_no_more_are_printed() {
    let Some(ground) = ground("rights") else { return };
    // Sandboxes and proxies need rights of their own: without them, those would be printed for
    // nothing.
    if !ground.has_gvisor("rights") || !ground.has_envoy("rights") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let printed = Printed::apply(&ground, account("hopbench-test-rights", false));
    let mut spec = spec();
    spec.network_policy = true;
    let (namespace, name) = ("monitoring".to_owned(), "prometheus".to_owned());
    spec.prometheus = Some(PrometheusSpec::Service { namespace, name, port: 9090 });
    let sandboxed = path("sandboxed", "pod@a", "pod+runsc@b", Via::Direct);
    let mut proxied = path("proxied", "pod@a", "pod@b", Via::Direct);
    proxied.mesh = MeshMode::Both;
    proxied.variant = Some(Variant::plain());
    spec.mesh.image = "hopbench.test/envoy:1".into();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::ClusterIp), sandboxed, proxied]);
    let (access, asked) = printed.noted(folder.path());
    let mut cluster = Cluster::new(&spec, None).by(access);
    // A role takes a moment until it holds.
    eventually("the rights hold", || cluster.missing(&plan).is_empty());
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.clients[0]).unwrap();
    let (other, point) = cell(&plan, "sandboxed");
    let server = cluster.route(other, point).unwrap().servers[0].clone();
    hello(&mut cluster, &server).unwrap();
    cluster.counters(&route).unwrap();
    cluster.changes(&route).unwrap();
    eventually("all meters see the server", || {
        let metered = cluster.meters(&route).unwrap();
        let seen: Vec<&str> = metered
            .iter()
            .filter(|read| read.who == route.servers[0].0)
            .map(|read| read.source)
            .collect();
        seen == ["cadvisor", "kubelet", "prometheus"]
    });
    // A pod that is gone is made again.
    let pods: Api<Pod> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let name = cluster.pod(&route.servers[0]).unwrap().to_owned();
    // Agents do not heed SIGTERM: it is there long enough for its last words to be asked for.
    ground
        .access
        .ask("pod", pods.delete(&name, &DeleteParams::default().grace_period(20)))
        .unwrap();
    let leaving = ground.access.ask("pod", pods.get_opt(&name)).unwrap().unwrap();
    assert!(leaving.metadata.deletion_timestamp.is_some());
    cluster.route(path, point).unwrap();
    let namespace = cluster.namespace().unwrap().to_owned();
    cluster.down();
    ground.assert_gone(&namespace);
    let (access, routed) = printed.noted(folder.path());
    enter(&ground, access);
    let (access, examined) = printed.noted(folder.path());
    let lines = examine(&access, &spec);
    let rights = lines.iter().find(|(name, ..)| *name == "rights").unwrap();
    assert_eq!(rights.2.state, State::Works, "{rights:?}");

    let used: Asked = &*asked.lock().unwrap() | &*examined.lock().unwrap();
    let used: Asked = &used | &*routed.lock().unwrap();
    let each = |right: &'static hopbench_kube::Right| {
        right
            .verbs
            .iter()
            .map(|verb| (right.group.to_owned(), right.resource.to_owned(), (*verb).to_owned()))
    };
    let printed: Asked = RIGHTS.iter().flat_map(each).collect();
    let beyond: Vec<_> = used.difference(&printed).collect();
    assert!(beyond.is_empty(), "used, and not printed: {beyond:?}");
    let idle: Vec<String> =
        printed.difference(&used).map(|(_, what, verb)| format!("{verb} {what}")).collect();
    // Which of the two ways into a pod is taken is the API server's version's business. The others
    // are for what goes wrong: events are told then, a pod that has failed is removed, a load
    // balancer's address is waited for.
    let known = [
        "create ciliumnetworkpolicies",
        "create pods/exec",
        "create pods/portforward",
        "delete pods",
        "get pods",
        "get services",
        "list events",
    ];
    assert!(
        idle.iter().all(|right| known.contains(&right.as_str())),
        "printed, and not used: {idle:?}"
    );
}

/// A point for each kind of route: HTTPRoute, GRPCRoute, TLSRoute, TCPRoute.
fn one_of_each_kind() -> Vec<Point> {
    let of = |workload: &str, kind: Option<WorkloadKind>, params: Value| {
        let mut point = point(workload);
        (point.job.kind, point.job.params) = (kind, params.into());
        point
    };
    let calls = WorkloadKind {
        transport: Transport::Http,
        pattern: Pattern::Exchanges,
        ..WorkloadKind::PLAIN
    };
    vec![
        point("http"),
        of("grpc", Some(calls), json!({"http2": true})),
        of("http", None, json!({"tls": true})),
        point("rr"),
    ]
}

/// Attaches routes to the Gateway of the test cluster and to one of a class, makes an Ingress, and
/// removes them.
fn enter(ground: &Ground, access: Access) {
    let mut spec = spec();
    let parent = ParentGateway { namespace: "projectcontour".into(), name: "contour".into() };
    let given = GatewaySpec { parent: Some(parent), ..GatewaySpec::default() };
    let class = Some("contour-provisioned".to_owned());
    let ingress = Some("web".to_owned());
    spec.gateways = BTreeMap::from([
        ("made".to_owned(), GatewaySpec { class, ..GatewaySpec::default() }),
        ("ruled".to_owned(), GatewaySpec { ingress, ..GatewaySpec::default() }),
    ]);
    spec.gateway = Some(given);
    let enters = |name: &str| path(name, "pod@a", "pod@b", Via::Gateway(String::new()));
    let named = |name: &str| Path { gateway_name: Some(name.to_owned()), ..enters(name) };
    let paths = vec![enters("in"), named("made"), named("ruled")];
    let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
    let mut plan = Plan { testbed, ..fixture::plan(paths, one_of_each_kind()) };
    // The only listener for bytes of the Gateway that is there is left to another test.
    plan.cells.retain(|cell| cell.point < [3, 4, 1][cell.path]);
    let mut cluster = Cluster::new(&spec, None).by(access);
    let missing = cluster.missing(&plan);
    assert!(missing.is_empty(), "{missing:?}");
    cluster.up(&plan).unwrap();
    let mut targets = BTreeSet::new();
    for cell in &plan.cells {
        let (path, point) = plan.at(*cell);
        assert_eq!(cluster.unsupported(path, point), None, "{} {}", path.name, point.workload);
        // Its route was accepted.
        let route = cluster.route(path, point).unwrap();
        targets.insert((path.name.clone(), route.target.port(), route.host.is_some()));
    }
    let at = |path: &str, port, has_host| (path.to_owned(), port, has_host);
    let wanted = [
        at("in", 80, true),
        at("in", 443, true),
        at("made", 80, true),
        at("made", 443, true),
        at("made", 9000, false),
        at("ruled", 80, true),
    ];
    assert_eq!(targets, wanted.into());
    let routes = ["in", "made", "ruled"].map(|name| {
        let (path, point) = cell(&plan, name);
        cluster.route(path, point).unwrap()
    });
    assert_ne!(routes[0].target, routes[1].target);
    assert_ne!(routes[0].host, routes[1].host);
    let proxies = |route: &Route| -> Vec<String> {
        route.proxies.iter().map(|proxy| proxy.name.clone()).collect()
    };
    assert_eq!(routes.each_ref().map(proxies), [vec![], vec!["gateway".to_owned()], vec![]]);
    let namespace = cluster.namespace().unwrap().to_owned();
    cluster.down();
    ground.assert_gone(&namespace);
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn with_the_least_rights_a_run_sees_less_and_with_fewer_it_does_not_begin() {
    let Some(ground) = ground("least rights") else { return };
    let folder = tempfile::tempdir().unwrap();
    let printed = Printed::apply(&ground, account("hopbench-test-least", true));
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::ClusterIp)]);
    let log = tempfile::tempfile().unwrap();
    let mut cluster =
        Cluster::new(&spec, Some(log.try_clone().unwrap())).by(printed.access(folder.path()));
    eventually("the rights hold", || cluster.missing(&plan).is_empty());
    // What only some paths need stops only these.
    let mut proxied = path("proxied", "pod@a", "pod@b", Via::Direct);
    proxied.mesh = MeshMode::Both;
    proxied.variant = Some(Variant::plain());
    let (mut more, mut wanted) = (vec![plan.paths[0].clone(), proxied], vec!["proxied"]);
    if ground.has_gvisor("least rights") {
        more.push(path("sandboxed", "pod@a", "pod+runsc@b", Via::Direct));
        wanted.push("sandboxed");
    }
    let more = self::plan(&spec, more);
    let needs: Vec<_> =
        cluster.missing(&more).into_iter().map(|need| (need.path, need.what)).collect();
    let right = |path: &str| (Some(path.to_owned()), "a right".to_owned());
    assert_eq!(needs, wanted.into_iter().map(right).collect::<Vec<_>>());
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    hello(&mut cluster, &route.servers[0]).unwrap();
    cluster.changes(&route).unwrap();
    assert!(cluster.meters(&route).unwrap().is_empty());
    let namespace = cluster.namespace().unwrap().to_owned();
    cluster.down();
    ground.assert_gone(&namespace);
    let mut told = String::new();
    let mut log = log;
    std::io::Seek::rewind(&mut log).unwrap();
    std::io::Read::read_to_string(&mut log, &mut told).unwrap();
    assert!(told.contains("changes of the horizontalpodautoscalers of namespace"), "{told}");
    assert!(told.contains("the kubelet of node"), "{told}");
    let lines = examine(&printed.access(folder.path()), &spec);
    let rights = lines.iter().find(|(name, ..)| *name == "rights").unwrap();
    assert_eq!(rights.2.state, State::Limited, "{rights:?}");

    // Without its role the account may do nothing, and that is said before anything is made.
    let access = printed.access(folder.path());
    let roles: Api<ClusterRole> = Api::all(ground.access.client.clone());
    let role = ground.access.ask("role", roles.get("hopbench-test-least")).unwrap();
    let mut lesser = role.clone();
    let rules = lesser.rules.as_mut().unwrap();
    rules.retain(|rule| rule.resources.as_deref() != Some(&["secrets".to_owned()]));
    ground
        .access
        .ask("role", roles.replace("hopbench-test-least", &PostParams::default(), &lesser))
        .unwrap();
    let mut cluster = Cluster::new(&spec, None).by(access);
    let mut needs = Vec::new();
    eventually("the right is gone", || {
        needs = cluster.missing(&plan);
        !needs.is_empty()
    });
    assert_eq!((needs.len(), needs[0].what.as_str()), (1, "a right"), "{needs:?}");
    assert_eq!(needs[0].path, None, "{needs:?}");
    assert!(
        needs[0].why.ends_with("may not create secrets") && needs[0].remedy.contains("manifests"),
        "{needs:?}"
    );
    assert_eq!(cluster.namespace(), None);
}
