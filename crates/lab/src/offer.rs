//! What is asked of a path's servers, and at which port: who answers, and what proxies take the traffic for.

use std::collections::BTreeSet;

use hopbench_mesh::{App, Exposed, Protocol};
use hopbench_model::{Job, MeshMode, Plan, Point, ServerSpec};

use crate::pod::PodId;

/// Who answers, and what proxies take the connections for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Offer {
    pub(crate) app: App,
    pub(crate) protocol: Protocol,
}

/// Everything that a server can be asked for, in the order of the ports that Services and gateways have for it.
pub(crate) const OFFERS: [Offer; 3] = [
    Offer { app: App::Agent, protocol: Protocol::Tcp },
    Offer { app: App::Agent, protocol: Protocol::Http },
    Offer { app: App::Program, protocol: Protocol::Http },
];

impl Offer {
    /// What a point asks for.
    pub(crate) fn of(job: &Job, server: &ServerSpec) -> Self {
        let app = if server.is_agent() { App::Agent } else { App::Program };
        // A server program speaks nothing else.
        let http = job.workload == "http" || app == App::Program;
        Self { app, protocol: if http { Protocol::Http } else { Protocol::Tcp } }
    }

    /// What the points of a path ask for through proxies; everything where a plan has no cells.
    pub(crate) fn all(plan: &Plan, path: usize) -> BTreeSet<Self> {
        if plan.cells.is_empty() {
            return BTreeSet::from(OFFERS);
        }
        let points = plan.cells.iter().filter(|cell| cell.path == path).filter_map(|cell| plan.points.get(cell.point));
        let proxied = points.filter(|point| !bypasses(&point.job));
        proxied.map(|Point { job, server, .. }| Self::of(job, server)).collect()
    }

    /// Its position in [`OFFERS`].
    pub(crate) fn position(self) -> usize {
        OFFERS.iter().position(|offer| *offer == self).unwrap_or_default()
    }

    /// Its word in the names of routes: `agent-tcp`.
    pub(crate) fn word(self) -> &'static str {
        ["agent-tcp", "agent-http", "program-http"][self.position()]
    }

    /// The port of whoever answers in this pod.
    pub(crate) fn own_port(self, pod: &PodId) -> u16 {
        match self.app {
            App::Agent => pod.agent_port(),
            App::Program => pod.program_port(),
        }
    }

    /// The port that stands for it in a mode.
    pub(crate) fn exposed(self, mode: MeshMode) -> u16 {
        Exposed { app: self.app, protocol: self.protocol, mode }.port()
    }

    /// The port at which a server's pod is entered: the one that its sidecar takes, or whoever answers has.
    pub(crate) fn entry(self, pod: &PodId, mode: MeshMode) -> u16 {
        if mode.has_server() { self.exposed(mode) } else { self.own_port(pod) }
    }

    /// The port of a gateway for it.
    pub(crate) fn gateway(self) -> u16 {
        [7474, 7475, 80][self.position()]
    }
}

/// Whether the traffic of a job passes by proxies: they take TCP only.
pub(crate) fn bypasses(job: &Job) -> bool {
    matches!(job.workload.as_str(), "udp" | "ping") || job.params["udp"].as_bool() == Some(true)
}
