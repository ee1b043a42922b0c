//! Who takes part in a path.

use std::collections::BTreeSet;

use hopbench_mesh::Offer;
use hopbench_model::{Path, Place, Via};

use crate::pod::{Group, PodId};

/// Who takes part in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cast {
    pub(crate) path: Path,
    pub(crate) clients: Vec<PodId>,
    pub(crate) servers: Vec<PodId>,
    /// The number of the path's Service.
    pub(crate) service: Option<usize>,
    /// The pod of its gateway.
    pub(crate) gateway: Option<PodId>,
    /// The pod with the services that its proxies ask.
    pub(crate) policy: Option<PodId>,
    /// What its servers are asked for through proxies.
    pub(crate) offers: BTreeSet<Offer>,
}

impl Cast {
    /// The pods of a path. Where it begins and ends at the same place, the servers come after the clients. `first` is
    /// the name of the plan's first variant, which shares its pods with paths that have none.
    pub(crate) fn new(path: &Path, service: Option<usize>, first: Option<&str>, offers: BTreeSet<Offer>) -> Self {
        let later = path.variant.as_ref().map(|variant| variant.name.as_str()).filter(|name| Some(*name) != first);
        let shared = later.map_or(Group::Shared, |name| Group::Variant(name.to_owned()));
        // Through a Service and straight between the same two pods, connections have the same addresses and ports once
        // they are translated. The one then meets what the kernel still remembers of the other (the connection table,
        // TIME_WAIT), and waits for it: new connections a second fell to a tenth. So these servers are this path's alone.
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

    /// Finds the pod with the services that its proxies ask, one for each variant and place: beside the servers, or
    /// beside the clients where those have no pods.
    pub(crate) fn find_policy(&mut self, first: Option<&str>) {
        let Some(variant) = self.path.variant.as_ref().filter(|_| self.asks()) else { return };
        let beside = if self.path.to.network == "host" { &self.path.from } else { &self.path.to };
        let place = Place { runtime: None, ..beside.clone() };
        let later = Some(variant.name.clone()).filter(|name| Some(name.as_str()) != first);
        self.policy = Some(PodId::first(place, Group::Policy(later)));
    }

    /// Whether its proxies ask anybody.
    fn asks(&self) -> bool {
        self.path.is_proxied() && self.path.variant.as_ref().is_some_and(|v| v.policy_check || v.policy_report)
    }

    /// The pods whose sidecars take its traffic.
    pub(crate) fn sidecars(&self) -> impl Iterator<Item = &PodId> + Clone {
        let mode = self.path.mesh;
        let clients = self.clients.iter().filter(move |_| mode.has_client());
        clients.chain(self.servers.iter().filter(move |_| mode.has_server()))
    }

    /// Those of its proxies that speak with the services: clients' sidecars tell, and do not ask.
    pub(crate) fn callers(&self) -> impl Iterator<Item = &PodId> {
        let reports = self.path.variant.as_ref().is_some_and(|variant| variant.policy_report);
        let clients = if self.path.mesh.has_client() && reports { self.clients.as_slice() } else { &[] };
        let servers = if self.path.mesh.has_server() { self.servers.as_slice() } else { &[] };
        clients.iter().chain(&self.gateway).chain(servers)
    }

    /// Whether the clients' sidecars choose the endpoints of its Service, instead of the clients' node.
    pub(crate) fn is_routed_by_sidecar(&self) -> bool {
        self.path.via == Via::ClusterIp && self.path.mesh.has_client()
    }
}
