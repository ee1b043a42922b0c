//! The lab as a testbed.
//!
//! - `built`: its network; `mesh`, `server_programs`: what runs in it beside the agents;
//! - `needs`: what is missing for a plan; `named`: the programs and CPUs that it names;
//! - `peers`, `peer_trial`: tools of others, and the trials that they make;
//! - `target`: the address that clients connect to; `counters`: the readings for a proof;
//! - `subject`: what subjects change;
//! - `facts`, `readback`: what a reader of the results has to know.

mod built;
mod counters;
mod facts;
mod mesh;
mod named;
mod needs;
mod peer_trial;
mod peers;
mod readback;
mod server_programs;
mod subject;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use hopbench_control::conductor::Conductor;
use hopbench_model::units::Span;
use hopbench_model::{
    Bounds, CpuSet, Fault, LabSpec, Nanos, Path, Plan, Point, Proof, Record, SECOND, SignedPermit,
};
use hopbench_testbed::placement::{Endpoints, Placement, PodId, Rules};
use hopbench_testbed::{AgentId, Commands, Control, Counters, Gauges, Need, PeerSaid, Route};
use hopbench_testbed::{Interrupt, Seen, Testbed};

use crate::network::namespace::Namespace;
use crate::network::refused;
use crate::processes::agents::{Agents, Around, Seat};
use crate::processes::process_table;
use crate::processes::runtimes::runtime;
use crate::proof::{self, AgentFacts, WayFacts};
use crate::services::pod_ports::agent_port;
use crate::topology::addresses;
use crate::topology::kinds::kind;
use crate::topology::packet_path::{Hop, PacketPath};
use built::{Built, families};
use mesh::Mesh;
use named::Named;
use server_programs::Programs;
use subject::{Envoys, variables};

/// A command of a subject that takes longer is killed.
const COMMAND_NS: Nanos = 10 * SECOND;

/// A lab of network namespaces. The process must be in namespaces of its own (see
/// [`sandbox`](crate::sandbox)) or be root.
#[derive(Debug)]
pub struct Lab {
    spec: LabSpec,
    placement: Placement,
    named: Named,
    steering: Result<(), String>,
    /// Signs the permits of the agents.
    conductor: Option<Conductor>,
    /// The addresses that the clients of the plan's cells connect to.
    targets: BTreeSet<SocketAddr>,
    /// The facts that the kernel and the programs told when the lab stood.
    read_back: BTreeMap<String, String>,
    interrupt: Interrupt,
    starts_nothing: bool,
    commands: Commands,
    envoys: Envoys,
    // Dropped in this order: nobody may use a namespace that is about to go.
    programs: Programs,
    mesh: Mesh,
    agents: Agents,
    built: Option<Built>,
}

