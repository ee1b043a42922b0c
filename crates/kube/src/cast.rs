//! Who takes part in a path.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Path, Place, ServerSpec, Via};

use crate::pod::{Group, PodId};

/// Who takes part in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cast {
    pub(crate) path: Path,
    pub(crate) clients: Vec<PodId>,
    /// Those that answer, by the server program in them; `None`: the agents themselves.
    pub(crate) servers: BTreeMap<Option<String>, Vec<PodId>>,
    /// Whether datagrams go to its servers.
    pub(crate) datagrams: bool,
}

impl Cast {
    /// The pods of a path. Where it begins and ends at the same place, the servers come after the clients.
    pub(crate) fn new(path: &Path, programs: &BTreeSet<Option<String>>, datagrams: bool) -> Self {
        // Through a Service and straight between the same two pods, connections have the same addresses and ports once
        // they are translated. The one then meets what the kernel still remembers of the other (the connection table,
        // TIME_WAIT), and waits for it. So these servers are this path's alone.
        let alone = if has_service(path) { Group::Path(path.name.clone()) } else { Group::Shared };
        let pods = |place: &Place, group: &Group, program: &Option<String>, first: u32, count: u32| {
            let group = if place.network == "host" { &Group::Shared } else { group };
            let pod = |index| PodId { place: place.clone(), group: group.clone(), program: program.clone(), index };
            (first..first.saturating_add(count)).map(pod).collect::<Vec<_>>()
        };
        let clients = pods(&path.from, &Group::Shared, &None, 0, path.clients);
        let servers = programs.iter().map(|program| {
            let same = clients.first() == pods(&path.to, &alone, program, 0, 1).first();
            (program.clone(), pods(&path.to, &alone, program, if same { path.clients } else { 0 }, path.backends))
        });
        Self { servers: servers.collect(), clients, path: path.clone(), datagrams }
    }

    /// The pods that answer what this server is asked for.
    pub(crate) fn servers_of(&self, server: &ServerSpec) -> &[PodId] {
        self.servers.get(&program(server)).map_or(&[], Vec::as_slice)
    }

    /// Everybody.
    pub(crate) fn pods(&self) -> impl Iterator<Item = &PodId> {
        self.clients.iter().chain(self.servers.values().flatten())
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
    (!server.is_agent()).then(|| server.program.clone())
}
