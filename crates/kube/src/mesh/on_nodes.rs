//! Meshes with their proxies on the nodes: how a pod gets into one, which proxies a path meets, and
//! what those count.
//!
//! Such a proxy carries the traffic of all pods of its node. Its CPU and memory are those of all of
//! it. What it counts belongs to a path as far as it names the pods.

pub(crate) mod cilium;
mod node_mesh;
mod ztunnel;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::{join_all, try_join, try_join_all};
use hopbench_model::{ClusterSpec, Fault, MeshProvider, NODE_PROXY, Via};
use hopbench_testbed::placement::{Endpoints, Placement, PodId};
use hopbench_testbed::{AgentId, Counters, Proxy, Route, of_proxy};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use self::node_mesh::{NodeMesh, PathPods};
use super::admin::{self, Door};
use crate::api::access::Access;
use crate::api::client::Api;
use crate::api::forward::AgentRoute;
use crate::api::labels::{VARIANT, label};
use crate::objects::sidecar::Sidecar;
use crate::observe::meters::target::MeterTarget;
use crate::provision::built::Built;
use crate::provision::proxy_pods::{self, NodeProxy, ProxyPod, named};

fn of(provider: MeshProvider) -> Option<&'static NodeMesh> {
    match provider {
        MeshProvider::IstioAmbient => Some(&ztunnel::MESH),
        MeshProvider::Cilium => Some(&cilium::MESH),
        MeshProvider::Envoy | MeshProvider::Istio | MeshProvider::Linkerd => None,
    }
}

/// Why evidence shows only a part of the way of a path; `None`: it shows all of it.
pub(crate) fn partly(provider: MeshProvider, ends: &Endpoints, bypassed: bool) -> Option<String> {
    let is_partly = provider == MeshProvider::Cilium && !ends.path.mesh.is_none() && !bypassed;
    is_partly.then(|| cilium::PARTLY.to_owned())
}

/// The labels and annotations of a plan's pods. A namespace may put its pods into the mesh, so that
/// those outside say it, too.
pub(super) fn sidecars(provider: MeshProvider, placement: &Placement) -> BTreeMap<PodId, Sidecar> {
    let of_pod = |pod: &PodId| {
        let mut parts = Sidecar { is_on_node: true, ..Sidecar::default() };
        parts.labels = match provider {
            MeshProvider::Cilium => cilium::labels(placement, pod),
            _ => ztunnel::labels(placement.sidecars.contains_key(pod)),
        };
        if let Some(variant) = placement.sidecars.get(pod) {
            parts.labels.insert(VARIANT.to_owned(), label(&variant.name));
            parts.annotations.extend(variant.annotations.clone());
        }
        (pod.clone(), parts)
    };
    placement.pods.iter().map(of_pod).collect()
}

/// Reasons why a path cannot be measured with such a mesh, with remedies.
pub(super) fn impossible(spec: &ClusterSpec, ends: &Endpoints) -> Vec<(String, &'static str)> {
    let (provider, path) = (spec.mesh.provider, &ends.path);
    let mut all = Vec::new();
    for place in ends.sidecar_places() {
        let network = spec.networks.get(&place.network);
        if network.is_some_and(|network| network.interface.is_some()) {
            let why = format!("{place}: a network beside the pod's own is in no mesh");
            all.push((why, "take the pods' own network, or leave `mesh` out"));
        }
    }
    let mut nodes = path.from.nodes();
    let is_local = nodes.any(|from| path.to.nodes().any(|to| to == from));
    let is_ambient = provider == MeshProvider::IstioAmbient;
    if is_ambient && path.mesh.has_server() && path.from.network == "host" && is_local {
        all.push((
            "ztunnel lets pass what a node sends to its own pods".to_owned(),
            "take another node, or a pod",
        ));
    }
    let is_known = matches!(path.via, Via::Direct | Via::ClusterIp);
    if provider == MeshProvider::Cilium && path.mesh.has_client() && !is_known {
        let why =
            format!("`via: {}`: on the way out there is another port than the server's", path.via);
        all.push((why, "`mesh: server`, `via: direct` or `via: cluster-ip`"));
    }
    if !ends.gateways.is_empty() {
        all.push((
            format!("a gateway of hopbench's own is no part of {}", provider.name()),
            "name the mesh's gateway under `gateway:`, and say `via: gateway`",
        ));
    }
    if let Some(variant) = &path.variant {
        let plain = hopbench_model::Variant {
            name: variant.name.clone(),
            annotations: variant.annotations.clone(),
            ..hopbench_model::Variant::plain()
        };
        if *variant != plain {
            let why = format!(
                "variant {}: all pods of a node share its proxy, and how that is set up is not the \
                 run's",
                variant.name
            );
            all.push((why, "set it up there; of a variant `annotations` are taken over"));
        }
    }
    all
}