impl Lab {
    /// A lab as `spec` says, not built yet. What agents write to their standard error goes to
    /// `log`.
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
            placement: Placement::default(),
            named: Named::default(),
            steering: Ok(()),
            conductor: None,
            targets: BTreeSet::new(),
            read_back: BTreeMap::new(),
            interrupt: Interrupt::default(),
            starts_nothing: false,
            commands: Commands::default(),
            envoys: Envoys::default(),
            programs: Programs::of(spec),
            mesh: Mesh::new(program.clone(), of_proxies),
            agents: Agents::new(program, log),
            built: None,
        }
    }

    /// Builds everything and starts the proxies; no agent is started yet.
    ///
    /// # Errors
    /// Anything that could not be had. All that was built until then is gone.
    pub fn build(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.down();
        let placement = Placement::of(plan, Rules::default());
        let named = Named::of(plan, &placement);
        needs::open_files(&self.spec, &placement).map_err(Fault::environment)?;
        let mut built = Built::build(&self.spec, &placement)?;
        subject::apply(&built)?;
        self.steering = built.give_cpus(plan);
        self.read_back = readback::links(&self.spec, &mut built)
            .map_err(refused("cannot read back what was set"))?;
        self.read_back.extend(readback::programs(&named, &placement));
        self.envoys = Envoys::read(&built)?;
        self.read_back.extend(self.envoys.facts());
        self.commands = Commands::of(plan, COMMAND_NS, self.interrupt.clone());
        self.mesh.build(&placement, &built)?;
        let conductor = Conductor::new().map_err(Fault::environment)?;
        self.agents.are_of(conductor.run_key());
        self.conductor = Some(conductor);
        self.targets = targets(&built, &placement, plan);
        self.placement = placement;
        self.named = named;
        self.built = Some(built);
        Ok(())
    }

    fn endpoints(&self, path: &str) -> Result<&Endpoints, Fault> {
        self.placement
            .paths
            .get(path)
            .ok_or_else(|| Fault::input(format!("path `{path}` is not part of this lab's plan")))
    }

    fn standing(&self) -> Result<&Built, Fault> {
        self.built.as_ref().ok_or_else(|| Fault::input("the lab is not built"))
    }

    /// The facts that a proof compares the counters of a route with.
    fn way<'a>(&'a self, route: &'a Route) -> Result<WayFacts<'a>, Fault> {
        let (endpoints, built) = (self.endpoints(&route.path)?, self.standing()?);
        Ok(WayFacts {
            endpoints,
            packet_path: PacketPath::of(endpoints, &self.spec),
            service: built.services.get(&route.path),
            tunnels: &built.tunnels,
            proxies: &route.proxies,
        })
    }

    /// The pod that an agent is in.
    fn pod(&self, agent: &AgentId) -> Result<&PodId, Fault> {
        let pod = self.placement.pod(&agent.0);
        pod.ok_or_else(|| Fault::input(format!("agent `{agent}` is not part of this lab's plan")))
    }

    /// The network namespace of a place's first pod, or of a node.
    ///
    /// # Errors
    /// A place that was not built.
    pub fn namespace(&self, place: &str) -> Result<&Namespace, Fault> {
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
        let nodes =
            built.nodes.iter().map(|node| (node.spec.name.clone(), addresses::node(node.number)));
        let pods = built
            .pods
            .iter()
            .filter(|(id, _)| !id.is_host())
            .map(|(id, pod)| (id.to_string(), pod.address));
        nodes.chain(pods).collect()
    }

    /// The CPUs that an agent is held to: its node's, and those that a workload names for it. A job
    /// that names CPUs takes only those; other jobs have all.
    fn agent_cpus(&self, pod: &PodId) -> Option<Vec<usize>> {
        let of_node = self.built.as_ref()?.node(&pod.place.node)?.cpus.as_ref()?;
        let named = self.named.cpus.get(pod).into_iter().flatten();
        let all: BTreeSet<usize> = of_node.iter().chain(named).copied().collect();
        Some(all.into_iter().collect())
    }

    /// The process of an agent.
    pub fn pid(&self, agent: &AgentId) -> Option<u32> {
        self.agents.pid(agent)
    }

    fn describe(&self, endpoints: &Endpoints, packet_path: &PacketPath) -> (Option<u64>, u32, u32) {
        let rate =
            |name: &String| self.spec.nodes.iter().find(|node| node.name == *name)?.link_bits_per_s;
        // Several nodes have their links together.
        let together =
            |nodes: &Vec<String>| nodes.iter().map(rate).reduce(|sum, next| Some(sum? + next?));
        let links = packet_path.nics.iter().filter_map(together).flatten();
        let zone = self.spec.zone_link_bits_per_s.filter(|_| packet_path.crosses_zones);
        let rate = links.chain(zone).min();
        let header = |network: &str| kind(network).map_or(0, |kind| kind.header_bytes());
        let most = header(&endpoints.path.from.network).max(header(&endpoints.path.to.network));
        let tunnel = if packet_path.is_tunnelled() { most } else { 0 };
        let mtu = |node: &str| {
            let found = self.spec.nodes.iter().find(|known| known.name == node)?;
            found.settings.mtu
        };
        let least = endpoints.path.nodes().filter_map(mtu).min().unwrap_or(self.spec.mtu);
        (rate, least.saturating_sub(most), tunnel)
    }
}

