//! The inventory of a cluster that the checks look at, asked for once.

use std::sync::Arc;

use futures::future::join;
use hopbench_model::{ClusterSpec, Fault};
use hopbench_testbed::{Metered, MeteredKind};
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::core::v1::{Namespace, Node, Service};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::jiff::Timestamp;
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{ListParams, PartialObjectMeta as Named, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};

use crate::api::access::{Access, explain};
use crate::api::client::Api;
use crate::api::rights::{self, Right};
use crate::cleanup::garbage_collect::{CleanupScope, FoundRun, clean};
use crate::cleanup::heartbeat;
use crate::objects::service::gateway::VERSION;
use crate::objects::typed::typed;
use crate::observe::meters;
use crate::observe::meters::target::MeterTarget;
use crate::plan::discovery;
use crate::plan::kube_proxy::KubeProxy;
use crate::plan::nodes::NodeFacts;

/// An answer, or the reason why there is none: a missing right, a server that is silent.
pub(crate) type Answered<T> = Result<T, String>;

/// The inventory of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Inventory {
    pub(crate) spec: ClusterSpec,
    pub(crate) version: String,
    pub(crate) nodes: Vec<NodeFacts>,
    /// Names of the images of each node, in the order of the nodes.
    pub(crate) images: Vec<Vec<String>>,
    pub(crate) runtime_classes: Answered<Vec<String>>,
    /// Namespace and name.
    pub(crate) daemon_sets: Answered<Vec<(String, String)>>,
    pub(crate) deployments: Answered<Vec<(String, String)>>,
    pub(crate) services: Answered<Vec<ServiceFound>>,
    pub(crate) definitions: Answered<Vec<String>>,
    /// GatewayClasses and Gateways, as they are.
    pub(crate) gateway_classes: Answered<Vec<Value>>,
    pub(crate) gateways: Answered<Vec<Value>>,
    /// Rights that are missing, with what is done.
    pub(crate) lacking: Answered<Vec<(&'static Right, &'static str)>>,
    /// The namespaces of runs.
    pub(crate) runs: Answered<Vec<FoundRun>>,
    /// Why a namespace without Pod Security is refused.
    pub(crate) privileged: Answered<()>,
    pub(crate) kube_proxy: KubeProxy,
    /// Readings of the first node, and why others are not there.
    pub(crate) readings: Vec<Metered>,
    pub(crate) notes: Vec<String>,
    pub(crate) now: Timestamp,
}

/// A Service, as far as it may be one to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServiceFound {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The label `app.kubernetes.io/name`.
    pub(crate) app: String,
    pub(crate) ports: Vec<i32>,
}

impl Inventory {
    /// Asks the API server, and by way of it a kubelet.
    pub(crate) fn of(access: &Access, spec: &ClusterSpec) -> Result<Self, Fault> {
        let client = &access.client;
        let version = access.ask("the cluster's version", client.apiserver_version())?.git_version;
        let given = spec.namespace.as_deref();
        let listed = discovery::nodes(access, spec)?;
        let nodes = discovery::facts(listed.as_deref(), spec, &[]);
        let listed = listed.unwrap_or_default();
        let first = nodes
            .iter()
            .find(|node| node.closed.is_none())
            .map(|node| node.name.clone())
            .unwrap_or_default();
        let names = |object: (Option<String>, String)| (object.0.unwrap_or_default(), object.1);
        let target = MeterTarget {
            who: first.clone(),
            what: MeteredKind::Node,
            node: first.clone(),
            container: None,
        };
        let asked = async {
            let readings =
                meters::read(client, spec.prometheus.as_ref(), &[target], &Arc::default()).await;
            let (kube_proxy, privileged) =
                join(KubeProxy::of(client, &first), privileged(client, given)).await;
            Ok((readings, kube_proxy, privileged))
        };
        let (readings, kube_proxy, privileged) = access.ask("the cluster", asked)?;
        let said = |fault: Fault| fault.text;
        let now = access.ask("the time", heartbeat::now(client))?;
        Ok(Self {
            spec: spec.clone(),
            version,
            images: listed.iter().map(images).collect(),
            nodes,
            runtime_classes: list::<RuntimeClass, _>(access, |class| class.name_any()),
            daemon_sets: list::<DaemonSet, _>(access, |set| {
                names((set.namespace(), set.name_any()))
            }),
            deployments: list::<Deployment, _>(access, |set| {
                names((set.namespace(), set.name_any()))
            }),
            services: list::<Service, _>(access, ServiceFound::of),
            definitions: list::<Named<CustomResourceDefinition>, _>(access, |definition| {
                definition.name_any()
            }),
            gateway_classes: others(access, None, "gatewayclasses"),
            gateways: others(access, given, "gateways"),
            lacking: rights::lacking(access, given, |_| true).map_err(said),
            runs: clean(
                access,
                &CleanupScope {
                    dry_run: true,
                    namespace: spec.namespace.clone(),
                    ..CleanupScope::default()
                },
            )
            .map_err(said),
            privileged,
            kube_proxy,
            readings: readings.metered,
            notes: readings.notes,
            now,
        })
    }

