//! The cluster as a testbed.

mod balancers;
mod raising;
mod targets;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;

use hopbench_model::{Bounds, ClusterSpec, Fault, Path, Plan, Point, Proof, SignedPermit, printable};
use hopbench_testbed::{AgentId, Control, Counters, Gauges, Metered, Need, Route, Seen, Testbed};
use hopbench_wire::Hello;
use tokio::time::Instant;

use crate::access::Access;
use crate::alive::Alive;
use crate::assign::{Assigned, assign};
use crate::built::Built;
use crate::cast::Cast;
use crate::clear;
use crate::demand::{Demand, is_datagrams};
use crate::facts;
use crate::forward;
use crate::hops::hops;
use crate::interrupt::Interrupt;
use crate::labels::Run;
use crate::mesh;
use crate::meters::Readings;
use crate::needs;
use crate::observe;
use crate::pod::PodId;
use crate::proof::{self, Known};
use crate::rights::{self, Right};
use crate::survey::Survey;
use crate::tell::Tell;
use crate::watch::Watch;

/// A Kubernetes cluster, in which a run has a namespace of its own.
#[derive(Debug)]
pub struct Cluster {
    spec: ClusterSpec,
    log: Option<File>,
    /// The name of the run that is to be; absent: any.
    named: Option<String>,
    /// What this build says of itself; absent: agents may be of any build.
    ours: Option<Hello>,
    interrupt: Interrupt,
    tell: Tell,
    access: Option<Access>,
    /// Which node of the cluster each node of the plan is that was looked at last, by the plan's names.
    nodes: BTreeMap<String, String>,
    /// The run whose namespace was made, or may have been.
    run: Option<Run>,
    /// Says that the run lives.
    alive: Option<Alive>,
    built: Option<Built>,
    watch: Option<Watch>,
    /// When nobody should wait any more for what was made by `up`.
    settled: Option<Instant>,
    /// The agents to whom a session was opened.
    met: BTreeSet<PodId>,
    /// Which meters said nothing when they were asked last, and why.
    silent: Vec<String>,
}

impl Cluster {
    /// The cluster that a scenario describes. Nobody is asked yet. What is to be told beside the results goes to `log`.
    pub fn new(spec: &ClusterSpec, log: Option<File>) -> Self {
        Self {
            spec: spec.clone(),
            log,
            named: None,
            ours: None,
            interrupt: Interrupt::default(),
            tell: Tell::default(),
            access: None,
            nodes: BTreeMap::new(),
            run: None,
            alive: None,
            built: None,
            watch: None,
            settled: None,
            met: BTreeSet::new(),
            silent: Vec::new(),
        }
    }

    /// The same by this connection, whatever context the scenario names.
    #[must_use]
    pub fn by(mut self, access: Access) -> Self {
        self.access = Some(access);
        self
    }