impl Testbed for Lab {
    fn name(&self) -> &'static str {
        "lab"
    }

    fn missing(&mut self, plan: &Plan) -> Vec<Need> {
        needs::missing(&self.spec, plan, self.starts_nothing)
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
        let endpoints = self.endpoints(&path.name)?.clone();
        let bypassed = point.job.bypasses_proxies();
        let met = self.placement.met(&endpoints, &endpoints.servers, bypassed);
        let built = self.built.as_ref().ok_or_else(|| Fault::input("the lab is not built"))?;
        let subject = path.subject.as_deref();
        self.commands.turn_to(subject, |subject| variables(built, subject))?;
        let proxies = self.mesh.meet(built, &met)?;
        let programs = if server.is_agent() {
            Vec::new()
        } else {
            self.programs.start(built, &self.named.programs, &endpoints, &server.program)?
        };
        let packet_path = PacketPath::of(&endpoints, &self.spec);
        let (link_bits_per_s, mtu_bytes, tunnel_bytes) = self.describe(&endpoints, &packet_path);
        let everybody = endpoints.ends();
        let programs_in = |pod: &PodId| !server.is_agent() && endpoints.servers.contains(pod);
        let cpus = |pod: &PodId| {
            let of_node = || built.node(&pod.place.node)?.cpus.clone();
            let cpus = if programs_in(pod) { of_node() } else { self.agent_cpus(pod) };
            Some((pod.agent(), cpus?))
        };
        let target = peers::target(built, &endpoints, point)?;
        let hops = hops(&endpoints, &packet_path.hops, bypassed);
        Ok(Route {
            path: path.name.clone(),
            clients: endpoints.clients.iter().map(PodId::agent).collect(),
            servers: endpoints.servers.iter().map(PodId::agent).collect(),
            nodes: everybody.clone().map(|pod| (pod.agent(), pod.place.node.clone())).collect(),
            cpus: everybody.filter_map(cpus).collect(),
            target,
            host: None,
            hops,
            programs,
            programs_beside: Vec::new(),
            proxies,
            node_onlookers: Vec::new(),
            partly_proved: None,
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

    fn process(&self, agent: &AgentId) -> Option<u32> {
        self.agents.pid(agent)
    }

    fn sandbox(&self, agent: &AgentId) -> Vec<u32> {
        self.agents.beneath(agent)
    }

    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        let endpoints = self.endpoints(&route.path)?.clone();
        let packet_path = PacketPath::of(&endpoints, &self.spec);
        let built = self.built.as_mut().ok_or_else(|| Fault::input("the lab is not built"))?;
        let mut counters = counters::read(built, &endpoints, &packet_path)?;
        let met = self.placement.met(&endpoints, &endpoints.servers, route.bypasses_proxies());
        counters.extend(self.mesh.counters(&met)?);
        Ok(counters)
    }

    fn gauges(&mut self, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        let endpoints = self.endpoints(&route.path)?;
        let met = self.placement.met(endpoints, &endpoints.servers, route.bypasses_proxies());
        self.mesh.gauges(&met)
    }

    fn prove(
        &self,
        route: &Route,
        before: &Counters,
        after: &Counters,
        seen: &Seen<'_>,
    ) -> Vec<Proof> {
        let (Ok(way), Ok(built)) = (self.way(route), self.standing()) else {
            let evidence = format!("path `{}` is not part of the lab", route.path);
            return vec![Proof { hop: "lab".to_owned(), evidence, ok: false }];
        };
        let endpoints = way.endpoints;
        let inode = |pod| built.stack(pod).map(|stack| (pod, stack.namespace.inode()));
        let in_runtime = |pod: &&PodId| pod.place.runtime.is_some();
        let networks = |pod: &PodId| -> BTreeSet<u64> {
            self.agents
                .beneath(&pod.agent())
                .into_iter()
                .filter_map(process_table::network_of)
                .collect()
        };
        // Only those that were started: without agents there is nobody to hold.
        let held = |pod: &'_ PodId| {
            let pid = self.agents.pid(&pod.agent())?;
            let all = std::iter::once(pid).chain(self.agents.beneath(&pod.agent()));
            Some((self.agent_cpus(pod)?, all.filter_map(process_table::cpus_of).collect()))
        };
        let known = AgentFacts {
            held: endpoints.ends().filter_map(|pod| Some((pod, held(pod)?))).collect(),
            sandboxes: endpoints
                .ends()
                .filter(in_runtime)
                .map(|pod| (pod, networks(pod)))
                .collect(),
            kernel: own_kernel(),
            namespaces: endpoints.ends().filter_map(inode).collect(),
            peers: proof::peers(
                endpoints,
                way.service,
                seen.job.bypasses_proxies(),
                |pod| built.pods.get(pod).map(|pod| pod.address),
                |node| built.node(node).map(|node| node.addresses.clone()).unwrap_or_default(),
            ),
        };
        let mut proofs = proof::prove(&way, &known, before, after, seen);
        proofs.extend(subject::proof(built, endpoints, &self.envoys, &self.programs, route));
        proofs
    }

    fn run_peer(
        &mut self,
        route: &Route,
        point: &Point,
        is_over: &dyn Fn() -> bool,
    ) -> Result<PeerSaid, Fault> {
        self.peer_trial(route, point, is_over)
    }

    fn prove_peer(
        &self,
        route: &Route,
        point: &Point,
        before: &Counters,
        after: &Counters,
        record: &Record,
    ) -> Vec<Proof> {
        self.peer_proofs(route, point, before, after, record)
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let Some(built) = &self.built else { return BTreeMap::new() };
        let mut facts = facts::facts(&self.spec, built, families(&self.placement), &self.steering);
        facts.extend(self.read_back.clone());
        facts.extend(self.placement.facts());
        let helpers = self.placement.pods.iter().filter(|pod| !pod.is_end());
        facts.extend(helpers.filter_map(|pod| {
            Some((format!("pod {pod} shares CPUs with"), facts::beside(built, pod)?))
        }));
        let wider = self.named.cpus.keys().filter_map(|pod| Some((pod, self.agent_cpus(pod)?)));
        facts.extend(wider.map(|(pod, cpus)| {
            (format!("agent {pod} cpus"), format!("{}: a workload names its CPUs", CpuSet(cpus)))
        }));
        facts
    }

    fn down(&mut self) {
        if let Some(built) = &self.built {
            // Whatever it was, the lab goes.
            let _ = self.commands.turn_to(None, |subject| variables(built, subject));
        }
        // The clients of the proxies first.
        self.agents.stop();
        self.programs.stop();
        self.mesh.stop();
        self.built = None;
        self.placement = Placement::default();
        self.named = Named::default();
        self.conductor = None;
        self.targets.clear();
    }
}

