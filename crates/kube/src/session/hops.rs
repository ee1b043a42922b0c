//! The hops of a path, in words.

use std::collections::BTreeSet;

use hopbench_model::{MeshProvider, Place, Via};
use hopbench_testbed::placement::Endpoints;

use crate::mesh;
use crate::provision::built::Built;

/// In order, without the ends: `pod network`, `kube-proxy of a` ...
/// `bypassed`: the traffic is none that proxies take.
pub(crate) fn hops(built: &Built, ends: &Endpoints, bypassed: bool) -> Vec<String> {
    let path = &ends.path;
    let network = |place: &Place| match place.network.as_str() {
        "host" => "host network".to_owned(),
        kind => {
            let attachment = place.each().find_map(|place| built.attachments.get(&place));
            let class = attachment.and_then(|attachment| attachment.network.runtime_class.as_ref());
            let class = class.map(|class| format!(" (RuntimeClass {class})")).unwrap_or_default();
            format!("{kind} network of {}{class}", place.node_text())
        }
    };
    let mut hops: Vec<String> = path.from.runtime.iter().cloned().collect();
    let sidecar = |place: &Place, takes: bool| {
        let kind = if ends.rules.captures_pods { "mesh of the node of" } else { "sidecar of" };
        if takes && !bypassed { Some(format!("{kind} {place}")) } else { None }
    };
    let passes_cilium = built.spec.mesh.provider == MeshProvider::Cilium;
    hops.extend(sidecar(&path.from, path.mesh.has_client()));
    hops.push(network(&path.from));
    match &path.via {
        Via::Direct => {}
        Via::ClusterIp if ends.is_routed_by_sidecar() && !bypassed && !passes_cilium => {
            let who = if ends.rules.captures_pods { "ztunnel" } else { "sidecar" };
            hops.push(format!("Service, chosen by the {who}"));
        }
        // By whatever translates: kube-proxy, Cilium ...
        Via::ClusterIp => hops.push(format!("Service, translated on {}", path.from.node_text())),
        Via::NodePort(node) => hops.push(format!("node port of {node}")),
        Via::Gateway(node) if node.is_empty() => {
            let name = path.gateway_name.iter().map(|name| format!(" {name}"));
            hops.push(format!("gateway{}", name.collect::<String>()));
        }
        Via::Gateway(_) => {
            let nodes: BTreeSet<&str> = ends.gateways.iter().map(|pod| &*pod.place.node).collect();
            let nodes = nodes.into_iter().collect::<Vec<_>>().join(", ");
            hops.push(format!("gateway on {nodes}"));
        }
        Via::LoadBalancer => hops.push("load balancer".to_owned()),
        Via::Address(address) => hops.push(format!("whatever is behind {address}")),
    }
    let (from, to) = (path.from.node_text(), path.to.node_text());
    if from != to {
        hops.push(format!("network between {from} and {to}"));
    }
    hops.push(network(&path.to));
    hops.extend(sidecar(&path.to, path.mesh.has_server()));
    hops.extend(path.to.runtime.clone());
    if !path.mesh.is_none() && !bypassed {
        hops.extend(mesh::on_nodes::words(built, &path.name));
    }
    hops
}