/// The proxies in these places; `which` are labels, the first of which a node has counts.
async fn everywhere(access: &Access, which: &[&str]) -> kube::Result<BTreeMap<String, ProxyPod>> {
    let found = which.iter().map(|labels| proxy_pods::labelled(&access.client, None, labels));
    let mut by_node = BTreeMap::new();
    for pod in try_join_all(found).await?.into_iter().flatten().filter(|pod| pod.is_ready) {
        by_node.entry(pod.node.clone()).or_insert(pod);
    }
    Ok(by_node)
}

/// Why the proxies of this mesh cannot be found, with a remedy; `None`: there are some, or they are
/// not needed.
pub(crate) fn lacking(access: &Access, provider: MeshProvider) -> Option<(String, &'static str)> {
    let mesh = of(provider)?;
    let found = access.ask("the mesh's pods", everywhere(access, mesh.carry));
    match found {
        Err(fault) => {
            let why = format!("the pods of {} cannot be listed: {}", mesh.proxy, fault.text);
            Some((why, "a ClusterRole: a run reads the metrics of these pods"))
        }
        Ok(pods) if pods.is_empty() => {
            let labels = mesh.carry.join(" or ");
            let why = format!("no pod of the cluster with the label {labels} is ready");
            Some((why, "install the mesh, or take another `provider`"))
        }
        Ok(_) => None,
    }
}

/// The proxies that a path meets as they are now: those on the nodes of its ends, each once, first
/// of the clients. Without paths through proxies in the plan there are none.
pub(crate) fn find(
    access: &Access,
    built: &Built,
    ends: &Endpoints,
    servers: &[PodId],
) -> Result<Vec<NodeProxy>, Fault> {
    let has_mesh = !built.placement.sidecars.is_empty();
    let Some(mesh) = of(built.spec.mesh.provider).filter(|_| has_mesh) else {
        return Ok(Vec::new());
    };
    let (carry, count) = access.ask(
        "the mesh's pods",
        try_join(everywhere(access, mesh.carry), everywhere(access, &[mesh.count])),
    )?;
    let mut nodes: Vec<&str> = Vec::new();
    for pod in met(ends, servers) {
        let Some(node) = built.nodes.get(&pod.place.node) else { continue };
        if !nodes.contains(&node.name.as_str()) {
            nodes.push(&node.name);
        }
    }
    let one = |node: &str| {
        let (pod, counter) = (carry.get(node).cloned(), count.get(node).cloned());
        let both = pod.zip(counter).map(|(pod, counter)| NodeProxy { pod, counter });
        both.ok_or_else(|| {
            let labels = mesh.carry.join(" or ");
            Fault::environment(format!(
                "node {node} has no {} (label {labels}) that is ready",
                mesh.proxy
            ))
        })
    };
    nodes.into_iter().map(one).collect()
}

/// The ends of a path that are in the mesh; of one without a mesh all.
fn met<'a>(ends: &'a Endpoints, servers: &'a [PodId]) -> Vec<&'a PodId> {
    let mode = ends.path.mesh;
    let clients = ends.clients.iter().filter(|_| mode.has_client() || mode.is_none());
    clients.chain(servers.iter().filter(|_| mode.has_server() || mode.is_none())).collect()
}