/// The addresses that the clients of a plan's cells connect to. A cell without one fails when its
/// route is asked for.
fn targets(built: &Built, placement: &Placement, plan: &Plan) -> BTreeSet<SocketAddr> {
    let of_cell = |(path, point): (&Path, &Point)| {
        peers::target(built, placement.paths.get(&path.name)?, point).ok()
    };
    plan.cells.iter().filter_map(|cell| of_cell(plan.at(*cell))).collect()
}

/// The kernel's release, as an agent without a sandbox says it.
fn own_kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// The seat of the agent of a pod.
fn seat<'a>(built: &'a Built, pod: &PodId, cpus: Option<&'a [usize]>) -> Result<Seat<'a>, Fault> {
    let stack = built.stack(pod).ok_or_else(|| Fault::input(format!("pod {pod} is not built")))?;
    let around = match &pod.place.runtime {
        None => None,
        Some(name) => {
            let layout = built.pods.get(pod).and_then(|pod| pod.layout.as_ref());
            let around =
                runtime(name).zip(layout).map(|(runtime, layout)| Around { runtime, layout });
            Some(around.ok_or_else(|| {
                Fault::input(format!("{}: the lab has no such pod in a runtime", pod.place))
            })?)
        }
    };
    let server_work =
        built.node(&pod.place.node).and_then(|node| node.spec.server_work_ns).map(Span);
    Ok(Seat { stack, port: agent_port(pod), cpus, server_work, around })
}

/// The hops of a path, with its sidecars and the runtimes around its ends.
fn hops(endpoints: &Endpoints, way: &[Hop], bypassed: bool) -> Vec<String> {
    let mode = endpoints.path.mesh;
    let sidecar = |pods: &[PodId], takes: bool| {
        pods.first().filter(|_| takes && !bypassed).map(|pod| format!("sidecar of {}", pod.place))
    };
    let by_sidecar = endpoints.is_routed_by_sidecar() && !bypassed;
    let way = way
        .iter()
        .filter(|hop| !by_sidecar || !matches!(hop, Hop::Translation(_)))
        .map(Hop::to_string);
    let client = endpoints
        .path
        .from
        .runtime
        .clone()
        .into_iter()
        .chain(sidecar(&endpoints.clients, mode.has_client()));
    let server = sidecar(&endpoints.servers, mode.has_server())
        .into_iter()
        .chain(endpoints.path.to.runtime.clone());
    client.chain(way).chain(server).collect()
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.down();
    }
}
