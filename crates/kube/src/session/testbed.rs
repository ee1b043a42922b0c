//! The cluster as a testbed: a run is brought up, asked about its paths, and taken down.

mod peers;

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::{Bounds, Fault, Path, Plan, Point, Proof, Record, SignedPermit};
use hopbench_testbed::placement::{PodId, program};
use hopbench_testbed::{AgentId, Commands, Control, Counters, Gauges, Metered, Need, PeerSaid};
use hopbench_testbed::{Route, Seen, Testbed};
use tokio::time::Instant;

use super::cluster::{Cluster, standing_mut, write};
use super::hops::hops;
use super::needs::Closed;
use super::{facts, needs, observers, targets};
use crate::api::forward;
use crate::api::rights::{self, Right};
use crate::cleanup::teardown;
use crate::mesh;
use crate::objects::containers::PROGRAM;
use crate::objects::service::route::host_name;
use crate::observe::meters::reading::Readings;
use crate::plan::gateways;
use crate::plan::traffic::Traffic;
use crate::proof::facts::ProofFacts;
use crate::proof::{node_proxies, of_tools_way, prove};
use crate::provision::proxy_pods::{self, GATEWAY};
use crate::provision::{gateway, objects, pod_status};

/// Before a trial, the state of the pods that was asked for so long ago is that of now.
const JUST_NOW: Duration = Duration::from_millis(40);

impl Testbed for Cluster {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn missing(&mut self, plan: &Plan) -> Vec<Need> {
        let whole =
            |what: &str, why: String, remedy: &str| vec![Need::new(None, what, why, remedy)];
        // What is wrong wherever the cluster is needs no cluster to be told.
        let spec = self.spec.clone();
        let without = |fault: Fault, remedy: &str| {
            let mut needs = whole("a cluster", fault.text, remedy);
            needs.extend(needs::without_cluster(&spec, plan));
            needs
        };
        if let Err(fault) = self.access() {
            return without(fault, "name one as for kubectl (KUBECONFIG, `context:`)");
        }
        let (placement, discovery, assigned) = match self.discover(plan) {
            Ok(found) => found,
            // It says itself what may be wrong with a cluster that is named.
            Err(fault) => return without(fault, ""),
        };
        let mut needs = needs::missing(&self.spec, &placement, &discovery, &assigned);
        let given = self.spec.namespace.clone();
        // A cell that nobody measures takes no listener from others.
        let is_measured =
            |path: &Path, point: &Point| needs::unsupported(&self.spec, path, point).is_none();
        let demand = gateways::demand(&self.spec, plan, is_measured);
        self.lacks_exec = false;
        let asked = |right: &Right| right.only_for.is_empty() || needs::is_optional(right.resource);
        match self.access().and_then(|access| rights::lacking(access, given.as_deref(), asked)) {
            Ok(lacking) => {
                self.lacks_exec = lacking.iter().any(|(right, _)| right.resource == needs::EXEC);
                let of_rights =
                    needs::of_rights(&self.spec, &placement, &discovery, &demand, &lacking);
                needs.extend(of_rights);
            }
            Err(fault) => needs.extend(whole("rights", fault.text, "ask whoever runs the cluster")),
        }
        let lacking = |object| {
            let access = self.access.as_ref()?;
            let why = objects::scenario::lacking(access, given.as_deref(), object)?;
            Some(Need::new(None, "an object", why, "mend it under `objects:`, or leave it out"))
        };
        needs.extend(self.spec.objects.iter().filter_map(lacking));
        needs.extend(self.access.as_ref().into_iter().flat_map(|access| {
            needs::of_node_mesh(access, &self.spec, &placement, given.as_deref())
        }));
        let closed = Closed::of(&self.spec, &placement, &demand, |routing, wanted| {
            let Some(access) = &self.access else { return Ok(vec![None; wanted.len()]) };
            gateway::lacking(access, routing, wanted)
        });
        needs.extend(closed.paths);
        self.closed = closed.cells;
        needs
    }

    fn nodes(&self) -> BTreeMap<String, String> {
        self.nodes.clone()
    }

    fn unsupported(&self, path: &Path, point: &Point) -> Option<String> {
        let forbidden = || needs::forbidden(point).filter(|_| self.lacks_exec);
        let closed = || {
            let traffic = Traffic::of(&point.job)?;
            self.closed.get(&(path.name.clone(), traffic)).cloned()
        };
        needs::unsupported(&self.spec, path, point).or_else(forbidden).or_else(closed)
    }

