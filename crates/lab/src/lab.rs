//! The lab as a testbed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use hopbench_model::{CpuSet, Fault, LabSpec, Path, Plan, Point, Proof, ServerSpec, Via};
use hopbench_testbed::{AgentId, Control, Counters, Need, Route, Seen, Testbed};

use crate::addresses;
use crate::agents::{Agents, Around, Seat};
use crate::built::{Built, refused};
use crate::counters;
use crate::cpus;
use crate::demand::{AGENT_PORT, Cast, Demand, PROGRAM_PORT, PodId};
use crate::facts;
use crate::kinds::kind;
use crate::needs;
use crate::processes;
use crate::proof::{self, Known};
use crate::readback;
use crate::runtimes::runtime;
use crate::servers::{Running, Task, server, sizes};
use crate::trail::Trail;

/// A lab of network namespaces. The process must be in namespaces of its own (see `Sandbox`) or be root.
#[derive(Debug)]
pub struct Lab {
    spec: LabSpec,
    demand: Demand,
    steering: Result<(), String>,
    /// What the kernel and the programs said when the lab stood.
    read_back: BTreeMap<String, String>,
    // Dropped in this order: nobody may use a namespace that is about to go.
    programs: BTreeMap<(String, PodId), Running>,
    agents: Agents,
    built: Option<Built>,
}

impl Lab {
    /// A lab as `spec` says, not built yet. What agents write to their standard error goes to `log`.
    pub fn new(spec: &LabSpec, log: Option<File>) -> Self {
        // The agents are this very program, also when its file was replaced meanwhile.
        Self::with_agent(spec, log, "/proc/self/exe".into())
    }

    /// The same with another program for the agents.
    pub fn with_agent(spec: &LabSpec, log: Option<File>, program: PathBuf) -> Self {
        Self {
            spec: spec.clone(),
            demand: Demand::default(),
            steering: Ok(()),
            read_back: BTreeMap::new(),
            programs: BTreeMap::new(),
            agents: Agents::new(program, log),
            built: None,
        }
    }

    /// Builds everything; no agent is started yet.
    ///
    /// # Errors
    /// What could not be had; whatever was built until then is gone.
    pub fn build(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.down();
        let demand = Demand::of(plan);
        needs::open_files(&self.spec, &demand).map_err(Fault::environment)?;
        let mut built = Built::build(&self.spec, &demand)?;
        self.steering = self.place(&mut built, plan);
        self.read_back = readback::links(&self.spec, &mut built).map_err(refused("cannot read back what was set"))?;
        self.read_back.extend(readback::programs(&demand));
        self.demand = demand;
        self.built = Some(built);
        Ok(())
    }

    /// Gives the nodes CPUs of their own, where there are enough.
    fn place(&self, built: &mut Built, plan: &Plan) -> Result<(), String> {
        let allowed = hopbench_sys::cpu::allowed().map_err(|e| e.to_string())?;
        let number = |name: &str| built.nodes.iter().position(|node| node.spec.name == name);
        let ends: Vec<(usize, usize)> =
            plan.paths.iter().filter_map(|path| Some((number(&path.from.node)?, number(&path.to.node)?))).collect();
        let shares = cpus::deal(&allowed, built.nodes.len(), &ends)?;
        for (node, share) in built.nodes.iter_mut().zip(shares) {
            node.cpus = Some(share);
        }
        for node in &built.nodes {
            let cpus = node.cpus.as_deref().unwrap_or_default();
            let pods = built.pods.keys().filter(|pod| pod.place.node == node.spec.name && !pod.is_host());
            for stack in pods.filter_map(|pod| built.stack(pod)).chain([&node.stack]) {
                cpus::steer(stack, cpus).map_err(|e| format!("node {}: {e}", node.spec.name))?;
            }
        }
        Ok(())
    }

    fn cast(&self, path: &str) -> Result<&Cast, Fault> {
        self.demand.paths.get(path).ok_or_else(|| Fault::input(format!("path `{path}` is not part of this lab's plan")))
    }

