//! The endpoints of a path: its clients, its servers, and the pods that serve its mesh.

use std::collections::BTreeSet;

use hopbench_mesh::Offer;
use hopbench_model::{MeshMode, Path, Place, Via};

use super::pod::{Group, PodId};
use super::rules::Rules;

/// The pods that take part in a path, and what its servers are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// The path.
    pub path: Path,
    /// Its clients.
    pub clients: Vec<PodId>,
    /// Its servers. Those of one server program stand together.
    pub servers: Vec<PodId>,
    /// The number of the path's Service, in the plan's order; absent: it has none.
    pub service: Option<usize>,
    /// The pods of its gateways, if those are the testbed's own.
    pub gateways: Vec<PodId>,
    /// The pod with the services that its proxies ask.
    pub policy: Option<PodId>,
    /// The requests that its servers get through proxies.
    pub asks: BTreeSet<Ask>,
    /// Whether datagrams go to its servers.
    pub datagrams: bool,
    /// Whether its clients send ICMP echoes.
    pub echoes: bool,
    /// Whether tools of others measure on it, too.
    pub peers: bool,
    /// Whether such tools send HTTP requests to its agents.
    pub peers_ask_agents: bool,
    /// The rules of its testbed.
    pub rules: Rules,
}

/// A kind of request through proxies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// The server program whose pods answer, as in [`PodId::program`].
    pub program: Option<String>,
    /// The program and protocol that are asked for.
    pub offer: Offer,
}

/// The demand of a plan's cells on a path.
#[derive(Debug, Clone, Default)]
pub(super) struct Demand<'a> {
    /// The server programs that have pods of their own; `None`: the agents.
    pub(super) programs: BTreeSet<Option<String>>,
    pub(super) asks: BTreeSet<Ask>,
    pub(super) datagrams: bool,
    pub(super) echoes: bool,
    pub(super) peers: bool,
    pub(super) peers_ask_agents: bool,
    /// The number of its Service.
    pub(super) service: Option<usize>,
    /// The name of the plan's first variant.
    pub(super) first: Option<&'a str>,
    /// The name of its subject, if the pods of that are its own.
    pub(super) subject: Option<&'a str>,
}

impl Endpoints {
    /// The pods of a path. If it begins and ends at the same place, the servers come after the
    /// clients.
    pub(super) fn new(path: &Path, rules: Rules, demand: Demand<'_>) -> Self {
        let later = match &path.variant {
            Some(variant) if demand.first != Some(variant.name.as_str()) => {
                Some(variant.name.clone())
            }
            _ => None,
        };
        let shared = later.clone().map_or(Group::Shared, Group::Variant);
        let meshed = |takes: bool, has_program: bool| {
            let is_apart = takes && rules.takes_whole(has_program);
            if is_apart { Group::Meshed(later.clone()) } else { shared.clone() }
        };
        // A Service translates to the same addresses and ports that a direct connection has. So one
        // connection would meet what the kernel remembers of the other (connection table,
        // TIME_WAIT) and wait for it. New connections a second fell to a tenth. The servers of a
        // Service belong to its path alone.
        let of_servers = |program: &Option<String>| {
            if has_service(&path.via) {
                Group::Path(path.name.clone())
            } else {
                meshed(path.mesh.has_server(), program.is_some())
            }
        };
        // Those of a set of nodes go around.
        let pods =
            |place: &Place, group: &Group, program: &Option<String>, first: u32, count: u32| {
                let group = if place.network == "host" { &Group::Shared } else { group };
                let pod = |(index, place)| PodId {
                    place,
                    subject: None,
                    group: group.clone(),
                    program: program.clone(),
                    index,
                };
                let places: Vec<Place> = place.each().collect();
                let indices = first..first.saturating_add(count);
                indices.zip(places.into_iter().cycle()).map(pod).collect::<Vec<_>>()
            };
        let connects = rules.connects && path.mesh.has_client();
        let asks_program = demand.programs.iter().any(Option::is_some);
        let of_clients = if connects {
            Group::Client(later.clone())
        } else {
            meshed(path.mesh.has_client(), asks_program)
        };
        let clients = pods(&path.from, &of_clients, &None, 0, path.clients);
        let of_program = |program: &Option<String>| {
            let group = of_servers(program);
            let first = pods(&path.to, &group, program, 0, path.backends);
            match first.iter().any(|pod| clients.contains(pod)) {
                true => pods(&path.to, &group, program, path.clients, path.backends),
                false => first,
            }
        };
        let servers: Vec<PodId> = demand.programs.iter().flat_map(of_program).collect();
        let gateways = match &path.via {
            Via::Gateway(node) if !node.is_empty() => gateways(path, node),
            _ => Vec::new(),
        };
        let beside_clients = path.to.network == "host" && !rules.policy_on_servers_node;
        let beside = if beside_clients { &path.from.node } else { &path.to.node };
        let policy = if asks_services(path) {
            Some(helper(path, beside, Group::Policy(later)))
        } else {
            None
        };
        let mut all = Self {
            servers,
            clients,
            service: demand.service,
            gateways,
            policy,
            asks: demand.asks,
            datagrams: demand.datagrams,
            echoes: demand.echoes,
            peers: demand.peers,
            peers_ask_agents: demand.peers_ask_agents,
            rules,
            path: path.clone(),
        };
        let ends = all.clients.iter_mut().chain(&mut all.servers);
        for pod in ends.chain(&mut all.gateways).chain(&mut all.policy) {
            pod.subject = demand.subject.map(str::to_owned);
        }
        all
    }