    /// Pods that do not get ready do not keep the others from being measured: their paths say why
    /// when they are asked for.
    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.down();
        let provisioned = self.provision(plan);
        if provisioned.is_err() {
            self.down();
        }
        provisioned
    }

    fn is_settling(&self) -> bool {
        self.settled.is_some_and(|settled| Instant::now() < settled)
    }

    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault> {
        let ends = self.endpoints(&path.name)?;
        let servers = ends.servers_of(program(&point.server).as_deref()).to_vec();
        if servers.is_empty() {
            let text = format!(
                "path {}: nobody answers as `{}` in this plan",
                path.name, point.server.program
            );
            return Err(Fault::input(text));
        }
        let everybody: Vec<PodId> = ends.clients.iter().chain(&servers).cloned().collect();
        let (_, built) = self.standing()?;
        if let Some(why) = everybody.iter().find_map(|pod| built.foreign_agent(pod)) {
            return Err(Fault::environment(why.clone()));
        }
        self.turn_to(path.subject.as_deref())?;
        let pods: Vec<PodId> = everybody.iter().chain(ends.helpers()).cloned().collect();
        self.looked = Some(self.ensure(&pods)?);
        self.balance_again(&path.name)?;
        let bypassed = point.job.bypasses_proxies();
        let (access, built) = standing_mut(&self.access, &mut self.built)?;
        let target = targets::target_of(built, &ends, point)?;
        let of_point = program(&point.server);
        let traffic = Traffic::of(&point.job);
        let service = built.service(&path.name, of_point.as_ref());
        let way = service.zip(traffic).map(|(one, traffic)| traffic.route(&one.name));
        if let Some(way) = way.as_ref().filter(|_| ends.enters_existing_gateway()) {
            // They are metered, and nothing else needs them.
            let pods = gateway::pods_of(access, built, &ends.path, way);
            let pods = pods.unwrap_or_else(|fault| {
                write(&mut self.log, &fault.text);
                Vec::new()
            });
            built.gateway_pods.insert(path.name.clone(), pods);
        }
        let host = way
            .filter(|name| built.gateways.contains_key(name))
            .filter(|_| traffic.is_some_and(Traffic::names_host))
            .map(|name| host_name(&built.run, &name));
        let on_nodes = mesh::on_nodes::find(access, built, &ends, &servers)?;
        built.node_proxies.insert(path.name.clone(), on_nodes);
        let mut proxies = mesh::proxies(access, built, &ends, &servers, bypassed);
        let of_gateway = built.gateway_pods.get(&path.name).map(Vec::as_slice).unwrap_or_default();
        let of_gateway = proxy_pods::named(GATEWAY, of_gateway);
        proxies.extend(proxy_pods::proxies(&built.nodes, of_gateway, true));
        let mut route = Route {
            path: path.name.clone(),
            clients: ends.clients.iter().map(PodId::agent).collect(),
            servers: servers.iter().map(PodId::agent).collect(),
            nodes: everybody.iter().map(|pod| (pod.agent(), pod.place.node.clone())).collect(),
            cpus: BTreeMap::new(),
            target,
            host,
            hops: hops(built, &ends, bypassed),
            // They are in other machines' /proc.
            programs: Vec::new(),
            programs_beside: servers.iter().filter_map(|pod| built.beside(pod, PROGRAM)).collect(),
            proxies,
            node_onlookers: Vec::new(),
            partly_proved: mesh::on_nodes::partly(self.spec.mesh.provider, &ends, bypassed),
            link_bits_per_s: self.spec.link_bits_per_s(path),
            mtu_bytes: 0,
            tunnel_bytes: 0,
        };
        route.node_onlookers = observers::onlookers(built, &route);
        let is_by_agents = point.peer.is_none() && targets::is_said_by_others(&ends);
        if let Some(built) = self.built.as_mut().filter(|_| is_by_agents) {
            let entrance = (path.name.clone(), point.server.program.clone(), traffic);
            built.entered.insert(entrance, target);
        }
        Ok(route)
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        let pod = self.standing()?.1.pod(&agent.0)?.clone();
        // Nothing waits for an agent alone on a node.
        let is_needed = !pod.is_agent_alone();
        if !self.met.insert(pod.clone()) && is_needed {
            // Its session broke: the agent may have died unnoticed.
            self.ensure_it_answers(&pod)?;
        }
        let open = |cluster: &Self| {
            let (access, built) = cluster.standing()?;
            let name = built.names.get(&pod).map(String::as_str).unwrap_or_default();
            let port = built.agent_port(&pod);
            let opened = access.runtime.block_on(forward::open(
                &built.api.pods,
                name,
                port,
                built.way(&pod),
            ));
            let opened = opened.map_err(|why| {
                Fault::environment(format!("no way to pod {name} of {pod}: {why}"))
            })?;
            Ok(Control::Forwarded { stream: opened, tls: built.tls(&pod)? })
        };
        open(self).or_else(|fault: Fault| {
            if !is_needed {
                return Err(fault);
            }
            self.ensure(std::slice::from_ref(&pod))?;
            open(self)
        })
    }

    /// Pods that are made anew get new addresses: then there is a later permit.
    fn permit(&mut self, bounds: &Bounds) -> Result<Option<SignedPermit>, Fault> {
        let built = self.built.as_mut().ok_or_else(|| Fault::input("the testbed is not up"))?;
        let targets = targets::all(built);
        Ok(Some(built.conductor.permit(targets, *bounds)))
    }

    /// In a cgroup namespace of its own, an agent sees no quota of the program beside it.
    fn program_limit(&self, server: &AgentId) -> Option<f64> {
        let (_, built) = self.standing().ok()?;
        pod_status::cpu_limit(built.pods.get(built.pod(&server.0).ok()?)?, PROGRAM)
    }

    /// Asks for the state of all pods, too, unless [`Testbed::route`] just did. Nothing in a
    /// cluster counts packets for us, but the API server says where the pods are.
    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        // Only the first counters after a route go by what that saw. However short a trial is,
        // those after it see what became of the pods.
        if self.looked.take().is_none_or(|at| at.elapsed() >= JUST_NOW) {
            self.look()?;
        }
        let (access, built) = self.standing()?;
        mesh::counters(access, built, route)
    }

    fn gauges(&mut self, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        let (access, built) = self.standing()?;
        mesh::gauges(access, built, route)
    }

    fn meters(&mut self, route: &Route) -> Result<Vec<Metered>, Fault> {
        let (access, built) = self.standing()?;
        let Readings { metered, notes } = observers::readings(access, built, route);
        let clocks = built.clocks.news();
        clocks.iter().for_each(|text| write(&mut self.log, text));
        // They are asked several times a second.
        let new: Vec<&String> = notes.iter().filter(|note| !self.silent.contains(note)).collect();
        new.into_iter().for_each(|note| write(&mut self.log, note));
        self.silent = notes;
        Ok(metered)
    }

    fn silent_meters(&self) -> Vec<String> {
        self.silent.clone()
    }

    fn changes(&mut self, route: &Route) -> Result<Vec<String>, Fault> {
        let (_, built) = self.standing()?;
        let concern = observers::concern(built, route);
        self.watch.as_ref().map_or_else(|| Ok(Vec::new()), |watch| watch.changes(&concern))
    }

    fn prove(
        &self,
        route: &Route,
        before: &Counters,
        after: &Counters,
        seen: &Seen<'_>,
    ) -> Vec<Proof> {
        let (Ok(ends), Ok((access, built))) = (self.endpoints(&route.path), self.standing()) else {
            let evidence = format!("path `{}` is not part of the cluster's plan", route.path);
            return vec![Proof { hop: "cluster".to_owned(), evidence, ok: false }];
        };
        let servers: Vec<PodId> = route
            .servers
            .iter()
            .filter_map(|agent| built.placement.pod(&agent.0))
            .cloned()
            .collect();
        let program = servers.first().and_then(|pod| pod.program.as_ref());
        let service = built.service(&route.path, program);
        let proxies = mesh::containers(built, route);
        let known =
            ProofFacts { built, ends: &ends, servers: &servers, service, proxies: &proxies };
        let mut proofs = prove(&known, seen);
        let routing = gateways::of_path(&built.spec, &ends.path);
        let sent = service.zip(Traffic::of(seen.job));
        if let (Some(routing), Some((service, traffic))) = (routing, sent) {
            let way = traffic.route(&service.name);
            let entered = built.gateways.get(&way).and_then(|at| at.as_ref().ok());
            let entered = (entered.map_or("", String::as_str), ends.path.family);
            proofs.push(gateway::prove(access, built, &routing, (traffic, way.as_str()), entered));
        }
        proofs.extend(if ends.rules.captures_pods {
            node_proxies::prove(built.spec.mesh.provider, &ends.path, route, (before, after), seen)
        } else {
            hopbench_testbed::proxy_proofs(&ends.path, &route.proxies, before, after, seen)
        });
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

    /// Nothing counts the packets. The rest of the evidence came with the tool's words.
    fn prove_peer(
        &self,
        route: &Route,
        point: &Point,
        _before: &Counters,
        _after: &Counters,
        _record: &Record,
    ) -> Vec<Proof> {
        let (Ok(ends), Ok((_, built))) = (self.endpoints(&route.path), self.standing()) else {
            return Vec::new();
        };
        let of_point = program(&point.server);
        let servers = ends.servers_of(of_point.as_deref());
        let service = built.service(&route.path, of_point.as_ref());
        let known = ProofFacts { built, ends: &ends, servers, service, proxies: &[] };
        of_tools_way(&known, route.target.ip())
    }

    fn facts(&self) -> BTreeMap<String, String> {
        match self.standing() {
            Ok((access, built)) => facts::facts(built, &access.server),
            Err(_) => BTreeMap::new(),
        }
    }

    fn down(&mut self) {
        // Whatever it was, the run goes.
        if let Err(fault) = self.turn_to(None) {
            self.note(&fault.text);
        }
        self.commands = Commands::default();
        self.watch = None;
        self.heartbeat = None;
        self.met.clear();
        self.tools.clear();
        self.built = None;
        let Some(run) = self.run.take() else { return };
        let Some(access) = &self.access else { return };
        let what = if run.is_guest { "the run's objects in namespace" } else { "namespace" };
        self.progress.say(&format!("removing {what} {}", run.namespace));
        let removed = teardown::run(&access.client, &run.name, &run.namespace, run.is_guest);
        let cleared = access.runtime.block_on(removed);
        if let Err(why) = cleared {
            self.note(&why);
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.down();
    }
}
