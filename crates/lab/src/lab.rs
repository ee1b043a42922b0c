//! The lab as a testbed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use hopbench_control::conductor::Conductor;
use hopbench_model::{Bounds, CpuSet, Fault, LabSpec, Path, Plan, Point, Proof, SignedPermit, Via};
use hopbench_testbed::{AgentId, Control, Counters, Gauges, Need, Route, Seen, Testbed};

use crate::addresses;
use crate::agents::{Agents, Around, Seat};
use crate::built::{Built, refused};
use crate::cast::Cast;
use crate::counters;
use crate::cpus;
use crate::demand::Demand;
use crate::facts;
use crate::kinds::kind;
use crate::mesh::Mesh;
use crate::needs;
use crate::pod::PodId;
use crate::posts;
use crate::processes;
use crate::programs::Programs;
use crate::proof::{self, Known};
use crate::readback;
use crate::runtimes::runtime;
use crate::target::target;
use crate::trail::Trail;

/// A lab of network namespaces. The process must be in namespaces of its own (see `Sandbox`) or be root.
#[derive(Debug)]
pub struct Lab {
    spec: LabSpec,
    demand: Demand,
    steering: Result<(), String>,
    /// Signs what the agents may do.
    conductor: Option<Conductor>,
    /// Where the clients of the plan's cells connect to.
    targets: BTreeSet<SocketAddr>,
    /// What the kernel and the programs said when the lab stood.
    read_back: BTreeMap<String, String>,
    // Dropped in this order: nobody may use a namespace that is about to go.
    programs: Programs,
    mesh: Mesh,
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
        // Whoever cannot share the log goes without one.
        let of_proxies = log.as_ref().and_then(|log| log.try_clone().ok());
        Self {
            spec: spec.clone(),
            demand: Demand::default(),
            steering: Ok(()),
            conductor: None,
            targets: BTreeSet::new(),
            read_back: BTreeMap::new(),
            programs: Programs::default(),
            mesh: Mesh::new(program.clone(), of_proxies),
            agents: Agents::new(program, log),
            built: None,
        }
    }

    /// Builds everything and starts the proxies; no agent is started yet.
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
        self.mesh.build(&demand, &built)?;
        let conductor = Conductor::new().map_err(Fault::environment)?;
        self.agents.are_of(conductor.run_key());
        self.conductor = Some(conductor);
        self.targets = targets(&built, &demand, plan);
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
        let gateway = |path: &Path| if let Via::Gateway(node) = &path.via { number(node) } else { None };
        let with = |path: &Path, end: &str| Some((number(end)?, gateway(path)?));
        let between: Vec<(usize, usize)> = plan
            .paths
            .iter()
            .flat_map(|path| [&path.from, &path.to].map(|end| with(path, &end.node)))
            .flatten()
            .collect();
        let shares = cpus::deal_around(&allowed, built.nodes.len(), &ends, &between)?;
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
        let cast = self.cast(&path.name)?.clone();
        let bypassed = point.job.bypasses_proxies();
        let met = posts::met(&cast, &self.demand, bypassed);
        let built = self.built.as_ref().ok_or_else(|| Fault::input("the lab is not built"))?;
        let proxies = self.mesh.meet(built, &met)?;
        let programs = if server.is_agent() {
            Vec::new()
        } else {
            self.programs.start(built, &self.demand, &cast, &server.program)?
        };
        let trail = Trail::of(&cast, &self.spec);
        let (link_bits_per_s, mtu_bytes, tunnel_bytes) = self.describe(&cast, &trail);
        let everybody = cast.clients.iter().chain(&cast.servers);
        let programs_in = |pod: &PodId| !server.is_agent() && cast.servers.contains(pod);
        let cpus = |pod: &PodId| {
            let of_node = || built.node(&pod.place.node)?.cpus.clone();
            let cpus = if programs_in(pod) { of_node() } else { self.agent_cpus(pod) };
            Some((pod.agent(), cpus?))
        };
        let target = target(built, &cast, &point.job, server)?;
        let hops = hops(&cast, trail.hops, bypassed);
        Ok(Route {
            path: path.name.clone(),
            clients: cast.clients.iter().map(PodId::agent).collect(),
            servers: cast.servers.iter().map(PodId::agent).collect(),
            nodes: everybody.clone().map(|pod| (pod.agent(), pod.place.node.clone())).collect(),
            cpus: everybody.filter_map(cpus).collect(),
            target,
            hops,
            programs,
            proxies,
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

    /// The addresses of a lab are known when it is built, and stay.
    fn permit(&mut self, bounds: &Bounds) -> Result<Option<SignedPermit>, Fault> {
        self.standing()?;
        Ok(self.conductor.as_mut().map(|conductor| conductor.permit(self.targets.clone(), *bounds)))
    }

    fn sandbox(&self, agent: &AgentId) -> Vec<u32> {
        self.agents.beneath(agent)
    }

    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        let cast = self.cast(&route.path)?.clone();
        let trail = Trail::of(&cast, &self.spec);
        let built = self.built.as_mut().ok_or_else(|| Fault::input("the lab is not built"))?;
        let mut counters = counters::read(built, &cast, &trail)?;
        counters.extend(self.mesh.counters(&posts::met(&cast, &self.demand, is_bypassed(route)))?);
        Ok(counters)
    }

    fn gauges(&mut self, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        let met = posts::met(self.cast(&route.path)?, &self.demand, is_bypassed(route));
        self.mesh.gauges(&met)
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
            proxies: &route.proxies,
            peers: proof::peers(
                cast,
                service,
                seen.job.bypasses_proxies(),
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
        let sidecars = self.demand.sidecars.iter();
        facts
            .extend(sidecars.map(|(pod, variant)| (format!("pod {pod} sidecar"), format!("variant {}", variant.name))));
        let gateways = self.demand.paths.values().filter_map(|cast| cast.gateway.as_ref());
        let helpers = gateways.chain(self.demand.policies().into_keys());
        facts.extend(
            helpers.filter_map(|pod| Some((format!("pod {pod} shares CPUs with"), facts::beside(built, pod)?))),
        );
        let wider = self.demand.named.keys().filter_map(|pod| Some((pod, self.agent_cpus(pod)?)));
        facts.extend(
            wider.map(|(pod, cpus)| {
                (format!("agent {pod} cpus"), format!("{}: a workload names its CPUs", CpuSet(cpus)))
            }),
        );
        facts
    }

    fn down(&mut self) {
        // The clients of the proxies first.
        self.agents.stop();
        self.programs.stop();
        self.mesh.stop();
        self.built = None;
        self.demand = Demand::default();
        self.conductor = None;
        self.targets.clear();
    }
}

/// Whether the traffic of a route passes by all proxies of its path.
fn is_bypassed(route: &Route) -> bool {
    route.proxies.iter().all(|proxy| !proxy.named)
}

/// Where the clients of a plan's cells connect to. A cell that has no such place fails when its
/// route is asked for.
fn targets(built: &Built, demand: &Demand, plan: &Plan) -> BTreeSet<SocketAddr> {
    let of_cell =
        |(path, point): (&Path, &Point)| target(built, demand.paths.get(&path.name)?, &point.job, &point.server).ok();
    plan.cells.iter().filter_map(|cell| of_cell(plan.at(*cell))).collect()
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

/// What the traffic of a path passes, with its sidecars and the runtimes around its ends.
fn hops(cast: &Cast, trail: Vec<String>, bypassed: bool) -> Vec<String> {
    let mode = cast.path.mesh;
    let sidecar = |pods: &[PodId], takes: bool| {
        pods.first().filter(|_| takes && !bypassed).map(|pod| format!("sidecar of {}", pod.place))
    };
    let trail = trail.into_iter().filter(|hop| bypassed || !cast.is_routed_by_sidecar() || !hop.starts_with("dnat on"));
    let client = cast.path.from.runtime.clone().into_iter().chain(sidecar(&cast.clients, mode.has_client()));
    let server = sidecar(&cast.servers, mode.has_server()).into_iter().chain(cast.path.to.runtime.clone());
    client.chain(trail).chain(server).collect()
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.down();
    }
}
