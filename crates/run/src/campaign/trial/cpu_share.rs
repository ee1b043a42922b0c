//! The share of CPUs that a trial used, for searches that hold it down.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{CPUS_SETTING, CpuOf, CpuSet, EndReport, Job, NodeCost, Record, proxy_role};
use hopbench_testbed::{AgentId, MeteredKind, Route};
use hopbench_wire::Hello;

use crate::assemble::threads;
use crate::metered::{LoadTimes, seen_share, under_load};

/// The metric with the share, 0 to 1; absent where it is not known.
pub(in crate::campaign) const CPU_SHARE: &str = "cpu_share";

/// Facts about a trial besides its record.
pub(super) struct Known<'a> {
    pub(super) job: &'a Job,
    pub(super) route: &'a Route,
    /// What the agents said of themselves, the clients first.
    pub(super) hellos: &'a [Hello],
    /// What each client saw, and each server.
    pub(super) reports: [&'a [Option<EndReport>]; 2],
    pub(super) load: &'a LoadTimes,
    /// Whether agents answer, and no server program.
    pub(super) is_by_agents: bool,
    /// The CPU limits of the programs beside the servers' agents, cores; `None`: none is known.
    pub(super) program_limits: &'a [Option<f64>],
}

/// Puts the share of CPU into the record.
pub(super) fn enter(record: &mut Record, of: &CpuOf, known: &Known<'_>) -> Result<(), String> {
    let share =
        known.share(record, of).map_err(|why| format!("its share of CPU is not known: {why}"))?;
    record.metrics.insert(CPU_SHARE.to_owned(), share);
    Ok(())
}