fn known<'a>(built: &'a Built, path: &str) -> &'a [NodeProxy] {
    built.node_proxies.get(path).map(Vec::as_slice).unwrap_or_default()
}

fn carrying(proxies: &[NodeProxy]) -> impl Iterator<Item = (String, &ProxyPod)> {
    named(NODE_PROXY, proxies.iter().map(|proxy| &proxy.pod))
}

/// They among the proxies of a path. `bypassed`: the traffic is none that proxies take.
pub(super) fn proxies(built: &Built, ends: &Endpoints, bypassed: bool) -> Vec<Proxy> {
    let on_path = !ends.path.mesh.is_none() && !bypassed;
    proxy_pods::proxies(&built.nodes, carrying(known(built, &ends.path.name)), on_path)
}

/// The same for meters.
pub(super) fn targets(built: &Built, route: &Route) -> Vec<MeterTarget> {
    proxy_pods::targets(carrying(known(built, &route.path)))
}

/// Why a pod that is to be in the mesh is not; `None`: it is, or nobody says it.
pub(super) fn lacking_capture(provider: MeshProvider, pod: &Pod) -> Option<String> {
    let is_ambient = provider == MeshProvider::IstioAmbient;
    let is_captured = pod.annotations().get(ztunnel::CAPTURED).is_some_and(|is| is == "enabled");
    (is_ambient && !is_captured).then(|| {
        format!(
            "Istio's CNI agent did not take it into the mesh (annotation {}): is it on this node?",
            ztunnel::CAPTURED
        )
    })
}

/// They in words: `ztunnel on node-a (IMAGE)`.
pub(crate) fn words(built: &Built, path: &str) -> Vec<String> {
    let Some(mesh) = of(built.spec.mesh.provider) else { return Vec::new() };
    let one = |proxy: &NodeProxy| {
        let ProxyPod { node, images, .. } = &proxy.pod;
        format!("{} on {node} ({})", mesh.proxy, images.join(", "))
    };
    known(built, path).iter().map(one).collect()
}

/// The counters of all proxies that a route meets, by the names of [`of_proxy`].
pub(super) fn counters(access: &Access, built: &Built, route: &Route) -> Result<Counters, Fault> {
    let Some(mesh) = of(built.spec.mesh.provider) else { return Ok(Counters::new()) };
    let is_meshed = route.proxies.iter().any(|proxy| proxy.named);
    if built.spec.mesh.provider == MeshProvider::Cilium && !is_meshed {
        // It tells nothing of one path alone.
        return Ok(Counters::new());
    }
    let names = |agents: &[AgentId]| -> BTreeSet<&str> {
        let pods = agents.iter().filter_map(|agent| built.placement.pod(&agent.0));
        pods.filter_map(|pod| Some(built.names.get(pod)?.as_str())).collect()
    };
    let pods = PathPods {
        namespace: &built.run.namespace,
        clients: names(&route.clients),
        servers: names(&route.servers),
    };
    let proxies = known(built, &route.path);
    let all = carrying(proxies).zip(proxies).map(|((name, _), proxy)| {
        let (pods, counter) = (&pods, &proxy.counter);
        async move {
            let api: Api<Pod> = Api::namespaced(access.client.clone(), &counter.namespace);
            let (port, path) = mesh.metrics;
            let door = Door {
                pods: &api,
                namespace: &counter.namespace,
                pod: &counter.name,
                port,
                way: AgentRoute::Forward,
            };
            let answer = admin::get(built, &door, path).await;
            let text = answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            (name, counter, text.and_then(|text| (mesh.read)(&text, pods)))
        }
    });
    let mut counters = Counters::new();
    for (name, pod, read) in access.runtime.block_on(join_all(all)) {
        let read = read.map_err(|why| {
            let ProxyPod { namespace, name, .. } = pod;
            let remedy = mesh.remedy;
            Fault::measuring(format!(
                "pod {name} of {namespace} does not say what it counted: {why}; {remedy}"
            ))
        })?;
        counters.extend(read.into_iter().map(|(counter, n)| (of_proxy(&name, &counter), n)));
    }
    Ok(counters)
}
