//! The processes of the mesh that a plan needs: sidecars, gateways, and the services that they ask.

use hopbench_mesh::{PathPods, Role};
use hopbench_model::Variant;

use super::endpoints::Endpoints;
use super::of_plan::Placement;
use super::pod::PodId;

/// A process of the mesh as a path sees it.
pub(crate) type Met = hopbench_mesh::Met<PodId>;

/// A process of the mesh, its pod, and the variant that says how it is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MeshProcess {
    pub(crate) role: Role,
    pub(crate) pod: PodId,
    pub(crate) variant: Variant,
}

impl MeshProcess {
    /// Its name among all of the testbed.
    pub(crate) fn name(&self) -> String {
        self.role.in_pod(&self.pod)
    }

    /// Whether it is a proxy, and not a service that proxies ask.
    pub(crate) fn is_proxy(&self) -> bool {
        matches!(self.role, Role::Sidecar | Role::Gateway)
    }

    /// Threads of it that carry traffic.
    pub(crate) fn workers(&self) -> u32 {
        if self.is_proxy() { self.variant.concurrency } else { 1 }
    }
}

/// Everything that a plan needs: first the services that are asked, then the proxies that ask them.
pub(crate) fn all(placement: &Placement) -> Vec<MeshProcess> {
    let process =
        |role, pod: &PodId, variant: &Variant| MeshProcess { role, pod: pod.clone(), variant: variant.clone() };
    let mut processes = Vec::new();
    for (pod, variant) in placement.policies() {
        if variant.policy_check {
            processes.push(process(Role::Policy, pod, variant));
        }
        if variant.policy_report {
            processes.push(process(Role::Telemetry, pod, variant));
        }
    }
    for (pod, variant) in &placement.sidecars {
        processes.push(process(Role::Sidecar, pod, variant));
    }
    for endpoints in placement.paths.values() {
        if let (Some(pod), Some(variant)) = (&endpoints.gateway, &endpoints.path.variant) {
            processes.push(process(Role::Gateway, pod, variant));
        }
    }
    processes
}

/// The processes in the pods of a path, and those that its proxies ask, in the order of the
/// traffic. `bypassed`: the traffic passes by all of them.
pub(crate) fn met(endpoints: &Endpoints, placement: &Placement, bypassed: bool) -> Vec<Met> {
    let Endpoints { path, clients, servers, gateway, policy, .. } = endpoints;
    let pods = PathPods { clients, servers, gateway: gateway.as_ref(), policy: policy.as_ref() };
    pods.meet(path, |pod| placement.sidecars.contains_key(pod), bypassed)
}