impl Known<'_> {
    fn share(&self, record: &Record, of: &CpuOf) -> Result<f64, String> {
        let Self { route, job, reports: [clients, servers], .. } = self;
        let of_side = |name: &str, cost: Option<&f64>| {
            let why = || {
                record
                    .settings
                    .get(&format!("{name}_sandbox"))
                    .or_else(|| record.settings.get("server_program"))
            };
            cost.copied().ok_or_else(|| {
                why().cloned().unwrap_or_else(|| format!("nobody saw the {name}'s processes"))
            })
        };
        match of {
            CpuOf::Node(node) => self.of_node(record, node),
            CpuOf::Nodes(nodes) => {
                let mut most: f64 = 0.0;
                for node in nodes {
                    most = most.max(self.of_node(record, node)?);
                }
                Ok(most)
            }
            CpuOf::Proxy(name) => self.of_proxy(record, name),
            CpuOf::Client => {
                let cores = of_side("client", record.cost.client.get("cores"))?;
                let cpus = self.usable(
                    record,
                    &route.clients,
                    clients,
                    job.client_cpus.as_ref().map(|c| &*c.0),
                )?;
                let threads = f64::from(threads(job, job.connections)) * route.clients.len() as f64;
                Ok(cores / cpus.min(threads))
            }
            CpuOf::Server => {
                let cores = of_side("server", record.cost.server.get("cores"))?;
                // On a cluster a program is in a container of its own.
                if !self.is_by_agents && route.programs.is_empty() {
                    return Ok(cores / self.usable_beside(record)?);
                }
                // Where a program serves, nobody puts its threads where the job would have them.
                let pinned = job.server_cpus.as_ref().filter(|_| self.is_by_agents).map(|c| &*c.0);
                Ok(cores / self.usable(record, &route.servers, servers, pinned)?)
            }
        }
    }

    /// How many CPUs the agents of a side, and what they stand beside, may use together.
    fn usable(
        &self,
        record: &Record,
        agents: &[AgentId],
        reports: &[Option<EndReport>],
        pinned: Option<&[usize]>,
    ) -> Result<f64, String> {
        if let Some(pinned) = pinned {
            return Ok(pinned.len() as f64);
        }
        let mut all = BTreeSet::new();
        for (agent, report) in agents.iter().zip(reports) {
            let confined = || report.as_ref()?.settings.get(CPUS_SETTING)?.parse::<CpuSet>().ok();
            match self.route.cpus.get(agent).cloned().or_else(|| confined().map(|set| set.0)) {
                Some(cpus) => all.extend(cpus),
                // One that may go anywhere has the whole node.
                None => return self.cpus_of(record, self.node_of(agent)),
            }
        }
        Some(all.len() as f64)
            .filter(|cpus| *cpus > 0.0)
            .ok_or_else(|| "nobody was there".to_owned())
    }

    /// How many CPUs the server programs may use together: on each node what their limits allow, if
    /// all have one. The agents' own CPUs say nothing of that.
    fn usable_beside(&self, record: &Record) -> Result<f64, String> {
        let mut nodes: BTreeMap<&str, Option<f64>> = BTreeMap::new();
        for (server, limit) in self.route.servers.iter().zip(self.program_limits) {
            let node = if record.cost.one_machine { "" } else { self.node_of(server) };
            let limits = nodes.entry(node).or_insert(Some(0.0));
            *limits = limits.zip(*limit).map(|(limits, limit)| limits + limit);
        }
        let usable = nodes.into_iter().map(|(node, limits)| {
            let cpus = self.cpus_of(record, node)?;
            Ok(limits.map_or(cpus, |limits| limits.min(cpus)))
        });
        usable.sum()
    }

    fn node_of(&self, agent: &AgentId) -> &str {
        self.route.nodes.iter().find(|(id, _)| id == agent).map_or("", |(_, node)| node)
    }

    /// A node's machine, as an agent there saw it; of nodes that are one machine all have seen the
    /// same.
    fn machine<'r>(&self, record: &'r Record, node: &str) -> Option<&'r NodeCost> {
        let seen = || record.cost.nodes.iter().filter(|cost| !cost.per_cpu_busy.is_empty());
        seen()
            .find(|cost| cost.name == node)
            .or_else(|| seen().next().filter(|_| record.cost.one_machine))
    }

    /// The number of CPUs of a node.
    fn cpus_of(&self, record: &Record, node: &str) -> Result<f64, String> {
        let seen = self.machine(record, node).map(|cost| cost.per_cpu_busy.len() as f64);
        let told = || {
            let agents = self.route.agents().zip(self.hellos);
            let mut counts = agents.filter(|(agent, _)| self.node_of(agent) == node);
            counts.find_map(|(_, hello)| hello.machine.get("cpu_count")?.parse().ok())
        };
        let cpus = seen.or_else(told).filter(|cpus: &f64| *cpus > 0.0);
        cpus.ok_or_else(|| format!("nobody knows how many CPUs the node {node} has"))
    }

    /// The CPUs that a node of this machine has for itself; empty: it has all of them, or is a
    /// machine.
    fn own(&self, record: &Record, node: &str) -> BTreeSet<usize> {
        let agents = self.route.nodes.iter().filter(|(_, name)| name == node);
        let of_agents = agents.filter_map(|(agent, _)| self.route.cpus.get(agent));
        let proxies = self.route.proxies.iter().filter(|proxy| proxy.node == node);
        let all = of_agents.chain(proxies.filter_map(|proxy| proxy.cpus.as_ref()));
        all.flatten().copied().filter(|_| record.cost.one_machine).collect()
    }

    fn of_node(&self, record: &Record, node: &str) -> Result<f64, String> {
        if let Some(cost) = self.machine(record, node) {
            let own = self.own(record, node);
            let busy: Vec<f64> =
                own.iter().filter_map(|cpu| cost.per_cpu_busy.get(*cpu).copied()).collect();
            if busy.is_empty() {
                return Ok(cost.busy_cores / cost.per_cpu_busy.len() as f64);
            }
            // A kernel that samples misses short work; a process' own time is exact.
            let seen = busy.iter().sum::<f64>().max(self.processes_on(record, node));
            return Ok(seen / busy.len() as f64);
        }
        if let Some(share) = seen_share(&record.cost.metered, node) {
            return Ok(share);
        }
        match under_load(&record.cost.metered, MeteredKind::Node, node, self.load) {
            Some(Ok(metered)) => Ok(metered.figures["cores"] / self.cpus_of(record, node)?),
            Some(Err(why)) => Err(why),
            None => Err(format!(
                "nobody saw the CPU of the node {node}: no end of the path is there, and no meter \
                 read it"
            )),
        }
    }

    /// Cores that processes of the trial used on a node.
    fn processes_on(&self, record: &Record, node: &str) -> f64 {
        let sides = [
            ("client", &self.route.clients, &record.cost.client),
            ("server", &self.route.servers, &record.cost.server),
        ];
        let here = |(role, agents, cost): (&str, &Vec<AgentId>, &BTreeMap<String, f64>)| {
            let is_here = |agent: &AgentId| self.node_of(agent) == node;
            if !agents.is_empty() && agents.iter().all(is_here) {
                return cost.get("cores").copied();
            }
            // Of a set of nodes, each member says where it is.
            let members = record.cost.members.iter();
            let here = members.filter(|member| member.role == role && member.node == node);
            Some(here.filter_map(|member| member.cpu_s).sum::<f64>() / record.window_s)
        };
        let ends: f64 = sides.into_iter().filter_map(here).sum();
        let proxies = record.cost.proxies.iter().filter(|proxy| proxy.node == node);
        ends + proxies.filter_map(|proxy| proxy.figures.get("cores")).sum::<f64>()
    }

    /// The busiest of the proxies of this name, as a share of its workers.
    fn of_proxy(&self, record: &Record, name: &str) -> Result<f64, String> {
        let is = |found: &str| found == name || proxy_role(found) == name;
        let mut most: Option<f64> = None;
        for cost in record.cost.proxies.iter().filter(|cost| is(&cost.name)) {
            let said = || record.settings.get(&format!("proxy_{}", cost.name)).cloned();
            let cores = cost
                .figures
                .get("cores")
                .ok_or_else(|| said().unwrap_or_else(|| "nobody saw it".to_owned()))?;
            let proxy = self.route.proxies.iter().find(|proxy| proxy.name == cost.name);
            let held = proxy.and_then(|proxy| proxy.cpus.as_ref()).map(|cpus| cpus.len() as f64);
            let cpus = held.or_else(|| self.cpus_of(record, &cost.node).ok());
            let told = || cost.figures.get("workers").copied().filter(|workers| *workers > 0.0);
            let workers = proxy
                .map(|proxy| f64::from(proxy.workers))
                .filter(|workers| *workers > 0.0)
                .or_else(told);
            let room = match (workers, cpus) {
                (Some(workers), Some(cpus)) => workers.min(cpus),
                (one, other) => one.or(other).ok_or_else(|| {
                    format!("nobody knows the workers of the proxy {}", cost.name)
                })?,
            };
            most = Some(most.map_or(cores / room, |most| most.max(cores / room)));
        }
        most.ok_or_else(|| {
            let known: Vec<&str> =
                record.cost.proxies.iter().map(|cost| cost.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("the path has no proxy {name}; it has {known}")
        })
    }
}

#[cfg(test)]
mod tests;
