//! Which pods and Services a plan needs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hopbench_model::{Cell, Path, Place, Plan, ServerSpec, Via};
use hopbench_testbed::AgentId;

/// The port on which agents listen, and on which a Service offers them.
pub(crate) const AGENT_PORT: u16 = 7474;
/// The port on which server programs listen, and on which a Service offers them.
pub(crate) const PROGRAM_PORT: u16 = 80;

/// A pod, or on `host` a seat in the node's own namespace: the place, and which one there, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PodId {
    pub(crate) place: Place,
    pub(crate) index: u32,
}

/// `bridge@a`, and the next ones `bridge@a#2` ...
impl fmt::Display for PodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            0 => write!(f, "{}", self.place),
            more => write!(f, "{}#{}", self.place, more + 1),
        }
    }
}

impl PodId {
    /// Whether it is a seat in the node's own namespace, which it shares with others.
    pub(crate) fn is_host(&self) -> bool {
        self.place.network == "host"
    }

    /// The port of its agent: who shares a namespace needs one of its own.
    pub(crate) fn agent_port(&self) -> u16 {
        if self.is_host() { AGENT_PORT + self.index as u16 } else { AGENT_PORT }
    }

    /// The port of a server program in it.
    pub(crate) fn program_port(&self) -> u16 {
        match self.index {
            more @ 1.. if self.is_host() => 8080 + more as u16,
            _ => PROGRAM_PORT,
        }
    }

    /// The agent in it.
    pub(crate) fn agent(&self) -> AgentId {
        AgentId(self.to_string())
    }
}

/// Who takes part in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cast {
    pub(crate) path: Path,
    pub(crate) clients: Vec<PodId>,
    pub(crate) servers: Vec<PodId>,
    /// The number of the path's Service.
    pub(crate) service: Option<usize>,
}

impl Cast {
    /// The pods of a path. Where it begins and ends at the same place, the servers come after the clients.
    pub(crate) fn new(path: &Path, service: Option<usize>) -> Self {
        let pods = |place: &Place, first: u32, count: u32| {
            (first..first.saturating_add(count)).map(|index| PodId { place: place.clone(), index }).collect()
        };
        let first = if path.from == path.to { path.clients } else { 0 };
        Self {
            clients: pods(&path.from, 0, path.clients),
            servers: pods(&path.to, first, path.backends),
            service,
            path: path.clone(),
        }
    }
}

/// What a plan needs of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Demand {
    /// The paths that have cells, by name.
    pub(crate) paths: BTreeMap<String, Cast>,
    /// Their pods, each once however many paths share it.
    pub(crate) pods: BTreeSet<PodId>,
    /// The server programs other than the agent.
    pub(crate) programs: BTreeSet<ServerSpec>,
    /// CPUs that workloads name for the agents of pods.
    pub(crate) named: BTreeMap<PodId, BTreeSet<usize>>,
}

impl Demand {
    /// Of the paths that have cells; of all paths where a plan has no cells at all.
    pub(crate) fn of(plan: &Plan) -> Self {
        let used: BTreeSet<usize> = if plan.cells.is_empty() {
            (0..plan.paths.len()).collect()
        } else {
            plan.cells.iter().map(|cell| cell.path).collect()
        };
        let mut demand = Self::default();
        let mut services = 0..;
        for path in used.into_iter().filter_map(|at| plan.paths.get(at)) {
            let service = if path.via == Via::Direct { None } else { services.next() };
            let cast = Cast::new(path, service);
            demand.pods.extend(cast.clients.iter().chain(&cast.servers).cloned());
            demand.paths.insert(path.name.clone(), cast);
        }
        let points = plan.cells.iter().filter_map(|cell| plan.points.get(cell.point));
        demand.programs = points.map(|point| point.server.clone()).filter(|server| !server.is_agent()).collect();
        for cell in &plan.cells {
            demand.name_cpus(plan, *cell);
        }
        demand
    }

    fn name_cpus(&mut self, plan: &Plan, cell: Cell) {
        let (Some(path), Some(point)) = (plan.paths.get(cell.path), plan.points.get(cell.point)) else { return };
        let Some(cast) = self.paths.get(&path.name) else { return };
        for (pods, cpus) in [(&cast.clients, &point.job.client_cpus), (&cast.servers, &point.job.server_cpus)] {
            let Some(cpus) = cpus else { continue };
            for pod in pods {
                self.named.entry(pod.clone()).or_default().extend(&cpus.0);
            }
        }
    }

    /// The network kinds that are used, by name.
    pub(crate) fn networks(&self) -> BTreeSet<&str> {
        self.pods.iter().map(|pod| pod.place.network.as_str()).collect()
    }

    /// Paths with a Service, in the order of their numbers.
    pub(crate) fn services(&self) -> Vec<(usize, &Cast)> {
        let mut all: Vec<_> = self.paths.values().filter_map(|cast| Some((cast.service?, cast))).collect();
        all.sort_by_key(|(number, _)| *number);
        all
    }
}
