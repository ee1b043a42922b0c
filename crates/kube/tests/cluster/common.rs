//! A cluster to test on, plans in few words, and what is left afterwards.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use hopbench_control::Channel;
use hopbench_kube::{Access, Cluster, labels};
use hopbench_model::{ClusterSpec, Fault, Path, Plan, PodNetwork, Point, ServerSpec, TestbedSpec};
use hopbench_testbed::{AgentId, Control, Testbed};
use hopbench_wire::{FromAgent, Hello, PROTOCOL, ToAgent};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::Api;
use kube::api::ListParams;

use crate::fixture;
pub(crate) use crate::fixture::path;

/// The turns on the cluster: tests have namespaces of their own, and most share a turn.
static TURNS: RwLock<()> = RwLock::new(());

/// The turn of a test.
enum Turn {
    Shared { _held: RwLockReadGuard<'static, ()> },
    Alone { _held: RwLockWriteGuard<'static, ()> },
}

/// The cluster, for one test.
pub(crate) struct Ground {
    kubeconfig: PathBuf,
    pub(crate) access: Access,
    _turn: Turn,
}

/// The cluster, beside other tests, or `None`, which is said.
pub(crate) fn ground(test: &str) -> Option<Ground> {
    ground_of(test, Turn::Shared { _held: TURNS.read().unwrap_or_else(PoisonError::into_inner) })
}

/// The same for a test that no run of another test may disturb.
pub(crate) fn ground_alone(test: &str) -> Option<Ground> {
    ground_of(test, Turn::Alone { _held: TURNS.write().unwrap_or_else(PoisonError::into_inner) })
}

fn ground_of(test: &str, turn: Turn) -> Option<Ground> {
    let Some(kubeconfig) =
        std::env::var_os("HOPBENCH_CLUSTER_KUBECONFIG").filter(|path| !path.is_empty())
    else {
        let required = std::env::var("HOPBENCH_REQUIRE_CLUSTER").is_ok_and(|said| said == "1");
        assert!(
            !required,
            "HOPBENCH_REQUIRE_CLUSTER=1, and HOPBENCH_CLUSTER_KUBECONFIG names no cluster"
        );
        println!("SKIP {test}: HOPBENCH_CLUSTER_KUBECONFIG names no cluster");
        return None;
    };
    let kubeconfig = PathBuf::from(kubeconfig);
    let access = Access::open_file(Some(&kubeconfig), None).unwrap();
    Some(Ground { kubeconfig, access, _turn: turn })
}

/// Says that `test` leaves something out, or fails where `variable` is 1; false.
fn lacks(test: &str, variable: &str, why: &str) -> bool {
    let required = std::env::var(variable).is_ok_and(|said| said == "1");
    assert!(!required, "{test}: {variable}=1, and {why}");
    // Not `println`: what that prints is kept back when the test passes, and a skip is to be seen.
    let _ = writeln!(std::io::stdout(), "\nSKIP {test}: {why}");
    false
}

impl Ground {
    /// Whether the cluster has the RuntimeClass `gvisor`. Where it has not, that is said for
    /// `test`, which goes on without or ends; with `HOPBENCH_REQUIRE_GVISOR=1` it fails.
    pub(crate) fn has_gvisor(&self, test: &str) -> bool {
        let classes: Api<RuntimeClass> = Api::all(self.access.client.clone());
        let found = self.access.ask("RuntimeClass", classes.get_opt("gvisor")).unwrap().is_some();
        found || lacks(test, "HOPBENCH_REQUIRE_GVISOR", "the cluster has no RuntimeClass gvisor")
    }

    /// The same of the image `hopbench.test/envoy:1`, and of `HOPBENCH_REQUIRE_ENVOY=1`.
    pub(crate) fn has_envoy(&self, test: &str) -> bool {
        let nodes: Api<Node> = Api::all(self.access.client.clone());
        let listed = self.access.ask("nodes", nodes.list(&ListParams::default())).unwrap();
        let images = listed.items.into_iter().filter_map(|node| node.status?.images).flatten();
        let found = images
            .filter_map(|image| image.names)
            .flatten()
            .any(|name| name == "hopbench.test/envoy:1");
        found
            || lacks(
                test,
                "HOPBENCH_REQUIRE_ENVOY",
                "the cluster has no image hopbench.test/envoy:1",
            )
    }

    pub(crate) fn access(&self) -> Access {
        Access::open_file(Some(&self.kubeconfig), None).unwrap()
    }

    pub(crate) fn cluster(&self, spec: &ClusterSpec) -> Cluster {
        Cluster::new(spec, None).by(self.access())
    }

    /// The pod of an agent, as the API server says it.
    pub(crate) fn pod(&self, cluster: &Cluster, agent: &str) -> Pod {
        let agent = AgentId(agent.to_owned());
        let pods: Api<Pod> =
            Api::namespaced(self.access.client.clone(), cluster.namespace().unwrap());
        self.access.ask("a pod", pods.get(cluster.pod(&agent).unwrap())).unwrap()
    }

    /// Waits until a namespace that was deleted is gone, 30 s at most: the next test may make it
    /// again.
    pub(crate) fn wait_for_the_end_of(&self, namespace: &str) {
        let namespaces: Api<Namespace> = Api::all(self.access.client.clone());
        let began = Instant::now();
        let is_gone = || {
            self.access
                .ask("namespace", namespaces.get_opt(namespace))
                .is_ok_and(|found| found.is_none())
        };
        while !is_gone() && began.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Asserts that nothing of a run is left anywhere.
    pub(crate) fn assert_gone(&self, namespace: &str) {
        let run = namespace.strip_prefix("hopbench-").unwrap();
        let ours = ListParams::default().labels(&labels::of_run(run));
        let namespaces: Api<Namespace> = Api::all(self.access.client.clone());
        let pods: Api<Pod> = Api::all(self.access.client.clone());
        let left = self.access.ask("namespaces", namespaces.list(&ours)).unwrap().items;
        assert!(left.is_empty(), "{left:?}");
        let left = self.access.ask("pods", pods.list(&ours)).unwrap().items;
        assert!(left.is_empty(), "{left:?}");
    }
}

/// The first of a plan's paths that has this name, with its first point.
pub(crate) fn cell<'a>(plan: &'a Plan, path: &str) -> (&'a Path, &'a Point) {
    (plan.paths.iter().find(|known| known.name == path).unwrap(), &plan.points[0])
}

/// The agents as servers.
pub(crate) fn point(workload: &str) -> Point {
    fixture::point(workload, ServerSpec::AGENT)
}

/// One request and answer on each path.
pub(crate) fn plan(spec: &ClusterSpec, paths: Vec<Path>) -> Plan {
    let testbed = TestbedSpec::Kubernetes(Box::new(spec.clone()));
    Plan { testbed, ..fixture::plan(paths, vec![point("rr")]) }
}

pub(crate) fn spec() -> ClusterSpec {
    let overlay = PodNetwork { runtime_class: Some("overlay".into()), ..PodNetwork::default() };
    let mut spec = fixture::spec();
    spec.image = std::env::var("HOPBENCH_CLUSTER_IMAGE")
        .unwrap_or_else(|_| hopbench_kube::image::default_tag());
    spec.networks = BTreeMap::from([("overlay".to_owned(), overlay)]);
    spec.mesh.image = "none".into();
    spec
}

/// What an agent says of itself in a control session.
pub(crate) fn hello(cluster: &mut Cluster, agent: &AgentId) -> Result<Hello, Fault> {
    let Control::Forwarded { stream, tls } = cluster.control(agent)? else {
        panic!("not forwarded")
    };
    let mut channel = Channel::open_forwarded(stream, tls).unwrap();
    let ours = Hello {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: "unknown".into(),
        boot_id: String::new(),
        machine: BTreeMap::new(),
    };
    let until = hopbench_sys::clock::now() + 10_000_000_000;
    let failed = |e: hopbench_control::ChannelError| Fault::measuring(format!("{agent}: {e}"));
    channel.send(&ToAgent::Hello(ours)).map_err(failed)?;
    match channel.receive_until(until).map_err(failed)? {
        Some(FromAgent::Hello(hello)) => Ok(hello),
        other => panic!("{agent}: {other:?}"),
    }
}

/// Waits until something is so, at most 30 s.
pub(crate) fn eventually(what: &str, is: impl FnMut() -> bool) {
    eventually_within(Duration::from_secs(30), what, is);
}

/// The same, with another limit.
pub(crate) fn eventually_within(limit: Duration, what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < limit, "{what}: not after {} s", limit.as_secs());
        std::thread::sleep(Duration::from_millis(100));
    }
}