    /// Finds a Deployment or DaemonSet of one of these names. `None`: there is none, or the lists
    /// are not known.
    pub(crate) fn workload(&self, fits: impl Fn(&str) -> bool) -> Option<(String, String)> {
        let all = self.daemon_sets.iter().chain(&self.deployments).flatten();
        all.into_iter().find(|(_, name)| fits(name)).cloned()
    }

    /// Why not all workloads were seen.
    pub(crate) fn hidden(&self) -> Option<&String> {
        self.daemon_sets.as_ref().err().or_else(|| self.deployments.as_ref().err())
    }
}

impl ServiceFound {
    fn of(service: &Service) -> Self {
        let ports = service.spec.as_ref().and_then(|spec| spec.ports.as_ref());
        Self {
            namespace: service.namespace().unwrap_or_default(),
            name: service.name_any(),
            app: service.labels().get("app.kubernetes.io/name").cloned().unwrap_or_default(),
            ports: ports.into_iter().flatten().map(|port| port.port).collect(),
        }
    }
}

fn list<K, T>(access: &Access, read: impl Fn(&K) -> T) -> Answered<Vec<T>>
where
    K: kube::Resource<DynamicType = ()> + DeserializeOwned,
{
    let api: Api<K> = Api::all(access.client.clone());
    let listed = access.ask(K::plural(&()).as_ref(), api.list(ListParams::default()));
    listed.map(|all| all.iter().map(read).collect()).map_err(|fault| fault.text)
}

/// Objects of the Gateway API, in a namespace or in all.
fn others(access: &Access, namespace: Option<&str>, resource: &str) -> Answered<Vec<Value>> {
    let client = access.client.clone();
    let api = match namespace {
        Some(namespace) => Api::others(client, VERSION, namespace, resource),
        None => Api::everywhere(client, VERSION, resource),
    };
    access.ask(resource, api.list(ListParams::default())).map_err(|fault| fault.text)
}

fn images(node: &Node) -> Vec<String> {
    let images = node.status.as_ref().and_then(|status| status.images.as_ref());
    images.into_iter().flatten().flat_map(|image| image.names.iter().flatten()).cloned().collect()
}

/// Whether a namespace may have any pods, without making one.
async fn privileged(client: &Client, given: Option<&str>) -> Answered<()> {
    if let Some(name) = given {
        return Err(format!("runs make none, and namespace {name} has the level that it has"));
    }
    let namespace = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "hopbench-doctor",
            "labels": {"pod-security.kubernetes.io/enforce": "privileged"},
        },
    });
    let namespace: Namespace = typed(&namespace).map_err(|fault| fault.text)?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    namespaces.create(&dry, &namespace).await.map(drop).map_err(|e| explain(&e))
}

#[cfg(test)]
impl Inventory {
    /// A cluster of two nodes in which all is well.
    pub(crate) fn fine() -> Self {
        let node = |name: &str, zone: &str| NodeFacts {
            name: name.to_owned(),
            labels: [(crate::plan::nodes::ZONE.to_owned(), zone.to_owned())].into(),
            kernel: "6.18".to_owned(),
            cpus: "2".to_owned(),
            architecture: "amd64".to_owned(),
            kubelet: "v1.34.4".to_owned(),
            container_runtime: "containerd://1.7".to_owned(),
            ..NodeFacts::default()
        };
        let images = vec![format!("docker.io/library/{}", crate::image::default_tag())];
        Self {
            spec: crate::plan::fixture::spec(),
            version: "v1.34.4".to_owned(),
            nodes: vec![node("n1", "z1"), node("n2", "z2")],
            images: vec![images.clone(), images],
            runtime_classes: Ok(vec!["gvisor".to_owned()]),
            daemon_sets: Ok(Vec::new()),
            deployments: Ok(Vec::new()),
            services: Ok(Vec::new()),
            definitions: Ok(Vec::new()),
            gateway_classes: Ok(Vec::new()),
            gateways: Ok(Vec::new()),
            lacking: Ok(Vec::new()),
            runs: Ok(Vec::new()),
            privileged: Ok(()),
            kube_proxy: KubeProxy { said: Ok("iptables".to_owned()), config: None, cilium: None },
            readings: Vec::new(),
            notes: Vec::new(),
            now: Timestamp::UNIX_EPOCH,
        }
    }
}