    /// Its servers, by the server program that has pods of its own; `None`: the agents.
    pub fn by_program(&self) -> impl Iterator<Item = (Option<&str>, &[PodId])> {
        let same_program = |one: &PodId, next: &PodId| one.program == next.program;
        self.servers
            .chunk_by(same_program)
            .filter_map(|pods| Some((pods.first()?.program.as_deref(), pods)))
    }

    /// The servers of one of the programs of [`Endpoints::by_program`]; none if it is not asked.
    pub fn servers_of(&self, program: Option<&str>) -> &[PodId] {
        self.by_program().find(|(known, _)| *known == program).map_or(&[], |(_, pods)| pods)
    }

    /// All pods.
    pub fn pods(&self) -> impl Iterator<Item = &PodId> {
        self.ends().chain(self.helpers())
    }

    /// The pods of its clients and servers.
    pub fn ends(&self) -> impl Iterator<Item = &PodId> + Clone {
        self.clients.iter().chain(&self.servers)
    }

    /// The pods that only serve its mesh.
    pub fn helpers(&self) -> impl Iterator<Item = &PodId> {
        self.gateways.iter().chain(&self.policy)
    }

    /// The pods whose sidecars take its traffic.
    pub fn sidecars(&self) -> impl Iterator<Item = &PodId> {
        let mode = self.path.mesh;
        let clients = self.clients.iter().filter(move |_| mode.has_client());
        clients.chain(self.servers.iter().filter(move |_| mode.has_server()))
    }

    /// The places of the ends that have sidecars.
    pub fn sidecar_places(&self) -> BTreeSet<&Place> {
        self.sidecars().map(|pod| &pod.place).collect()
    }

    /// The proxies that speak with the services. Sidecars of clients report, and do not ask.
    pub fn callers(&self) -> impl Iterator<Item = &PodId> {
        let reports = self.path.variant.as_ref().is_some_and(|variant| variant.policy_report);
        let clients =
            if self.path.mesh.has_client() && reports { self.clients.as_slice() } else { &[] };
        let servers = if self.path.mesh.has_server() { self.servers.as_slice() } else { &[] };
        clients.iter().chain(&self.gateways).chain(servers)
    }

    /// The mode for which its servers are entered: the connections of a gateway of the testbed's
    /// own come from a proxy.
    pub fn entered(&self) -> MeshMode {
        match self.path.mesh {
            mode if mode.has_server() && !self.gateways.is_empty() => MeshMode::Both,
            mode => mode,
        }
    }

    /// Whether the clients' sidecars choose the endpoints of its Service, instead of the clients'
    /// node.
    pub fn is_routed_by_sidecar(&self) -> bool {
        self.path.via == Via::ClusterIp && self.path.mesh.has_client()
    }

    /// Whether its servers of this program, as in [`PodId::program`], are entered at a port that
    /// stands for a mode: it tells sidecars what to take.
    pub fn names_mode(&self, program: Option<&str>) -> bool {
        let mode = self.entered();
        let has_ports = mode.has_server() || !self.rules.connects && mode.has_client();
        has_ports && !self.rules.takes_whole(program.is_some())
    }

    /// Whether its gateway is one that was there before the run.
    pub fn enters_existing_gateway(&self) -> bool {
        matches!(&self.path.via, Via::Gateway(node) if node.is_empty())
    }
}

/// Whether a Service leads to the servers of a path.
fn has_service(via: &Via) -> bool {
    matches!(via, Via::ClusterIp | Via::NodePort(_) | Via::LoadBalancer)
}

/// Whether the proxies of a path ask a service.
fn asks_services(path: &Path) -> bool {
    let asks =
        path.variant.as_ref().is_some_and(|variant| variant.policy_check || variant.policy_report);
    asks && path.is_proxied()
}

/// The pods of the gateways of a path, which go around their nodes.
fn gateways(path: &Path, node: &str) -> Vec<PodId> {
    let more = path.gateways.iter().flat_map(|gateways| &gateways.more_nodes);
    let nodes: Vec<&str> = std::iter::once(node).chain(more.map(String::as_str)).collect();
    let count = path.gateways.as_ref().map_or(1, |gateways| gateways.count);
    let pod = |(index, node): (u32, &str)| PodId {
        index,
        ..helper(path, node, Group::Gateway(path.name.clone()))
    };
    (0..count).zip(nodes.iter().copied().cycle()).map(pod).collect()
}

/// A pod on this node that serves the mesh of a path.
fn helper(path: &Path, node: &str, group: Group) -> PodId {
    PodId::first(helper_place(path, node), group)
}

/// The place on this node of pods that serve the mesh of a path. Its network is that of the
/// servers, or that of the clients if the servers have no pods.
fn helper_place(path: &Path, node: &str) -> Place {
    let mut networks = [&path.to, &path.from].into_iter().map(|place| place.network.as_str());
    let network = networks.find(|network| *network != "host").unwrap_or("pod").to_owned();
    Place { network, node: node.to_owned(), more_nodes: Vec::new(), runtime: None }
}
