//! The processes of the mesh: sidecars, gateways, and the services that they ask; and how a path meets them.

use hopbench_model::Variant;

use crate::cast::Cast;
use crate::demand::Demand;
use crate::pod::PodId;

/// What a process of the mesh is; those that are asked come before those that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Policy,
    Telemetry,
    Sidecar,
    Gateway,
}

impl Role {
    /// Its name on a path, where there is one only.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Telemetry => "telemetry",
            Self::Sidecar => "sidecar",
            Self::Gateway => "gateway",
        }
    }
}

/// A process of the mesh as a path sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Met {
    /// Its name on the path: `client-sidecar`, `server-sidecar#2`.
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) pod: PodId,
    /// Whether the path names it; the others must stay still.
    pub(crate) named: bool,
    /// Threads of it that carry traffic.
    pub(crate) workers: u32,
}

/// The processes in a pod that serves a mesh, or the sidecar of one that does not, with how they are set up.
pub(crate) fn of_pod<'a>(demand: &'a Demand, pod: &PodId) -> Option<(Vec<Role>, &'a Variant)> {
    if let Some(variant) = demand.sidecars.get(pod) {
        return Some((vec![Role::Sidecar], variant));
    }
    let with = |cast: &'a Cast| {
        let variant = cast.path.variant.as_ref()?;
        if cast.gateway.as_ref() == Some(pod) {
            return Some((vec![Role::Gateway], variant));
        }
        let all = [(variant.policy_check, Role::Policy), (variant.policy_report, Role::Telemetry)];
        let asked = all.into_iter().filter(|(is, _)| *is).map(|(_, role)| role).collect();
        (cast.policy.as_ref() == Some(pod)).then_some((asked, variant))
    };
    demand.paths.values().find_map(with)
}

/// Those in the pods of a path, and those that its proxies ask, in the order of the traffic. `servers` are who answers;
/// `bypassed`: what is sent passes by all of them.
pub(crate) fn met(demand: &Demand, cast: &Cast, servers: &[PodId], bypassed: bool) -> Vec<Met> {
    let mode = cast.path.mesh;
    let sidecars = |end: &'static str, pods: &[PodId], named: bool| {
        let pods = (1..).zip(pods).filter_map(|(number, pod)| Some((number, pod, demand.sidecars.get(pod)?)));
        let met = pods.map(|(number, pod, variant)| {
            let name = if number == 1 { end.to_owned() } else { format!("{end}#{number}") };
            let named = named && !bypassed;
            Met { name, role: Role::Sidecar, pod: pod.clone(), named, workers: variant.concurrency }
        });
        met.collect::<Vec<_>>()
    };
    let variant = cast.path.variant.as_ref();
    let one = |role: Role, pod: &Option<PodId>, named: bool| {
        let workers = if role == Role::Gateway { variant.map_or(1, |variant| variant.concurrency) } else { 1 };
        let pod = pod.clone()?;
        Some(Met { name: role.word().to_owned(), role, pod, named: named && !bypassed, workers })
    };
    let asks = |is: fn(&Variant) -> bool| variant.is_some_and(is);
    let mut all = sidecars("client-sidecar", &cast.clients, mode.has_client());
    all.extend(one(Role::Gateway, &cast.gateway, true));
    all.extend(sidecars("server-sidecar", servers, mode.has_server()));
    if asks(|variant| variant.policy_check) {
        // Clients' sidecars do not ask.
        all.extend(one(Role::Policy, &cast.policy, mode.has_server() || cast.gateway.is_some()));
    }
    if asks(|variant| variant.policy_report) {
        all.extend(one(Role::Telemetry, &cast.policy, true));
    }
    all
}
