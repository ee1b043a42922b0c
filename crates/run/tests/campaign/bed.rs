//! A testbed of agents inside this process.

use std::collections::BTreeMap;
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_agent::{Inherited, Limits};
use hopbench_model::{Fault, Path, Plan, Point, Proof, point_label};
use hopbench_sys::clock;
use hopbench_testbed::{
    AgentId, Control, Counters, Gauges, Need, Proxy, Route, Seen, Testbed, of_proxy,
};

use crate::relay::service;

/// What happens on a path, besides what should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// There is no way.
    NoRoute,
    /// The traffic is said to have gone elsewhere.
    NoProof,
    /// Nothing is said of the traffic.
    NoEvidence,
    /// An agent dies this many ms after the conductor took its counters: `true` the last client,
    /// `false` a server.
    Dies(u64, bool),
    /// The path's first proxy is killed this many ms after the conductor took its counters.
    ProxyDies(u64),
    /// The testbed has seen it end.
    ProxyIsGone,
    /// The proxies do not say how they are.
    NoGauges,
}

/// Agents on loopback. A path's clients and servers are its own; several servers stand behind a
/// relay.
#[derive(Debug, Default)]
pub(crate) struct Bed {
    pub(crate) trouble: BTreeMap<String, Trouble>,
    pub(crate) unsupported: Vec<String>,
    pub(crate) missing: Vec<Need>,
    /// Paths in the order they were measured.
    pub(crate) routes: Vec<String>,
    /// Sessions that were opened, by agent.
    pub(crate) opened: BTreeMap<AgentId, u32>,
    pub(crate) is_up: bool,
    /// What it says of itself; nothing: what it always says.
    pub(crate) facts: BTreeMap<String, String>,
    /// The agents' ends of their sessions, for whoever wants to cut one.
    pub(crate) sessions: BTreeMap<AgentId, UnixStream>,
    /// Servers are there from the start: the address is part of the route.
    pub(crate) waiting: BTreeMap<AgentId, Inherited>,
    pub(crate) targets: BTreeMap<String, SocketAddr>,
    /// Connections that are open through the relay of a path.
    pub(crate) open: BTreeMap<String, Arc<AtomicU64>>,
    /// The proxies of each path, played by whatever processes; a relay stands in for them.
    pub(crate) proxies: BTreeMap<String, Vec<Proxy>>,
    /// Where the clients of a path connect to instead of its servers.
    pub(crate) elsewhere: BTreeMap<String, SocketAddr>,
    /// How often counters were read: each proxy has counted three more requests then.
    pub(crate) looks: u64,
    /// By path and point, what each of its proxies says of its memory, trial by trial: the metric
    /// `proxy_rss_bytes`.
    pub(crate) script: BTreeMap<String, Vec<f64>>,
    /// How many trials of each path and point there were.
    pub(crate) trials: BTreeMap<String, usize>,
    /// The path and the point of the last.
    pub(crate) current: String,
}

fn agents(path: &Path, role: &str, count: u32) -> Vec<AgentId> {
    (1..=count).map(|n| AgentId(format!("{role} {n} of {}", path.name))).collect()
}

impl Bed {
    fn end(&mut self, agent: &AgentId) {
        if let Some(session) = self.sessions.get(agent) {
            let _ = session.shutdown(Shutdown::Both);
        }
    }
}