    fn standing(&self) -> Result<&Built, Fault> {
        self.built.as_ref().ok_or_else(|| Fault::input("the lab is not built"))
    }

    /// The pod that an agent is in.
    fn pod(&self, agent: &AgentId) -> Result<&PodId, Fault> {
        let pod = self.demand.pods.iter().find(|pod| pod.to_string() == agent.0);
        pod.ok_or_else(|| Fault::input(format!("agent `{agent}` is not part of this lab's plan")))
    }

    /// The inode of the network namespace of a place's first pod, or of a node.
    ///
    /// # Errors
    /// A place that was not built.
    pub fn namespace(&self, place: &str) -> Result<&crate::namespace::Namespace, Fault> {
        let built = self.standing()?;
        if let Some(node) = built.node(place) {
            return Ok(&node.stack.namespace);
        }
        let pod = built.pods.keys().find(|pod| pod.to_string() == place);
        let stack = pod.and_then(|pod| built.stack(pod));
        stack.map(|stack| &stack.namespace).ok_or_else(|| {
            let known: Vec<String> = self.places().into_iter().map(|(name, _)| name).collect();
            Fault::input(format!("the lab has no place `{place}`; it has {}", known.join(", ")))
        })
    }

    /// Nodes, and pods with their addresses.
    pub fn places(&self) -> Vec<(String, Ipv4Addr)> {
        let Some(built) = &self.built else { return Vec::new() };
        let nodes = built.nodes.iter().map(|node| (node.spec.name.clone(), addresses::node(node.number)));
        let pods = built.pods.iter().filter(|(id, _)| !id.is_host()).map(|(id, pod)| (id.to_string(), pod.address));
        nodes.chain(pods).collect()
    }

    /// CPUs that an agent is held to: its node's, and those that a workload names for it. A job that names CPUs takes
    /// those of them only; the others have all.
    fn agent_cpus(&self, pod: &PodId) -> Option<Vec<usize>> {
        let of_node = self.built.as_ref()?.node(&pod.place.node)?.cpus.as_ref()?;
        let named = self.demand.named.get(pod).into_iter().flatten();
        let all: BTreeSet<usize> = of_node.iter().chain(named).copied().collect();
        Some(all.into_iter().collect())
    }

    /// The process of an agent.
    pub fn pid(&self, agent: &AgentId) -> Option<u32> {
        self.agents.pid(agent)
    }

    /// Starts the server program in the pods of a path's servers where it does not run yet; its processes.
    fn start_programs(&mut self, path: &str, name: &str) -> Result<Vec<u32>, Fault> {
        let pods = self.cast(path)?.servers.clone();
        let server = server(name).ok_or_else(|| Fault::input(format!("the lab has no server program `{name}`")))?;
        let sizes = sizes(self.demand.programs.iter().filter(|spec| spec.program == name));
        let mut pids = Vec::new();
        for pod in pods {
            let key = (name.to_owned(), pod.clone());
            let mut running = self.programs.get_mut(&key).and_then(Running::pids);
            if running.is_none() {
                // The old one must be gone before the new one can have its port.
                self.programs.remove(&key);
                let built = self.standing()?;
                let stack = built.stack(&pod).ok_or_else(|| Fault::input(format!("pod {pod} is not built")))?;
                let cpus = built.node(&pod.place.node).and_then(|node| node.cpus.as_deref());
                let task = Task { server, port: pod.program_port(), sizes: &sizes, cpus };
                let mut started =
                    Running::start(stack, &task).map_err(refused(format!("cannot start {name} in {pod}")))?;
                running = started.pids();
                self.programs.insert(key, started);
            }
            pids.extend(running.ok_or_else(|| Fault::environment(format!("{name} in {pod} ended at once")))?);
        }
        Ok(pids)
    }

