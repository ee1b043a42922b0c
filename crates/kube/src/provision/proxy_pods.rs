//! Pods of others that carry the traffic of a path: those of a Gateway that a run made, and those
//! of a mesh on the nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hopbench_model::ParentGateway;
use hopbench_testbed::{MeteredKind, Proxy};
use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::ListParams;
use kube::{Client, ResourceExt};

use crate::api::client::Api;
use crate::objects::service::gateway::GATEWAY_NAME;
use crate::observe::meters::target::{Container, MeterTarget};
use crate::plan::nodes::NodeFacts;
use crate::provision::pod_diagnosis::{self, State};
use crate::provision::pod_status;

/// The name of a gateway among the proxies of a path.
pub(crate) const GATEWAY: &str = "gateway";

/// A pod of others that carries the traffic of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProxyPod {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The cluster's node that it is on.
    pub(crate) node: String,
    pub(crate) addresses: Vec<IpAddr>,
    /// The images of its containers.
    pub(crate) images: Vec<String>,
    pub(crate) is_ready: bool,
}

/// The proxy of a mesh on a node, for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeProxy {
    /// The pod that carries the traffic.
    pub(crate) pod: ProxyPod,
    /// The pod that counts it: the same one, or an agent beside it.
    pub(crate) counter: ProxyPod,
}

/// The pods of a Gateway whose address is `at`. They are those behind the Service that has this
/// address, else those with the Gateway's label. Both are looked for in the Gateway's namespace.
pub(crate) async fn behind(
    client: &Client,
    place: &ParentGateway,
    at: &str,
) -> kube::Result<Vec<ProxyPod>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &place.namespace);
    let named = endpoints(client, &place.namespace, host(at)).await?;
    let labelled = ListParams::default().labels(&format!("{GATEWAY_NAME}={}", place.name));
    let which = if named.is_empty() { labelled } else { ListParams::default() };
    let found = pods.list(which).await?.into_iter();
    let fits = |pod: &Pod| {
        let is_named = named.is_empty() || named.contains(&pod.name_any());
        is_named && is_there(pod)
    };
    Ok(found.filter(fits).map(|pod| of(&pod)).collect())
}

/// The pods that these labels choose in a namespace; without one, in all.
pub(crate) async fn labelled(
    client: &Client,
    namespace: Option<&str>,
    labels: &str,
) -> kube::Result<Vec<ProxyPod>> {
    let pods: Api<Pod> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let found = pods.list(ListParams::default().labels(labels)).await?;
    Ok(found.iter().filter(|pod| is_there(pod)).map(of).collect())
}

/// Whether a pod is on a node and stays there.
fn is_there(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && !pod_status::node(pod).is_empty()
}

fn of(pod: &Pod) -> ProxyPod {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    ProxyPod {
        namespace: pod.namespace().unwrap_or_default(),
        name: pod.name_any(),
        node: pod_status::node(pod).to_owned(),
        addresses: pod_status::addresses(pod),
        images: containers.map(|container| container.image.clone().unwrap_or_default()).collect(),
        is_ready: pod_diagnosis::state(pod) == State::Ready,
    }
}

/// The names of the pods behind the Services that have an address.
async fn endpoints(client: &Client, namespace: &str, at: &str) -> kube::Result<BTreeSet<String>> {
    let slices: Api<EndpointSlice> = Api::namespaced(client.clone(), namespace);
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for slice in slices.list(ListParams::default()).await? {
        let Some(name) = slice.labels().get("kubernetes.io/service-name").cloned() else {
            continue;
        };
        let has = match known.get(&name) {
            Some(has) => *has,
            None => services.get_opt(&name).await?.is_some_and(|service| has_address(&service, at)),
        };
        known.insert(name, has);
        let pods = slice.endpoints.iter().filter(|_| has).filter_map(|one| one.target_ref.as_ref());
        let pods = pods.filter(|target| target.kind.as_deref() == Some("Pod"));
        names.extend(pods.filter_map(|target| target.name.clone()));
    }
    Ok(names)
}

