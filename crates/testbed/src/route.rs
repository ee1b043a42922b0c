//! The route of a path: its agents, its target, and what the traffic passes.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopbench_model::proxy_role;

use crate::control::AgentId;

/// The participants of the trials of a path, and their way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The path's name.
    pub path: String,
    /// The clients, at least one.
    pub clients: Vec<AgentId>,
    /// The servers, at least one.
    pub servers: Vec<AgentId>,
    /// Nodes of the clients and of the servers, in the same order.
    pub nodes: Vec<(AgentId, String)>,
    /// CPUs that an agent is held to, and the server program beside it; absent: any of its node.
    pub cpus: BTreeMap<AgentId, Vec<usize>>,
    /// The address that the clients connect to.
    pub target: SocketAddr,
    /// The host name of HTTP requests, by which a gateway knows where they go; absent: the target.
    pub host: Option<String>,
    /// The hops of the traffic, in order: `veth`, `bridge a`, `dnat on a`, `vxlan` ...
    pub hops: Vec<String>,
    /// Processes of the server program, where it is not the agent; their CPU is the server's cost.
    pub programs: Vec<u32>,
    /// The containers of that program, each with the server's agent that sees its processes where
    /// this process does not.
    pub programs_beside: Vec<Beside>,
    /// The proxies in the pods of the path, those that it does not name, too.
    pub proxies: Vec<Proxy>,
    /// The onlookers on nodes of the path that none of its agents is on, one each.
    pub node_onlookers: Vec<NodeOnlooker>,
    /// Why evidence can show only a part of its way; absent: it shows all of it.
    pub partly_proved: Option<String>,
    /// Rate of the slowest link that all of the path's traffic crosses, each direction, bits/s with
    /// Ethernet headers. Absent: not known, or no link is shaped.
    pub link_bits_per_s: Option<u64>,
    /// The largest packet that the ends send, bytes with its IP header; 0: not known.
    pub mtu_bytes: u32,
    /// Bytes that tunnels on the path add to each packet on that link.
    pub tunnel_bytes: u32,
}

impl Route {
    /// The route to this address with no ends and nothing on the way, of which nothing else is
    /// known.
    pub fn to(target: SocketAddr) -> Self {
        Self {
            path: String::new(),
            clients: Vec::new(),
            servers: Vec::new(),
            nodes: Vec::new(),
            cpus: BTreeMap::new(),
            target,
            host: None,
            hops: Vec::new(),
            programs: Vec::new(),
            programs_beside: Vec::new(),
            proxies: Vec::new(),
            node_onlookers: Vec::new(),
            partly_proved: None,
            link_bits_per_s: None,
            mtu_bytes: 0,
            tunnel_bytes: 0,
        }
    }

    /// The agents of all ends: the clients, then the servers.
    pub fn agents(&self) -> impl Iterator<Item = &AgentId> {
        self.clients.iter().chain(&self.servers)
    }

    /// The agents at no end of the path that look at proxies or nodes of it, each once.
    pub fn onlookers(&self) -> Vec<AgentId> {
        let of_proxies = self.proxies.iter().filter_map(Proxy::seen_by_agent);
        let of_nodes = self.node_onlookers.iter().filter(|onlooker| onlooker.absent.is_none());
        let agents = of_proxies.map(|beside| &beside.agent);
        let mut all: Vec<AgentId> = Vec::new();
        for agent in agents.chain(of_nodes.map(|onlooker| &onlooker.agent)) {
            if !all.contains(agent) && !self.agents().any(|end| end == agent) {
                all.push(agent.clone());
            }
        }
        all
    }

    /// The onlookers that are not there, with the reason.
    pub fn absent_onlookers(&self) -> BTreeMap<AgentId, String> {
        let absent =
            |onlooker: &NodeOnlooker| Some((onlooker.agent.clone(), onlooker.absent.clone()?));
        self.node_onlookers.iter().filter_map(absent).collect()
    }

    /// Whether the cost of a server program is read at the edges of a trial's window, here or by
    /// the agents of all servers. If not, only meters of others know it.
    pub fn sees_program(&self) -> bool {
        let is_seen =
            |server: &AgentId| self.programs_beside.iter().any(|beside| beside.agent == *server);
        !self.programs.is_empty() || self.servers.iter().all(is_seen)
    }

    /// Whether the traffic passes by all proxies of the path.
    pub fn bypasses_proxies(&self) -> bool {
        self.proxies.iter().all(|proxy| !proxy.named)
    }
}

