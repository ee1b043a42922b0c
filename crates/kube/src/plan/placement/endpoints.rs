//! The endpoints of a path: its clients, its servers, and the pods that serve its mesh.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_mesh::{App, Offer, Protocol};
use hopbench_model::{MeshMode, Path, Place, ServerSpec, Via};

use super::pod::{Group, PodId};

/// All pods that take part in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathEndpoints {
    pub(crate) path: Path,
    pub(crate) clients: Vec<PodId>,
    /// Those that answer, by the server program in them; `None`: the agents themselves.
    pub(crate) servers: BTreeMap<Option<String>, Vec<PodId>>,
    /// Whether datagrams go to its servers.
    pub(crate) datagrams: bool,
    /// The pod of its gateway, if that is one of ours.
    pub(crate) gateway: Option<PodId>,
    /// The pod with the services that its proxies ask.
    pub(crate) policy: Option<PodId>,
    /// The requests that its servers get through proxies.
    pub(crate) asks: BTreeSet<Ask>,
    /// Whether the traffic is redirected to its sidecars, by its port.
    pub(crate) intercepted: bool,
}

/// A kind of request through proxies: the program that answers, as in [`PathEndpoints::servers`],
/// and its protocol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ask {
    pub(crate) program: Option<String>,
    pub(crate) protocol: Protocol,
}

impl Ask {
    /// The same, whichever program it is.
    pub(crate) fn offer(&self) -> Offer {
        let app = if self.program.is_none() { App::Agent } else { App::Program };
        Offer { app, protocol: self.protocol }
    }

    /// The name of a Service's port for it, as Istio wants it: `tcp-agent`.
    pub(crate) fn port_name(&self) -> &'static str {
        ["tcp-agent", "http-agent", "http-program"][self.offer().position()]
    }
}

/// The rules by which the pods of a plan with a mesh are shared.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sharing<'a> {
    /// The name of the plan's first variant, which shares its pods with paths that have none.
    pub(crate) first: Option<&'a str>,
    /// Whether clients connect to their own sidecar, because nothing redirects their traffic. The
    /// sidecar then needs the servers' addresses before it starts. So these clients are no path's
    /// servers.
    pub(crate) connects: bool,
}

impl PathEndpoints {
    /// The pods of a path. Where it begins and ends at the same place, the servers come after the
    /// clients.
    pub(crate) fn new(
        path: &Path,
        programs: &BTreeSet<Option<String>>,
        datagrams: bool,
        asks: BTreeSet<Ask>,
        sharing: Sharing<'_>,
    ) -> Self {
        let later = path.variant.as_ref().map(|variant| variant.name.clone());
        let later = later.filter(|name| Some(name.as_str()) != sharing.first);
        let shared = later.clone().map_or(Group::Shared, Group::Variant);
        // Through a Service and straight between the same two pods, connections have the same
        // addresses and ports once they are translated. The one then meets what the kernel still
        // remembers of the other (the connection table, TIME_WAIT), and waits for it. So these
        // servers are this path's alone.
        let alone = if has_service(path) { Group::Path(path.name.clone()) } else { shared.clone() };
        let pods = |place: &Place, group: &Group, program: &Option<String>, first: u32, count: u32| {
            let group = if place.network == "host" { &Group::Shared } else { group };
            let pod = |index| PodId { place: place.clone(), group: group.clone(), program: program.clone(), index };
            (first..first.saturating_add(count)).map(pod).collect::<Vec<_>>()
        };
        let own = sharing.connects && path.mesh.has_client();
        let of_clients = if own { Group::Client(later.clone()) } else { shared };
        let clients = pods(&path.from, &of_clients, &None, 0, path.clients);
        let servers = programs.iter().map(|program| {
            let same = clients.first() == pods(&path.to, &alone, program, 0, 1).first();
            (program.clone(), pods(&path.to, &alone, program, if same { path.clients } else { 0 }, path.backends))
        });
        let helper = |node: &str, group: Group| {
            // Beside the servers, or beside the clients where those have no pods.
            let mut kinds = [&path.to, &path.from].into_iter().map(|place| place.network.as_str());
            let network = kinds.find(|kind| *kind != "host").unwrap_or("pod").to_owned();
            PodId { place: Place { network, node: node.to_owned(), runtime: None }, group, program: None, index: 0 }
        };
        let gateway = match &path.via {
            Via::Gateway(node) if !node.is_empty() => Some(helper(node, Group::Gateway(path.name.clone()))),
            _ => None,
        };
        let asked = path.variant.as_ref().filter(|variant| variant.policy_check || variant.policy_report);
        let policy = asked.filter(|_| path.is_proxied()).map(|_| helper(&path.to.node, Group::Policy(later)));
        Self {
            servers: servers.collect(),
            clients,
            path: path.clone(),
            datagrams,
            gateway,
            policy,
            asks,
            intercepted: !sharing.connects,
        }
    }

    /// The pods whose sidecars take its traffic.
    pub(crate) fn sidecars(&self) -> impl Iterator<Item = &PodId> {
        let mode = self.path.mesh;
        let clients = self.clients.iter().filter(move |_| mode.has_client());
        clients.chain(self.servers.values().flatten().filter(move |_| mode.has_server()))
    }

    /// The mode for which its servers are entered: the connections of our gateways come from a
    /// proxy.
    pub(crate) fn entered(&self) -> MeshMode {
        match self.gateway {
            Some(_) if self.path.mesh.has_server() => MeshMode::Both,
            _ => self.path.mesh,
        }
    }

    /// The pods that answer what this server is asked for.
    pub(crate) fn servers_of(&self, server: &ServerSpec) -> &[PodId] {
        self.servers.get(&program(server)).map_or(&[], Vec::as_slice)
    }

    /// All pods.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &PodId> {
        self.clients.iter().chain(self.servers.values().flatten()).chain(self.helpers())
    }

    /// The pods that serve its mesh and have no agent.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = &PodId> {
        self.gateway.iter().chain(&self.policy)
    }

    /// Whether its gateway is one that was there before the run.
    pub(crate) fn enters_existing_gateway(&self) -> bool {
        matches!(&self.path.via, Via::Gateway(node) if node.is_empty())
    }

    /// Whether its servers are behind a Service.
    pub(crate) fn has_service(&self) -> bool {
        has_service(&self.path)
    }
}

fn has_service(path: &Path) -> bool {
    matches!(path.via, Via::ClusterIp | Via::NodePort(_) | Via::LoadBalancer)
}

/// The server program that a point asks, by name; `None`: the agent.
pub(crate) fn program(server: &ServerSpec) -> Option<String> {
    if server.is_agent() { None } else { Some(server.program.clone()) }
}