/// Whether a Service is reached at this address or name.
fn has_address(service: &Service, at: &str) -> bool {
    let spec = service.spec.as_ref();
    let own = spec.into_iter().flat_map(|spec| {
        spec.cluster_ips.iter().flatten().chain(spec.external_ips.iter().flatten())
    });
    let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let ingress = balancer.into_iter().flat_map(|balancer| balancer.ingress.iter().flatten());
    let mut all = own.chain(ingress.flat_map(|one| one.ip.iter().chain(&one.hostname)));
    // An address of IPv6 is written in several ways.
    let address = |text: &str| text.parse::<IpAddr>().ok();
    all.any(|one| one == at || address(one).is_some_and(|own| Some(own) == address(at)))
}

/// The host of `HOST:PORT`; an IPv6 address stands in brackets there.
fn host(at: &str) -> &str {
    let host = at.rsplit_once(':').map_or(at, |(host, _)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

/// The name of each among the proxies of its path: `gateway`, `gateway#2`.
pub(crate) fn named<'a>(
    role: &str,
    pods: impl IntoIterator<Item = &'a ProxyPod>,
) -> impl Iterator<Item = (String, &'a ProxyPod)> {
    let name = move |number: usize| match number {
        0 => role.to_owned(),
        number => format!("{role}#{}", number + 1),
    };
    pods.into_iter().enumerate().map(move |(number, pod)| (name(number), pod))
}

/// They as proxies of a path, by the names of [`named`]. `nodes` are the cluster's nodes by the
/// names of the scenario's. `on_path`: whether the path names them.
pub(crate) fn proxies<'a>(
    nodes: &BTreeMap<String, NodeFacts>,
    named: impl Iterator<Item = (String, &'a ProxyPod)>,
    on_path: bool,
) -> Vec<Proxy> {
    let proxy = |(name, pod): (String, &ProxyPod)| {
        let known = nodes.iter().find(|(_, node)| node.name == pod.node);
        Proxy {
            name,
            node: known.map_or_else(|| pod.node.clone(), |(name, _)| name.clone()),
            named: on_path,
            // No agent is beside it.
            pids: Vec::new(),
            beside: None,
            // It is its controller's business how many it has.
            workers: 0,
            cpus: None,
        }
    };
    named.map(proxy).collect()
}

/// The same for meters: whole pods, since nobody says which of its containers carries the traffic.
pub(crate) fn targets<'a>(named: impl Iterator<Item = (String, &'a ProxyPod)>) -> Vec<MeterTarget> {
    let target = |(who, pod): (String, &ProxyPod)| MeterTarget {
        who,
        what: MeteredKind::Proxy,
        node: pod.node.clone(),
        container: Some(Container {
            namespace: pod.namespace.clone(),
            pod: pod.name.clone(),
            name: String::new(),
        }),
    };
    named.map(target).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_is_known_by_all_its_addresses() {
        let service: Service = serde_json::from_value(json!({
            "spec": {"clusterIPs": ["10.96.0.7", "fd00::7"], "externalIPs": ["192.0.2.7"]},
            "status": {
                "loadBalancer": {"ingress": [{"ip": "203.0.113.7"}, {"hostname": "lb.example"}]},
            },
        }))
        .unwrap();
        for at in [
            "10.96.0.7:80",
            "[fd00::7]:80",
            "[FD00:0::7]:80",
            "192.0.2.7:80",
            "203.0.113.7:80",
            "lb.example:8080",
        ] {
            assert!(has_address(&service, host(at)), "{at}");
        }
        assert!(!has_address(&service, host("[fd00::8]:80")));
        assert!(!has_address(&service, host("10.96.0.70:80")));
        assert!(!has_address(&Service::default(), host("10.96.0.7:80")));
    }

    #[test]
    fn pods_of_a_gateway_are_told_apart_and_metered_whole() {
        let pod = |name: &str| ProxyPod {
            namespace: "r".into(),
            name: name.into(),
            node: "n1".into(),
            addresses: Vec::new(),
            images: Vec::new(),
            is_ready: true,
        };
        let targets = targets(named(GATEWAY, &[pod("envoy-a"), pod("envoy-b")]));
        let told: Vec<_> = targets
            .iter()
            .map(|target| (target.who.as_str(), target.container.as_ref().unwrap()))
            .map(|(who, container)| (who, container.pod.as_str(), container.name.as_str()))
            .collect();
        assert_eq!(told, [("gateway", "envoy-a", ""), ("gateway#2", "envoy-b", "")]);
    }
}
