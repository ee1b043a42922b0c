//! The needs of a path's proxies that the cluster or the scenario does not meet.

use hopbench_model::{ClusterSpec, MeshProvider, Path, Point, Via};
use hopbench_testbed::placement::Endpoints;
use hopbench_testbed::{Need, refusals};

use super::{injected, on_nodes};
use crate::plan::gateways;

/// Why the proxies of a path do not take what a point sends.
pub(crate) fn unsupported(spec: &ClusterSpec, path: &Path, point: &Point) -> Option<String> {
    if path.mesh.is_none() {
        return None;
    }
    let job = &point.job;
    let is_hidden = !job.shows_requests() && !job.bypasses_proxies();
    (spec.mesh.provider == MeshProvider::Cilium && is_hidden)
        .then(|| "Cilium's proxy takes HTTP only, and none over TLS".to_owned())
}

/// The unmet needs of a path's proxies.
pub(crate) fn missing(spec: &ClusterSpec, ends: &Endpoints) -> Vec<Need> {
    let path = &ends.path;
    if !path.is_proxied() {
        return Vec::new();
    }
    let need = |what: &str, why: String, remedy: &str| Need::new(Some(path), what, why, remedy);
    let mode = path.mesh;
    let mut needs = Vec::new();
    if ends.enters_existing_gateway() {
        if spec.gateway_of(path).is_none() {
            let why = "nothing says where the gateway is".to_owned();
            needs.push(need(
                "a gateway",
                why,
                "name its address under `gateway:`, or say `via: gateway@NODE`",
            ));
        }
        if !mode.is_none() && gateways::of_path(spec, path).is_none() {
            let why = format!(
                "`mesh: {mode}`: nobody tells a gateway of others about the sidecars behind it"
            );
            let remedy =
                "`mesh: none`, `via: gateway@NODE`, or a `parent`, a `class` or an `ingress`";
            needs.push(need(Need::IMPOSSIBLE, why, remedy));
        }
        if mode.is_none() {
            return needs;
        }
    }
    needs.extend(refusals::lacks_variant(path));
    for place in ends.sidecar_places() {
        if place.network == "host" {
            let why = if ends.rules.captures_pods {
                format!("{place}: a node's own network is in no mesh")
            } else {
                format!(
                    "{place}: its sidecar would take ports of the node, and everybody could use \
                     them"
                )
            };
            needs.push(need(Need::IMPOSSIBLE, why, "place this end in a pod, or leave `mesh` out"));
        }
    }
    if spec.mesh.provider != MeshProvider::Envoy {
        let impossible = if ends.rules.captures_pods {
            on_nodes::impossible(spec, ends)
        } else {
            injected::impossible(spec.mesh.provider, ends)
        };
        needs.extend(
            impossible.into_iter().map(|(why, remedy)| need(Need::IMPOSSIBLE, why, remedy)),
        );
    }
    if spec.mesh.provider == MeshProvider::Envoy {
        needs.extend(refusals::annotates_in_vain(path));
    }
    needs.extend(refusals::has_sidecar_before_gateway(path));
    if path.via == Via::LoadBalancer && mode.has_client() && !ends.rules.captures_pods {
        let why = format!(
            "`mesh: {mode}`: a client's sidecar starts before anybody knows the load balancer's \
             address"
        );
        needs.push(need(Need::IMPOSSIBLE, why, "`mesh: server`, or another `via`"));
    }
    needs
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, fixture};
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::point;

    #[test]
    fn every_version_of_http_passes_and_cilium_takes_nothing_else() {
        let told = |provider, mesh: MeshMode, params: serde_json::Value| {
            let mut spec = crate::plan::fixture::spec();
            spec.mesh.provider = provider;
            let path = Path { mesh, ..fixture::path("p") };
            let job = fixture::job("http", params);
            unsupported(&spec, &path, &Point { job, ..point("http", "hopbench") })
        };
        let (http2, hidden) = (json!({"http2": true}), json!({"http2": true, "tls": true}));
        for provider in MeshProvider::ALL {
            assert_eq!(told(provider, MeshMode::Both, http2.clone()), None);
            let is_cilium = provider == MeshProvider::Cilium;
            let why = told(provider, MeshMode::Both, hidden.clone());
            assert_eq!(why.is_some(), is_cilium, "{provider:?}");
            assert_eq!(told(provider, MeshMode::None, hidden.clone()), None);
        }
    }
}