    /// The same with this name for the run: its namespace is `hopbench-NAME`, and may have been made by somebody who gave
    /// it the run's label.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.named = Some(name.to_owned());
        self
    }

    /// The same with no agents but those of the build that says `ours` of itself.
    #[must_use]
    pub fn only_of(mut self, ours: Hello) -> Self {
        self.ours = Some(ours);
        self
    }

    /// The same that waits for nothing any more when `wanted` says that somebody wants to stop: for pods that do not get
    /// ready, for the address of a load balancer. It is asked ten times a second.
    #[must_use]
    pub fn stopped_by(mut self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.interrupt = Interrupt::by(wanted);
        self
    }

    /// The same that says what it does while somebody has to wait for it, a line each: `starting 13 pods in namespace
    /// hopbench-x`.
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.tell = Tell::to(tell);
        self
    }

    /// The namespace of the run that stands.
    pub fn namespace(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.namespace.as_str())
    }

    /// The name of an agent's pod in that namespace.
    pub fn pod(&self, agent: &AgentId) -> Option<&str> {
        let built = self.built.as_ref()?;
        built.names.get(built.demand.pod(&agent.0)?).map(String::as_str)
    }

    /// The connection to the cluster, made when it is first needed.
    fn access(&mut self) -> Result<&Access, Fault> {
        if self.access.is_none() {
            self.access = Some(Access::open(self.spec.context.as_deref())?);
        }
        self.access.as_ref().ok_or_else(|| Fault::environment("no connection to the cluster"))
    }

    fn standing(&self) -> Result<(&Access, &Built), Fault> {
        let standing = self.access.as_ref().zip(self.built.as_ref());
        standing.ok_or_else(|| Fault::input("the testbed is not up"))
    }

    fn survey(&mut self, plan: &Plan) -> Result<(Demand, Survey, Assigned), Fault> {
        let spec = self.spec.clone();
        let survey = Survey::of(self.access()?, &spec)?;
        let demand = Demand::of(plan);
        let assigned = assign(&spec.nodes, &demand.nodes(), &survey.nodes);
        self.nodes = assigned.nodes.iter().map(|(name, node)| (name.clone(), node.name.clone())).collect();
        Ok((demand, survey, assigned))
    }

    /// Writes a line to the log, where there is one.
    fn note(&mut self, text: &str) {
        write(&mut self.log, text);
    }

    fn cast(&self, path: &str) -> Result<Cast, Fault> {
        let (_, built) = self.standing()?;
        let cast = built.demand.paths.get(path).cloned();
        cast.ok_or_else(|| Fault::input(format!("path `{path}` is not part of this cluster's plan")))
    }
}

fn write(log: &mut Option<File>, text: &str) {
    if let Some(log) = log {
        // A log that cannot be written must not end a measurement.
        let _ = log.write_all(format!("kubernetes: {}\n", printable::line(text)).as_bytes());
    }
}

impl Testbed for Cluster {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn missing(&mut self, plan: &Plan) -> Vec<Need> {
        let whole = |what: &str, why: String, remedy: &str| vec![Need::new(None, what, why, remedy)];
        let (demand, survey, assigned) = match self.survey(plan) {
            Ok(found) => found,
            Err(fault) => return whole("a cluster", fault.text, "name one as for kubectl (KUBECONFIG, `context:`)"),
        };
        let mut needs = needs::missing(&self.spec, &demand, &survey, &assigned);
        let asked = |right: &Right| right.only_for.is_empty() || needs::OPTIONAL.contains(&right.resource);
        match self.access().and_then(|access| rights::lacking(access, asked)) {
            Ok(lacking) => needs.extend(needs::of_rights(&self.spec, &demand, &survey, &lacking)),
            Err(fault) => needs.extend(whole("rights", fault.text, "ask whoever runs the cluster")),
        }
        needs
    }

    fn nodes(&self) -> BTreeMap<String, String> {
        self.nodes.clone()
    }

    fn unsupported(&self, path: &Path, point: &Point) -> Option<String> {
        needs::unsupported(&self.spec, path, point)
    }

    /// Pods that do not get ready do not keep the others from being measured: their paths say why when they are asked for.
    fn up(&mut self, plan: &Plan) -> Result<(), Fault> {
        self.down();
        let raised = self.raise(plan);
        if raised.is_err() {
            self.down();
        }
        raised
    }