/// An agent at no end of a path that looks at a node of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeOnlooker {
    /// The node.
    pub node: String,
    /// The agent on it.
    pub agent: AgentId,
    /// Why it is not there; `None`: it is.
    pub absent: Option<String>,
}

/// An agent whose `/proc` has the processes of a container of the same pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside {
    /// The agent.
    pub agent: AgentId,
    /// The container's id, without the name of its runtime.
    pub container: String,
}

/// A proxy in a pod of a path, or a service that such proxies ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its name on the path: `client-sidecar`, `server-sidecar`, `server-sidecar#2`, `gateway`,
    /// `node-proxy`, `policy`, `telemetry`.
    pub name: String,
    /// The node that it is on.
    pub node: String,
    /// Whether the path names it; the others must not see any traffic.
    pub named: bool,
    /// Its processes, in this process' own `/proc`; empty where they cannot be seen.
    pub pids: Vec<u32>,
    /// The agent that sees its processes where this process does not; absent: none does.
    pub beside: Option<Beside>,
    /// Threads of it that carry traffic.
    pub workers: u32,
    /// CPUs that it is held to; absent: any of its node.
    pub cpus: Option<Vec<usize>>,
}

impl Proxy {
    /// Whether the cost of it is read at the edges of a trial's window, here or by an agent. If
    /// not, only meters of others know it.
    pub fn is_seen(&self) -> bool {
        !self.pids.is_empty() || self.beside.is_some()
    }

    /// By whom it is seen where this process does not see it.
    pub fn seen_by_agent(&self) -> Option<&Beside> {
        self.beside.as_ref().filter(|_| self.pids.is_empty())
    }

    /// Whether it is a service that proxies ask: a process of hopbench, which counts other things
    /// than they do.
    pub fn is_service(&self) -> bool {
        ["policy", "telemetry"].contains(&proxy_role(&self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> AgentId {
        AgentId(name.to_owned())
    }

    fn beside(agent: &str) -> Beside {
        Beside { agent: id(agent), container: "0123456789ab".to_owned() }
    }

    fn proxy(name: &str, pids: Vec<u32>, agent: Option<&str>) -> Proxy {
        Proxy {
            name: name.to_owned(),
            node: "n".to_owned(),
            named: true,
            pids,
            beside: agent.map(beside),
            workers: 1,
            cpus: None,
        }
    }

    fn route(proxies: Vec<Proxy>) -> Route {
        Route {
            path: "p".to_owned(),
            clients: vec![id("client")],
            servers: vec![id("server"), id("server#2")],
            proxies,
            ..Route::to(SocketAddr::from(([127, 0, 0, 1], 1)))
        }
    }

    #[test]
    fn who_looks_at_proxies_from_no_end_is_an_onlooker() {
        let route = route(vec![
            proxy("client-sidecar", Vec::new(), Some("client")),
            proxy("gateway", Vec::new(), Some("gate")),
            proxy("gateway#2", Vec::new(), Some("gate#2")),
            proxy("policy", Vec::new(), Some("asked")),
            proxy("telemetry", Vec::new(), Some("asked")),
            proxy("node-proxy", Vec::new(), None),
            proxy("seen-from-here", vec![1], Some("nobody")),
        ]);
        assert_eq!(route.onlookers(), ["gate", "gate#2", "asked"].map(id));
    }

    #[test]
    fn who_looks_at_a_node_is_an_onlooker_unless_it_is_an_end_or_not_there() {
        let on_node = |agent: &str, absent: Option<&str>| NodeOnlooker {
            node: "n".to_owned(),
            agent: id(agent),
            absent: absent.map(str::to_owned),
        };
        let gateway = proxy("gateway", Vec::new(), Some("gate"));
        let route = Route {
            node_onlookers: vec![
                on_node("alone", None),
                on_node("gate", None),
                on_node("server#2", None),
                on_node("gone", Some("its pod is gone")),
            ],
            ..route(vec![gateway])
        };
        assert_eq!(route.onlookers(), ["gate", "alone"].map(id));
        let absent = [(id("gone"), "its pod is gone".to_owned())];
        assert_eq!(route.absent_onlookers(), absent.into());
    }

    #[test]
    fn a_program_is_seen_here_or_by_the_agents_of_all_servers() {
        let of = |programs: Vec<u32>, agents: &[&str]| {
            let programs_beside = agents.iter().map(|agent| beside(agent)).collect();
            Route { programs, programs_beside, ..route(Vec::new()) }.sees_program()
        };
        assert!(of(vec![1], &[]) && of(Vec::new(), &["server#2", "server"]));
        assert!(!of(Vec::new(), &[]) && !of(Vec::new(), &["server"]));
    }
}
