//! The processes of a mesh: sidecars, gateways and the services that they ask, and how a path meets
//! them.

use hopbench_mesh::{PathPods, Role};
use hopbench_model::Variant;

use super::Placement;
use super::endpoints::PathEndpoints;
use super::pod::PodId;

/// A process of the mesh as a path sees it.
pub(crate) type Met = hopbench_mesh::Met<PodId>;

/// The processes in a pod that serves a mesh, or the sidecar of one that does not, with how they
/// are set up.
pub(crate) fn of_pod<'a>(placement: &'a Placement, pod: &PodId) -> Option<(Vec<Role>, &'a Variant)> {
    if let Some(variant) = placement.sidecars.get(pod) {
        return Some((vec![Role::Sidecar], variant));
    }
    let with = |ends: &'a PathEndpoints| {
        let variant = ends.path.variant.as_ref()?;
        if ends.gateway.as_ref() == Some(pod) {
            return Some((vec![Role::Gateway], variant));
        }
        if ends.policy.as_ref() != Some(pod) {
            return None;
        }
        let all = [(variant.policy_check, Role::Policy), (variant.policy_report, Role::Telemetry)];
        let asked = all.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, role)| role);
        Some((asked.collect(), variant))
    };
    placement.paths.values().find_map(with)
}

/// Those in the pods of a path, and those that its proxies ask, in the order of the traffic.
/// `servers`: the pods that answer. `bypassed`: the traffic passes by all proxies.
pub(crate) fn met(placement: &Placement, ends: &PathEndpoints, servers: &[PodId], bypassed: bool) -> Vec<Met> {
    let PathEndpoints { path, clients, gateway, policy, .. } = ends;
    let pods = PathPods { clients, servers, gateway: gateway.as_ref(), policy: policy.as_ref() };
    pods.meet(path, |pod| placement.sidecars.contains_key(pod), bypassed)
}

/// Threads of it that carry traffic.
pub(crate) fn workers(placement: &Placement, ends: &PathEndpoints, met: &Met) -> u32 {
    let variant = match met.role {
        Role::Sidecar => placement.sidecars.get(&met.pod),
        Role::Gateway => ends.path.variant.as_ref(),
        Role::Policy | Role::Telemetry => None,
    };
    variant.map_or(1, |variant| variant.concurrency)
}