    /// Where the clients of a path connect to.
    fn target(&self, cast: &Cast, server: &ServerSpec) -> Result<SocketAddr, Fault> {
        let built = self.standing()?;
        let node_address = |name: &str| built.node(name).map(|node| addresses::node(node.number));
        let target = match (&cast.path.via, cast.service) {
            (Via::Direct | Via::Gateway(_), _) | (_, None) => {
                let first = cast.servers.first().and_then(|pod| Some((pod, built.pods.get(pod)?)));
                first.map(|(id, pod)| {
                    let port = if server.is_agent() { id.agent_port() } else { id.program_port() };
                    (pod.address, port)
                })
            }
            (Via::ClusterIp, Some(service)) => {
                let port = if server.is_agent() { AGENT_PORT } else { PROGRAM_PORT };
                Some((addresses::service(service), port))
            }
            (Via::NodePort(node), Some(service)) => {
                let (agent, program) = addresses::node_ports(service);
                node_address(node).map(|address| (address, if server.is_agent() { agent } else { program }))
            }
        };
        let (address, port) =
            target.ok_or_else(|| Fault::input(format!("path `{}` has nowhere to connect to", cast.path.name)))?;
        Ok(SocketAddr::from((address, port)))
    }

    fn describe(&self, cast: &Cast, trail: &Trail) -> (Option<u64>, u32, u32) {
        let links = self.spec.nodes.iter().filter(|node| trail.nics.contains(&node.name));
        let zone = self.spec.zone_link_bits_per_s.filter(|_| trail.crosses_zones);
        let rate = links.filter_map(|node| node.link_bits_per_s).chain(zone).min();
        let header = |network: &str| kind(network).map_or(0, |kind| kind.header_bytes());
        let most = header(&cast.path.from.network).max(header(&cast.path.to.network));
        let tunnel = if trail.is_tunnelled() { most } else { 0 };
        (rate, self.spec.mtu.saturating_sub(most), tunnel)
    }
}

