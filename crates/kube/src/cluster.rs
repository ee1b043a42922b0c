//! The cluster as a testbed.

mod upkeep;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use hopbench_control::secret::Secret;
use hopbench_model::{ClusterSpec, Fault, Path, Plan, Point, Proof, Via};
use hopbench_testbed::{AgentId, Control, Counters, Gauges, Metered, Need, Route, Seen, Testbed};
use hopbench_wire::Hello;
use tokio::time::Instant;

use crate::access::Access;
use crate::alive::Alive;
use crate::assign::{Assigned, assign};
use crate::blueprint::{self, Blueprint, Ground};
use crate::builds;
use crate::built::Built;
use crate::cast::{Cast, program};
use crate::clean;
use crate::clear;
use crate::demand::{Demand, is_datagrams};
use crate::facts;
use crate::forward;
use crate::fronts;
use crate::hops::hops;
use crate::interrupt::Interrupt;
use crate::kube_proxy::KubeProxy;
use crate::labels::Run;
use crate::mesh::{self, Mesh};
use crate::meters::Readings;
use crate::names;
use crate::needs;
use crate::observe;
use crate::pod::PodId;
use crate::proof::{self, Known};
use crate::raise;
use crate::ready::Pods;
use crate::rights::{self, Right};
use crate::survey::Survey;
use crate::target::{self, Whereabouts, target};
use crate::tell::Tell;
use crate::watch::Watch;

/// How long a run waits for the addresses of load balancers before it measures the other paths.
const BALANCERS: Duration = Duration::from_secs(15);

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

    fn raise(&mut self, plan: &Plan) -> Result<(), Fault> {
        let (mut demand, survey, assigned) = self.survey(plan)?;
        let (spec, ours, interrupt) = (self.spec.clone(), self.ours.clone(), self.interrupt.clone());
        let tell = self.tell.clone();
        let token = Secret::random().map_err(Fault::environment)?.to_text();
        let name = self.named.clone().map_or_else(names::run, Ok)?;
        let mut run = Run { namespace: names::namespace(&name), name, owner: String::new() };
        demand.host_port = names::host_port(&run.name);
        let sidecars = mesh::sidecars(&spec, &demand);
        let ground = Ground { spec: &spec, demand: &demand, nodes: &assigned.nodes, sidecars: &sidecars };
        let attachments = blueprint::attachments(&spec, &demand)?;
        let (level, beyond) = blueprint::level(&blueprint::pods(&ground, &run)?, mesh::beyond(&spec, &demand));
        for (pod, what) in &beyond {
            self.note(&format!("{pod} needs {}: the run's namespace is {level}", what.join(", ")));
        }
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let (namespace, owner) = blueprint::frame(&run, level, &plan.name, host.trim())?;
        let until = Instant::now() + Duration::from_nanos(spec.start_timeout_ns);
        let places: Vec<String> = self.nodes.iter().map(|(name, node)| format!("{name} = {node}")).collect();
        tell.say(&format!("starting {} pods in namespace {}", demand.pods.len(), run.namespace));
        tell.say(&format!("nodes: {}", places.join(", ")));
        // From here on there may be something to be taken away.
        self.run = Some(run.clone());
        self.settled = Some(until);
        self.access()?;
        let access = self.access.as_ref().ok_or_else(|| Fault::environment("no connection to the cluster"))?;
        let client = access.client.clone();
        let made = raise::frame(&client, &namespace, &owner);
        run.owner = access.ask(&format!("making namespace {}", run.namespace), made)?;
        let alive = Alive::start(access.runtime.handle(), &client, &run.namespace);
        let dead = access.runtime.block_on(clean::leftovers(access.runtime.handle(), &client));
        let node = assigned.nodes.values().next().map(|node| node.name.clone()).unwrap_or_default();
        let asked = client.clone();
        let kube_proxy = access.runtime.spawn(async move { KubeProxy::of(&asked, &node).await.mode() });
        let blueprint = Blueprint::of(&ground, &run, &token)?;
        let entries = access.ask("making the run's objects", raise::objects(&client, &run, &blueprint))?;
        let api = Pods::new(&client, &run);
        let mut built = Built {
            survey,
            nodes: assigned.nodes,
            attachments,
            level,
            beyond,
            names: names::pods(&demand.pods),
            templates: blueprint.pods,
            fronts: fronts::fronts(&demand),
            entries,
            endpoints: BTreeMap::new(),
            pods: BTreeMap::new(),
            refused: BTreeMap::new(),
            foreign: BTreeMap::new(),
            kube_proxy: None,
            clocks: Arc::default(),
            api,
            mesh: Mesh::new()?,
            run,
            token,
            demand,
            spec,
        };
        let raised = interrupt.unless("the pods", mesh::pods(&built, &client, &built.templates, until));
        let raised = access.runtime.block_on(raised)?.map_err(|e| access.refused("waiting for the pods", &e))?;
        built.refused = raised.refused;
        built.see(raised.pods);
        let told: Vec<String> = built.refused.iter().map(|(id, why)| format!("{id}: {why}")).collect();
        told.iter().for_each(|line| write(&mut self.log, line));
        balance(access, &mut built, until, &interrupt, &tell)?;
        built.kube_proxy = access.runtime.block_on(kube_proxy).unwrap_or_default();
        if let Some(ours) = &ours {
            built.foreign = builds::foreign(access, &built, ours);
        }
        let nobody = built.demand.paths.values().all(|cast| cast.pods().any(|pod| built.refused.contains_key(pod)));
        if nobody {
            return Err(Fault::environment(format!("no path has all its pods:\n{}", told.join("\n"))));
        }
        let somebody =
            |cast: &Cast| [&cast.path.from, &cast.path.to].iter().all(|p| !built.foreign.contains_key(&p.node));
        if !built.foreign.is_empty() && !built.demand.paths.values().any(somebody) {
            let why: Vec<&str> = built.foreign.values().map(String::as_str).collect();
            why.iter().for_each(|line| write(&mut self.log, line));
            return Err(Fault::environment(format!("no path has agents of this build:\n{}", why.join("\n"))));
        }
        let watch = observe::watch(access, &built);
        let notes = watch.notes();
        let foreign = built.foreign.clone();
        self.alive = Some(alive);
        self.watch = Some(watch);
        self.built = Some(built);
        foreign.values().chain(&dead).chain(&notes).for_each(|line| self.note(line));
        Ok(())
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
        let _ = log.write_all(format!("kubernetes: {text}\n").as_bytes());
    }
}