impl Testbed for Bed {
    fn name(&self) -> &'static str {
        "bed"
    }

    fn missing(&mut self, _plan: &Plan) -> Vec<Need> {
        self.missing.clone()
    }

    fn unsupported(&self, path: &Path, point: &Point) -> Option<String> {
        let cell = format!("{} {}", path.name, point.workload);
        let not = self.unsupported.iter().any(|not| *not == path.name || *not == cell);
        not.then(|| "this bed does not do it".to_owned())
    }

    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.is_up = true;
        for path in &plan.paths {
            let mut addresses = Vec::new();
            for agent in agents(path, "server", path.backends) {
                let server =
                    Inherited::open(Some("127.0.0.1:0".parse().unwrap()), Limits::default(), None)?;
                addresses.push(server.address().unwrap());
                self.waiting.insert(agent, server);
            }
            let target = if addresses.len() == 1 && !self.proxies.contains_key(&path.name) {
                addresses[0]
            } else {
                let (target, open) = service(addresses);
                self.open.insert(path.name.clone(), open);
                target
            };
            self.targets.insert(path.name.clone(), target);
        }
        Ok(())
    }

    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault> {
        self.routes.push(path.name.clone());
        self.current = format!("{} {}", path.name, point_label(&point.point)).trim_end().to_owned();
        *self.trials.entry(self.current.clone()).or_default() += 1;
        if self.trouble.get(&path.name) == Some(&Trouble::NoRoute) {
            return Err(Fault::environment("the road is closed"));
        }
        let (clients, servers) =
            (agents(path, "client", path.clients), agents(path, "server", path.backends));
        let named = |agents: &[AgentId], node: &str| -> Vec<_> {
            agents.iter().map(|agent| (agent.clone(), node.to_owned())).collect()
        };
        Ok(Route {
            path: path.name.clone(),
            nodes: [named(&clients, "a"), named(&servers, "b")].concat(),
            clients,
            servers,
            hops: vec!["loopback".to_owned()],
            proxies: self.proxies.get(&path.name).cloned().unwrap_or_default(),
            ..Route::to(
                *self.elsewhere.get(&path.name).unwrap_or_else(|| &self.targets[&path.name]),
            )
        })
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        *self.opened.entry(agent.clone()).or_default() += 1;
        let (ours, theirs) = UnixStream::pair().unwrap();
        self.sessions.insert(agent.clone(), theirs.try_clone().unwrap());
        let served = match self.waiting.remove(agent) {
            Some(server) => server,
            // A server that died gets a new port, which its route does not know: only clients come
            // back here.
            None => Inherited::open(None, Limits::default(), None)?,
        };
        std::thread::spawn(move || drop(served.serve_over(theirs)));
        Ok(Control::Pair(ours))
    }

    fn process(&self, _agent: &AgentId) -> Option<u32> {
        Some(std::process::id())
    }

    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        if let Some(Trouble::Dies(ms, client)) = self.trouble.get(&route.path).copied() {
            let victim =
                if client { route.clients.last() } else { route.servers.last() }.unwrap().clone();
            let session = self.sessions[&victim].try_clone().unwrap();
            std::thread::spawn(move || {
                clock::sleep_until(clock::now() + ms * 1_000_000);
                let _ = session.shutdown(Shutdown::Both);
            });
            self.trouble.remove(&route.path);
        }
        if let Some(Trouble::ProxyDies(ms)) = self.trouble.get(&route.path).copied() {
            let pid = route.proxies[0].pids[0].to_string();
            std::thread::spawn(move || {
                clock::sleep_until(clock::now() + ms * 1_000_000);
                let _ = Command::new("kill").args(["-9", &pid]).status();
            });
            self.trouble.insert(route.path.clone(), Trouble::ProxyIsGone);
        } else if let Some(Trouble::ProxyIsGone) = self.trouble.get(&route.path) {
            self.trouble.remove(&route.path);
            return Err(Fault::measuring(
                "a sidecar has ended (signal: 9 (SIGKILL)); its last words:\nout of memory",
            ));
        }
        self.looks += 1;
        let mut counters = Counters::from([("trials".to_owned(), self.routes.len() as u64)]);
        counters.extend(
            route.proxies.iter().map(|proxy| (of_proxy(&proxy.name, "requests"), 3 * self.looks)),
        );
        Ok(counters)
    }

    fn gauges(&mut self, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        if self.trouble.get(&route.path) == Some(&Trouble::NoGauges) {
            return Err(Fault::measuring("the admin endpoint does not answer"));
        }
        let open = self.open[&route.path].load(Ordering::SeqCst) as f64;
        let mut gauges =
            Gauges::from([("workers".to_owned(), 2.0), ("active_connections".to_owned(), open)]);
        if let Some(script) = self.script.get(&self.current) {
            gauges.insert("rss_bytes".to_owned(), script[self.trials[&self.current] - 1]);
        }
        Ok(route.proxies.iter().map(|proxy| (proxy.name.clone(), gauges.clone())).collect())
    }

    fn prove(
        &self,
        route: &Route,
        before: &Counters,
        after: &Counters,
        seen: &Seen<'_>,
    ) -> Vec<Proof> {
        assert_eq!(before["trials"], after["trials"], "nothing else is measured in between");
        assert!(seen.clients.iter().all(|(agent, _)| seen.machines.contains_key(agent)));
        if self.trouble.get(&route.path) == Some(&Trouble::NoEvidence) {
            return Vec::new();
        }
        let ok = self.trouble.get(&route.path) != Some(&Trouble::NoProof);
        vec![Proof { hop: "loopback".to_owned(), evidence: "1 packet".to_owned(), ok }]
    }

    fn facts(&self) -> BTreeMap<String, String> {
        if !self.facts.is_empty() {
            return self.facts.clone();
        }
        BTreeMap::from([("bed".to_owned(), "loopback".to_owned())])
    }

    fn down(&mut self) {
        let agents: Vec<_> = self.sessions.keys().cloned().collect();
        agents.iter().for_each(|agent| self.end(agent));
        self.is_up = false;
    }
}