impl Testbed for Lab {
    fn name(&self) -> &'static str {
        "lab"
    }

    fn missing(&mut self, plan: &Plan) -> Vec<Need> {
        needs::missing(&self.spec, plan)
    }

    fn unsupported(&self, path: &Path, point: &Point) -> Option<String> {
        needs::unsupported(path, point)
    }

    /// Agents are started when they are asked for: one that nobody speaks to for long ends.
    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.build(plan)
    }

    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault> {
        let server = &point.server;
        let programs = if server.is_agent() { Vec::new() } else { self.start_programs(&path.name, &server.program)? };
        let cast = self.cast(&path.name)?;
        let trail = Trail::of(cast, &self.spec);
        let (link_bits_per_s, mtu_bytes, tunnel_bytes) = self.describe(cast, &trail);
        let everybody = cast.clients.iter().chain(&cast.servers);
        let built = self.standing()?;
        let programs_in = |pod: &PodId| !server.is_agent() && cast.servers.contains(pod);
        let cpus = |pod: &PodId| {
            let of_node = || built.node(&pod.place.node)?.cpus.clone();
            let cpus = if programs_in(pod) { of_node() } else { self.agent_cpus(pod) };
            Some((pod.agent(), cpus?))
        };
        let (from, to) = (cast.path.from.runtime.clone(), cast.path.to.runtime.clone());
        let hops = from.into_iter().chain(trail.hops).chain(to).collect();
        Ok(Route {
            path: path.name.clone(),
            clients: cast.clients.iter().map(PodId::agent).collect(),
            servers: cast.servers.iter().map(PodId::agent).collect(),
            nodes: everybody.clone().map(|pod| (pod.agent(), pod.place.node.clone())).collect(),
            cpus: everybody.filter_map(cpus).collect(),
            target: self.target(cast, server)?,
            hops,
            programs,
            proxies: Vec::new(),
            link_bits_per_s,
            mtu_bytes,
            tunnel_bytes,
        })
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        let pod = self.pod(agent)?.clone();
        let built = self.built.as_ref().ok_or_else(|| Fault::input("the lab is not built"))?;
        let cpus = self.agent_cpus(&pod);
        let seat = seat(built, &pod, cpus.as_deref())?;
        self.agents.control(agent, seat).map(Control::Pair)
    }

    fn sandbox(&self, agent: &AgentId) -> Vec<u32> {
        self.agents.beneath(agent)
    }

    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        let cast = self.cast(&route.path)?.clone();
        let trail = Trail::of(&cast, &self.spec);
        let built = self.built.as_mut().ok_or_else(|| Fault::input("the lab is not built"))?;
        counters::read(built, &cast, &trail)
    }

    fn prove(&self, route: &Route, before: &Counters, after: &Counters, seen: &Seen<'_>) -> Vec<Proof> {
        let (Ok(cast), Ok(built)) = (self.cast(&route.path), self.standing()) else {
            let evidence = format!("path `{}` is not part of the lab", route.path);
            return vec![Proof { hop: "lab".to_owned(), evidence, ok: false }];
        };
        let service = built.services.get(&route.path);
        let inode = |pod| built.stack(pod).map(|stack| (pod, stack.namespace.inode()));
        let in_runtime = |pod: &&PodId| pod.place.runtime.is_some();
        let networks = |pod: &PodId| -> BTreeSet<u64> {
            self.agents.beneath(&pod.agent()).into_iter().filter_map(processes::network_of).collect()
        };
        // Only those that were started: without agents there is nobody to hold.
        let held = |pod: &'_ PodId| {
            let pid = self.agents.pid(&pod.agent())?;
            let all = std::iter::once(pid).chain(self.agents.beneath(&pod.agent()));
            Some((self.agent_cpus(pod)?, all.filter_map(processes::cpus_of).collect()))
        };
        let known = Known {
            tunnels: &built.tunnels,
            held: cast.clients.iter().chain(&cast.servers).filter_map(|pod| Some((pod, held(pod)?))).collect(),
            sandboxes: cast
                .clients
                .iter()
                .chain(&cast.servers)
                .filter(in_runtime)
                .map(|pod| (pod, networks(pod)))
                .collect(),
            kernel: proof::own_kernel(),
            cast,
            trail: &Trail::of(cast, &self.spec),
            service,
            namespaces: cast.clients.iter().chain(&cast.servers).filter_map(inode).collect(),
            peers: proof::peers(
                cast,
                service,
                |pod| built.pods.get(pod).map(|pod| pod.address),
                |node| built.node(node).map(|node| node.addresses.clone()).unwrap_or_default(),
            ),
        };
        proof::prove(&known, before, after, seen)
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let Some(built) = &self.built else { return BTreeMap::new() };
        let mut facts = facts::facts(&self.spec, built, &self.steering);
        facts.extend(self.read_back.clone());
        let wider = self.demand.named.keys().filter_map(|pod| Some((pod, self.agent_cpus(pod)?)));
        facts.extend(
            wider.map(|(pod, cpus)| {
                (format!("agent {pod} cpus"), format!("{}: a workload names its CPUs", CpuSet(cpus)))
            }),
        );
        facts
    }

    fn down(&mut self) {
        self.programs.clear();
        self.agents.stop();
        self.built = None;
        self.demand = Demand::default();
    }
}

/// Where the agent of a pod runs.
fn seat<'a>(built: &'a Built, pod: &PodId, cpus: Option<&'a [usize]>) -> Result<Seat<'a>, Fault> {
    let stack = built.stack(pod).ok_or_else(|| Fault::input(format!("pod {pod} is not built")))?;
    let around = match &pod.place.runtime {
        None => None,
        Some(name) => {
            let layout = built.pods.get(pod).and_then(|pod| pod.layout.as_ref());
            let around = runtime(name).zip(layout).map(|(runtime, layout)| Around { runtime, layout });
            Some(around.ok_or_else(|| Fault::input(format!("{}: the lab has no such pod in a runtime", pod.place)))?)
        }
    };
    Ok(Seat { stack, port: pod.agent_port(), cpus, around })
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.down();
    }
}
