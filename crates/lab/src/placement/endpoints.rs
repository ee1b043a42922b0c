//! The endpoints of a path: the pods of its clients, servers, gateway and services.

use std::collections::BTreeSet;

use hopbench_mesh::Offer;
use hopbench_model::{MeshMode, Path, Place, Via};

use super::pod::{Group, PodId};

/// The pods that take part in a path, and what its servers are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoints {
    pub(crate) path: Path,
    pub(crate) clients: Vec<PodId>,
    pub(crate) servers: Vec<PodId>,
    /// The number of the path's Service.
    pub(crate) service: Option<usize>,
    /// The pod of its gateway.
    pub(crate) gateway: Option<PodId>,
    /// The pod with the services that its proxies ask.
    pub(crate) policy: Option<PodId>,
    /// The offers that its servers are asked for through proxies.
    pub(crate) offers: BTreeSet<Offer>,
}

impl Endpoints {
    /// The pods of a path. If it begins and ends at the same place, the servers come after the
    /// clients. `first` names the plan's first variant, which shares its pods with paths without
    /// proxies.
    pub(crate) fn new(path: &Path, service: Option<usize>, first: Option<&str>, offers: BTreeSet<Offer>) -> Self {
        let shared = later_variant(path, first).map_or(Group::Shared, Group::Variant);
        // A Service translates to the same addresses and ports that a direct connection has. So one
        // connection would meet what the kernel remembers of the other (connection table,
        // TIME_WAIT) and wait for it: new connections a second fell to a tenth. The servers of a
        // Service belong to its path alone.
        let alone = if service.is_some() { Group::Path(path.name.clone()) } else { shared.clone() };
        let pods = |place: &Place, group: &Group, first: u32, count: u32| {
            let group = if place.network == "host" { &Group::Shared } else { group };
            let pod = |index| PodId { place: place.clone(), group: group.clone(), index };
            (first..first.saturating_add(count)).map(pod).collect::<Vec<_>>()
        };
        let clients = pods(&path.from, &shared, 0, path.clients);
        let same = clients.first().is_some_and(|client| pods(&path.to, &alone, 0, 1).first() == Some(client));
        let servers = pods(&path.to, &alone, if same { path.clients } else { 0 }, path.backends);
        let gateway = match &path.via {
            Via::Gateway(node) => {
                let place = Place { node: node.clone(), runtime: None, ..path.to.clone() };
                Some(PodId::first(place, Group::Gateway(path.name.clone())))
            }
            _ => None,
        };
        Self { clients, servers, service, gateway, policy: None, offers, path: path.clone() }
    }

    /// Finds the pod with the services that its proxies ask: one for each variant and place. It is
    /// beside the servers, or beside the clients if the servers have no pods.
    pub(crate) fn find_policy(&mut self, first: Option<&str>) {
        if !self.asks() {
            return;
        }
        let beside = if self.path.to.network == "host" { &self.path.from } else { &self.path.to };
        let place = Place { runtime: None, ..beside.clone() };
        self.policy = Some(PodId::first(place, Group::Policy(later_variant(&self.path, first))));
    }

    /// Whether its proxies ask a service.
    fn asks(&self) -> bool {
        self.path.is_proxied()
            && self.path.variant.as_ref().is_some_and(|variant| variant.policy_check || variant.policy_report)
    }

    /// The pods whose sidecars take its traffic.
    pub(crate) fn sidecars(&self) -> impl Iterator<Item = &PodId> + Clone {
        let mode = self.path.mesh;
        let clients = self.clients.iter().filter(move |_| mode.has_client());
        clients.chain(self.servers.iter().filter(move |_| mode.has_server()))
    }

    /// The proxies that speak with the services. Sidecars of clients report, and do not ask.
    pub(crate) fn callers(&self) -> impl Iterator<Item = &PodId> {
        let reports = self.path.variant.as_ref().is_some_and(|variant| variant.policy_report);
        let clients = if self.path.mesh.has_client() && reports { self.clients.as_slice() } else { &[] };
        let servers = if self.path.mesh.has_server() { self.servers.as_slice() } else { &[] };
        clients.iter().chain(&self.gateway).chain(servers)
    }

    /// Whether the clients' sidecars choose the endpoints of its Service, instead of the clients'
    /// node.
    pub(crate) fn is_routed_by_sidecar(&self) -> bool {
        self.path.via == Via::ClusterIp && self.path.mesh.has_client()
    }

    /// The mode for which its servers are entered: connections of a gateway come from a proxy.
    pub(crate) fn entered(&self) -> MeshMode {
        match self.path.via {
            Via::Gateway(_) if self.path.mesh.has_server() => MeshMode::Both,
            _ => self.path.mesh,
        }
    }
}

/// The name of a path's variant, if that is not the plan's first.
fn later_variant(path: &Path, first: Option<&str>) -> Option<String> {
    let variant = path.variant.as_ref()?;
    if Some(variant.name.as_str()) == first { None } else { Some(variant.name.clone()) }
}