    fn is_settling(&self) -> bool {
        self.settled.is_some_and(|settled| Instant::now() < settled)
    }

    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault> {
        let cast = self.cast(&path.name)?;
        let servers = cast.servers_of(&point.server).to_vec();
        if servers.is_empty() {
            let text = format!("path {}: nobody answers as `{}` in this plan", path.name, point.server.program);
            return Err(Fault::input(text));
        }
        let everybody: Vec<PodId> = cast.clients.iter().chain(&servers).cloned().collect();
        let (_, built) = self.standing()?;
        if let Some(why) = everybody.iter().find_map(|pod| built.foreign.get(&pod.place.node)) {
            return Err(Fault::environment(why.clone()));
        }
        self.ensure(&everybody.iter().chain(cast.helpers()).cloned().collect::<Vec<_>>())?;
        self.balance_again(&path.name)?;
        let bypassed = point.job.bypasses_proxies();
        let (access, built) = self.standing()?;
        let target = targets::target_of(built, &cast, point)?;
        let route = Route {
            path: path.name.clone(),
            clients: cast.clients.iter().map(PodId::agent).collect(),
            servers: servers.iter().map(PodId::agent).collect(),
            nodes: everybody.iter().map(|pod| (pod.agent(), pod.place.node.clone())).collect(),
            cpus: BTreeMap::new(),
            target,
            hops: hops(built, &cast, bypassed),
            // They are in other machines' /proc.
            programs: Vec::new(),
            proxies: mesh::proxies(access, built, &cast, &servers, bypassed),
            link_bits_per_s: None,
            mtu_bytes: 0,
            tunnel_bytes: 0,
        };
        if let Some(built) = self.built.as_mut().filter(|_| targets::is_said_by_others(&cast)) {
            let entrance = (path.name.clone(), point.server.program.clone(), is_datagrams(&point.job));
            built.entered.insert(entrance, target);
        }
        Ok(route)
    }

    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        let pod = self.standing()?.1.pod(&agent.0)?.clone();
        if !self.met.insert(pod.clone()) {
            // Its session broke: it may have died without anybody having noticed yet.
            self.ensure_it_answers(&pod)?;
        }
        let open = |cluster: &Self| {
            let (access, built) = cluster.standing()?;
            let name = built.names.get(&pod).map(String::as_str).unwrap_or_default();
            let port = built.demand.agent_port(&pod);
            let opened = access.runtime.block_on(forward::open(&built.api.pods, name, port, built.way(&pod)));
            let opened = opened.map_err(|why| Fault::environment(format!("no way to pod {name} of {pod}: {why}")))?;
            Ok(Control::Forwarded { stream: opened, tls: built.tls(&pod)? })
        };
        open(self).or_else(|_: Fault| {
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

    /// Asks how everything is, too: nobody in a cluster counts packets for us, but it says where the pods are.
    fn counters(&mut self, route: &Route) -> Result<Counters, Fault> {
        self.look()?;
        let (access, built) = self.standing()?;
        mesh::counters(access, built, route)
    }

    fn gauges(&mut self, route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        let (access, built) = self.standing()?;
        mesh::gauges(access, built, route)
    }

    fn meters(&mut self, route: &Route) -> Result<Vec<Metered>, Fault> {
        let (access, built) = self.standing()?;
        let Readings { metered, notes } = observe::readings(access, built, route);
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
        let concern = observe::concern(built, route);
        self.watch.as_ref().map_or_else(|| Ok(Vec::new()), |watch| watch.changes(&concern))
    }

    fn prove(&self, route: &Route, before: &Counters, after: &Counters, seen: &Seen<'_>) -> Vec<Proof> {
        let (Ok(cast), Ok((_, built))) = (self.cast(&route.path), self.standing()) else {
            let evidence = format!("path `{}` is not part of the cluster's plan", route.path);
            return vec![Proof { hop: "cluster".to_owned(), evidence, ok: false }];
        };
        let servers: Vec<PodId> =
            route.servers.iter().filter_map(|agent| built.demand.pod(&agent.0)).cloned().collect();
        let program = servers.first().and_then(|pod| pod.program.as_ref());
        let front = built.front(&route.path, program);
        let mut proofs = proof::prove(&Known { built, cast: &cast, servers: &servers, front }, seen);
        proofs.extend(hopbench_testbed::passed(&cast.path, &route.proxies, before, after, seen));
        proofs
    }

    fn facts(&self) -> BTreeMap<String, String> {
        match self.standing() {
            Ok((access, built)) => facts::facts(built, &access.server),
            Err(_) => BTreeMap::new(),
        }
    }

    fn down(&mut self) {
        self.watch = None;
        self.alive = None;
        self.met.clear();
        self.built = None;
        let Some(run) = self.run.take() else { return };
        let Some(access) = &self.access else { return };
        self.tell.say(&format!("removing namespace {}", run.namespace));
        let cleared = access.runtime.block_on(clear::namespace(&access.client, &run.name, &run.namespace));
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