/// Waits for the addresses of load balancers, but not for long: those that come later are seen when their path is asked
/// for.
fn balance(
    access: &Access,
    built: &mut Built,
    until: Instant,
    interrupt: &Interrupt,
    tell: &Tell,
) -> Result<(), Fault> {
    let waiting = built.fronts.iter().filter(|front| front.via == Via::LoadBalancer);
    let names: Vec<String> = waiting.map(|front| front.name.clone()).collect();
    if !names.is_empty() {
        let until = until.min(Instant::now() + BALANCERS);
        tell.say(&format!("waiting for the addresses of load balancers, {} s at most", BALANCERS.as_secs()));
        let found = raise::balancers(&access.client, &built.run, &names, until);
        let found = access.runtime.block_on(interrupt.unless("the load balancers", found))?;
        built.entries.extend(found.map_err(|e| access.refused("the load balancers", &e))?);
    }
    Ok(())
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
        let front = built.front(&path.name, program(&point.server).as_ref());
        let entry = front.and_then(|front| built.entries.get(&front.name));
        let entered = match &path.via {
            Via::NodePort(node) => {
                built.nodes.get(node).and_then(|node| target::of_family(&node.addresses, entry?.address))
            }
            _ => None,
        };
        let known = Whereabouts {
            server: servers.first().and_then(|pod| built.listener(pod)),
            entry,
            node: entered,
            datagrams: is_datagrams(&point.job),
        };
        let target = match mesh::target(built, &cast, point)? {
            Some(target) => target,
            None => target(&path.name, &path.via, &known)?,
        };
        Ok(Route {
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
        })
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
            Ok(Control::Forwarded { stream: opened, token: built.token.clone() })
        };
        open(self).or_else(|_: Fault| {
            self.ensure(std::slice::from_ref(&pod))?;
            open(self)
        })
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
