//! The needs of a path's proxies that the cluster or the scenario does not meet.

use std::collections::BTreeSet;

use hopbench_model::{ClusterSpec, MeshProvider, Path, Point, Via};
use hopbench_testbed::Need;

use crate::plan::placement::endpoints::PathEndpoints;

/// The unmet needs of a path's proxies.
pub(crate) fn missing(spec: &ClusterSpec, ends: &PathEndpoints) -> Vec<Need> {
    let path = &ends.path;
    if !path.is_proxied() {
        return Vec::new();
    }
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| needs.push(Need::new(Some(path), what, why, remedy));
    let mode = path.mesh;
    if ends.enters_existing_gateway() {
        if spec.gateway.is_none() {
            let why = "nothing says where the gateway is".to_owned();
            add("a gateway", why, "name its address under `gateway:`, or say `via: gateway@NODE`");
        }
        if !mode.is_none() {
            let why = format!("`mesh: {mode}`: nobody tells a gateway of others about the sidecars behind it");
            add(Need::IMPOSSIBLE, why, "`mesh: none`, or `via: gateway@NODE`");
        }
        return needs;
    }
    if path.variant.is_none() {
        add("a variant", "nothing says how the proxies are set up".to_owned(), "name one under `variant:`");
    }
    let sides = [(mode.has_client(), &path.from), (mode.has_server(), &path.to)];
    for place in sides.into_iter().filter(|(has, _)| *has).map(|(_, place)| place).collect::<BTreeSet<_>>() {
        if place.network == "host" {
            let why = format!("{place}: its sidecar would take ports of the node, and everybody could use them");
            add(Need::IMPOSSIBLE, why, "place this end in a pod, or leave `mesh` out");
        }
    }
    if spec.mesh.provider != MeshProvider::Envoy {
        for (why, remedy) in super::injected::impossible(spec.mesh.provider, ends) {
            add(Need::IMPOSSIBLE, why, remedy);
        }
    }
    if matches!(path.via, Via::Gateway(_)) && mode.has_client() {
        let why = format!("`mesh: {mode}`: through a gateway clients have no sidecar");
        add(Need::IMPOSSIBLE, why, "`mesh: none` or `mesh: server`");
    }
    if path.via == Via::LoadBalancer && mode.has_client() {
        let why = format!("`mesh: {mode}`: a client's sidecar starts before anybody knows the load balancer's address");
        add(Need::IMPOSSIBLE, why, "`mesh: server`, or another `via`");
    }
    needs
}

/// Why a cell cannot be measured although its path can be built.
pub(crate) fn unsupported(path: &Path, point: &Point) -> Option<String> {
    if matches!(path.via, Via::Gateway(_)) && point.job.bypasses_proxies() {
        return Some(format!("a gateway takes TCP only: `{}` cannot go through it", point.job.workload));
    }
    None
}
