//! The trial of a campaign: one cell in one round, on a testbed.

mod around;
pub(super) mod changes;
mod cpu_share;
mod outcome;
mod peer;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopbench_load::schedule::seed_of;
use hopbench_load::workload::Workload;
use hopbench_model::secret::Secrets;
use hopbench_model::{
    Bounds, CpuSet, EndReport, Fault, FaultKind, Job, Nanos, Path, Point, Proof, Record,
    SearchGoal, Tick, Transport, Warning, WarningKind,
};
use hopbench_sys::clock;
use hopbench_testbed::{
    AgentId, Counters, Gauges, MeteredKind, Proxy, Route, Seen, Testbed, proxy_growth,
};
use hopbench_wire::{Hello, Role};

use super::meters::{LONG_WINDOW_NS, Meters, Unseen};
use super::sessions::Sessions;
use crate::assemble::{ProxySaid, Setting, record};
use crate::conduct::agent_connection::AgentConnection;
use crate::conduct::{Ends, TrialResult, Watch, Watcher, conduct, sees_program};
use crate::limited::link_rate::LinkRate;
use crate::limited::{CLIENT, generator};
use crate::metered::under_load;
use crate::results::CellName;
use crate::secrets::variable;
use around::Costs;
pub(super) use cpu_share::CPU_SHARE;
use cpu_share::Known;
use hopbench_control::resolve::Target;

/// Load that began behind the start of the window by less than this share of it, one in so many, is
/// the window's.
const BEGAN_SHARE: Nanos = 50;
/// What the setting of a visit says.
const STOOD: &str = "the connections stood";

/// What is measured.
pub(super) struct CellTrial<'a> {
    pub(super) run_id: &'a str,
    pub(super) session: u32,
    pub(super) path: &'a Path,
    pub(super) point: &'a Point,
    pub(super) round: u32,
    /// Whether its connections stay open for the next trial of the cell.
    pub(super) stays: bool,
    /// The largest jobs of the plan.
    pub(super) bounds: Bounds,
    /// The secrets of the plan.
    pub(super) secrets: &'a Secrets,
}

/// A trial that left something to report.
pub(super) struct Done {
    pub(super) record: Record,
    /// What broke in the middle.
    pub(super) fault: Option<Fault>,
}

impl Done {
    /// Why the trial failed all the same, if it did.
    pub(super) fn failure(&self) -> Option<String> {
        match (&self.fault, &self.record.incomplete) {
            (Some(fault), _) => Some(fault.text.clone()),
            (None, Some(why)) => Some(format!("it was cut short: {why}")),
            (None, None) => None,
        }
    }
}

/// The result of a trial.
pub(super) struct Measured {
    /// `Err`: what kept it from starting, or left nothing to report.
    pub(super) result: Result<Done, Fault>,
    /// What of the testbed changed in its time, in sentences.
    pub(super) changes: Vec<String>,
    /// Whether its clients were not let in, and nothing was measured.
    pub(super) barred: bool,
}

/// What there is when the traffic is over.
struct Over<'a> {
    workload: &'static dyn Workload,
    job: &'a Job,
    target: SocketAddr,
    route: &'a Route,
    /// What the agents said of themselves, the clients first.
    hellos: &'a [Hello],
    outcome: &'a TrialResult,
    /// The testbed's counters before the traffic and after it.
    before: &'a Counters,
    after: Result<Counters, Fault>,
    costs: Costs,
    /// What the proxies said of themselves while all connections were open, or why that is not
    /// known.
    gauges: Result<BTreeMap<String, Gauges>, String>,
}

impl CellTrial<'_> {
    /// Measures.
    pub(super) fn measure(
        &self,
        testbed: &mut dyn Testbed,
        sessions: &mut Sessions,
        meters: &mut Meters,
        watcher: &mut dyn Watcher,
    ) -> Measured {
        if let Some(peer) = &self.point.peer {
            let result = self.by_peer(peer, sessions.ours(), testbed, watcher);
            sessions.loaded();
            return Measured { result, changes: Vec::new(), barred: false };
        }
        let mut changes = Ok(Vec::new());
        let mut barred = false;
        let mut result =
            self.measured(testbed, sessions, meters, watcher, &mut changes, &mut barred);
        if let (Ok(done), Err(why)) = (&mut result, &changes) {
            done.record.settings.insert("changes".to_owned(), format!("unavailable: {why}"));
        }
        barred &= !result.as_ref().is_ok_and(|done| done.record.window_s > 0.0);
        Measured { result, changes: changes.unwrap_or_default(), barred }
    }

    fn measured(
        &self,
        testbed: &mut dyn Testbed,
        sessions: &mut Sessions,
        meters: &mut Meters,
        watcher: &mut dyn Watcher,
        changes: &mut Result<Vec<String>, String>,
        barred: &mut bool,
    ) -> Result<Done, Fault> {
        let name = &self.point.job.workload;
        let workload = hopbench_load::workload(name)
            .ok_or_else(|| Fault::input(format!("workload `{name}` is not known")))?;
        let mut route = testbed.route(self.path, self.point)?;
        let (mut job, target) = self.address(workload, &route);
        let mut sent = self.secrets.restored(&self.point.workload, &job, variable)?;
        // The arrivals of a Poisson schedule are others in each round, and the same on all paths.
        sent.seed = seed_of(sent.seed, u64::from(self.round));
        // An agent that is started again for this is no change of the trial's time.
        sessions.open(testbed, &route.clients, &route.servers)?;
        meters.leave_out_blind(&mut route, clock::now());
        let mut unreached = sessions.open_onlookers(testbed, &route.onlookers());
        unreached.extend(route.absent_onlookers());
        for proxy in &mut route.proxies {
            let agent = proxy.beside.as_ref().map(|beside| &beside.agent);
            if agent.is_some_and(|agent| unreached.contains_key(agent)) {
                proxy.beside = None;
            }
        }
        route.node_onlookers.retain(|onlooker| !unreached.contains_key(&onlooker.agent));
        let onlookers = route.onlookers();
        let quiet_since = sessions.quiet_since();
        let sandboxed = self.sandboxed(testbed, &route);
        let unseen = Unseen::of(&route, !self.point.server.is_agent(), &sandboxed);
        let window_ns = job.timing.window_ns;
        let asked_at = clock::now();
        let unseen = meters.worth(&route, unseen, window_ns, asked_at);
        // A search for a share of CPU goes by what they say of nodes.
        let goal = self.point.search.as_ref().map(|search| &search.goal);
        let is_of_cpu = matches!(goal, Some(SearchGoal::Cpu { .. }));
        let asks = meters.asks(&unseen, window_ns, asked_at) || is_of_cpu;
        let metered_before = if asks {
            meters.before(testbed, &route, &unseen, quiet_since, &|| watcher.interrupted())
        } else {
            Ok(Vec::new())
        };
        let mut opinions_ns = clock::now().saturating_sub(asked_at);
        let known = testbed.changes(&route);
        // As near to the traffic as can be.
        let counters = testbed.counters(&route)?;
        let permit = testbed.permit(&self.bounds)?;
        let mut ends = sessions.take(testbed, &route.clients, &route.servers, &onlookers)?;
        unreached.extend(std::mem::take(&mut ends.absent));
        ends.permit = permit;
        // A search changes its load from trial to trial.
        ends.stay = self.stays && self.point.search.is_none();
        let cell = CellName::new(&self.path.name, &self.point.workload, &self.point.point);
        ends.standing = sessions.take_standing(&cell);
        for (agent, connection) in ends_of(&route, &mut ends) {
            connection.is_in(testbed.sandbox(agent));
        }
        let hellos: Vec<Hello> =
            ends_of(&route, &mut ends).map(|(_, agent)| agent.hello.clone()).collect();
        let programs = (!self.point.server.is_agent()).then_some(route.programs.as_slice());
        let onlookers = ends.onlookers.iter().map(|(agent, _)| agent);
        let agents: Vec<AgentId> = route.agents().chain(onlookers).cloned().collect();
        let (programs_beside, proxies) = (&route.programs_beside[..], &route.proxies[..]);
        let watch = Watch { programs, programs_beside, proxies, agents: &agents };
        let mut asking = Asking { watcher, testbed, route: &route, gauges: None };
        let conducted = conduct(&mut ends, &sent, target, &watch, &mut asking);
        let gauges = asking
            .gauges
            .unwrap_or_else(|| Err("the trial ended before they were asked".to_owned()));
        if let Some(standing) = ends.standing.take() {
            sessions.put_standing(cell.clone(), standing);
        }
        // What follows can take a while, in which somebody must keep the sessions alive.
        sessions.put_back(ends, &route.clients, &route.servers);
        let fault = conducted.as_ref().map_or_else(Some, |outcome| outcome.fault.as_ref());
        *barred = fault.is_some_and(|fault| fault.kind == FaultKind::Environment);
        let conducted = conducted.map(|outcome| (outcome, testbed.counters(&route)));
        *changes = known.and_then(|_| testbed.changes(&route)).map_err(|fault| fault.text);
        let (outcome, after) = conducted?;
        job.timing.warmup_ns = outcome.warmup_ns;
        if let Some(late) = began_inside(&outcome, &job) {
            match changes {
                Ok(changes) => changes.push(late),
                Err(why) => {
                    *changes = Ok(vec![late, format!("what else changed is not known: {why}")]);
                }
            }
        }
        if outcome.fault.is_none() {
            let report = |number: usize| outcome.servers.get(number)?.as_ref();
            let saw = |number| report(number).is_some_and(sees_program);
            meters.note(&route, &outcome.seen_beside, saw, clock::now());
        }
        // A trial that broke is worth no wait.
        let unseen = if outcome.fault.is_none() { unseen } else { Unseen::default() };
        let quiet = (quiet_since, sessions.quiet_since());
        let read = metered_before.as_deref().unwrap_or_default();
        let asked_at = clock::now();
        let metered_after = if asks {
            Meters::after(testbed, &route, &unseen, read, quiet, &|| watcher.interrupted())
        } else {
            Ok(Vec::new())
        };
        opinions_ns += clock::now().saturating_sub(asked_at);
        let mut costs = Costs::of(
            &metered_before,
            &metered_after,
            &outcome,
            job.timing.warmup_ns,
            quiet_since,
            sandboxed,
        );
        if asks {
            costs.silent(&testbed.silent_meters());
        }
        if unseen.all.is_empty() {
            // Of long windows and searches for a share of CPU they are no choice.
            if window_ns < LONG_WINDOW_NS && !is_of_cpu {
                meters.took(opinions_ns);
            }
        } else if outcome.fault.is_none() {
            let known = |what, who: &str| costs.knows(what, who);
            meters.learn(&unseen, window_ns, clock::now(), known);
        }
        sessions.leave_alone(outcome.failed_onlookers.clone());
        unreached.extend(outcome.failed_onlookers.clone());
        costs.unreached(unreached);
        let (job, route, hellos, outcome, before) = (&job, &route, &hellos, &outcome, &counters);
        let done = self.finish(
            Over { workload, job, target, route, hellos, outcome, before, after, costs, gauges },
            testbed,
        );
        // A visit opens no connections whose way could be proved: those of a failed proof, or of
        // another way, must not stay.
        if done.record.error.is_some() || changes.as_ref().map_or(true, |seen| !seen.is_empty()) {
            sessions.spend_standing(&cell);
        }
        Ok(done)
    }

    /// The agents that are in sandboxes which nobody sees from here: what they say of themselves is
    /// not what they cost.
    fn sandboxed(&self, testbed: &dyn Testbed, route: &Route) -> Vec<AgentId> {
        let sides = [(&self.path.from, &route.clients), (&self.path.to, &route.servers)];
        let inside = sides.into_iter().filter(|(place, _)| place.runtime.is_some());
        let agents = inside.flat_map(|(_, agents)| agents).cloned();
        agents.filter(|agent| testbed.sandbox(agent).is_empty()).collect()
    }

    /// The job with what only the route knows, and where the clients connect to.
    fn address(&self, workload: &dyn Workload, route: &Route) -> (Job, SocketAddr) {
        let mut job = self.point.job.clone();
        let mut target = route.target;
        match workload.kind().transport {
            Transport::Http => {
                let host = route.host.clone().unwrap_or_else(|| target.to_string());
                let s = if job.is_over_tls() { "s" } else { "" };
                job.params["url"] = format!("http{s}://{host}{}", self.point.server.request).into();
            }
            // ICMP has no ports.
            Transport::Icmp => target.set_port(0),
            Transport::Tcp | Transport::Udp => {}
        }
        (job, target)
    }

    fn finish(&self, over: Over<'_>, testbed: &dyn Testbed) -> Done {
        let Over { workload, job, target, route, hellos, outcome, before, after, costs, gauges } =
            over;
        let nodes = |agents: &[AgentId]| -> Vec<String> {
            let node = |agent| {
                route.nodes.iter().find(|(id, _)| id == agent).map(|(_, node)| node.clone())
            };
            agents.iter().map(|agent| node(agent).unwrap_or_else(|| agent.to_string())).collect()
        };
        let cpus = |agents: &[AgentId]| -> Vec<Option<CpuSet>> {
            agents.iter().map(|agent| route.cpus.get(agent).cloned().map(CpuSet)).collect()
        };
        let proxies = proxies(route, before, after.as_ref().ok(), gauges.as_ref().ok(), &costs);
        let (client_nodes, server_nodes) = (nodes(&route.clients), nodes(&route.servers));
        let limits = route.servers.iter().map(|server| testbed.program_limit(server));
        let program_limits: Vec<Option<f64>> = limits.collect();
        let setting = Setting {
            run_id: self.run_id,
            workload,
            name: &self.point.workload,
            job,
            point: self.point.point.clone(),
            round: self.round,
            target: &Target { name: self.path.name.clone(), address: target, others: Vec::new() },
            client: &hellos[0],
            server: hellos.get(route.clients.len()),
            nodes: (&client_nodes, &server_nodes),
            cpus: (&cpus(&route.clients), &cpus(&route.servers)),
            program_limits: &program_limits,
            link: Some(LinkRate {
                bits_per_s: route.link_bits_per_s,
                mtu_bytes: route.mtu_bytes,
                tunnel_bytes: route.tunnel_bytes,
                v6: target.is_ipv6(),
            }),
            proxies: &proxies,
        };
        let mut record = record(&setting, outcome);
        record.session = self.session;
        let (load, ends) = (costs.load, [&*outcome.clients, &*outcome.servers]);
        costs.enter(&mut record, route, outcome);
        let searched = self.point.search.as_ref();
        let share = match searched.map(|search| &search.goal) {
            Some(SearchGoal::Cpu { of, .. }) => cpu_share::enter(
                &mut record,
                of,
                &Known {
                    job,
                    route,
                    hellos,
                    reports: ends,
                    load: &load,
                    is_by_agents: self.point.server.is_agent(),
                    program_limits: &program_limits,
                },
            ),
            _ => Ok(()),
        };
        record.settings.insert("hops".to_owned(), route.hops.join(", "));
        let partly = route.partly_proved.iter().map(|why| {
            let next = "compare it with paths that are proved the same way";
            Warning::new(WarningKind::PartlyProved, why.clone(), next)
        });
        record.warnings.extend(partly);
        if outcome.stood {
            record.settings.insert(Record::VISIT_SETTING.to_owned(), STOOD.to_owned());
        }
        if let (Err(why), false) = (&gauges, route.proxies.is_empty()) {
            record.settings.insert("proxy_gauges".to_owned(), format!("unavailable: {why}"));
        }
        let agents = route.agents();
        let machines: BTreeMap<_, _> = agents
            .zip(hellos)
            .map(|(agent, hello)| (agent.clone(), hello.machine.clone()))
            .collect();
        let seen = Seen {
            job,
            clients: &reports(&route.clients, &outcome.clients),
            servers: &reports(&route.servers, &outcome.servers),
            machines: &machines,
            stood: outcome.stood,
        };
        let mut fault = outcome.fault.clone();
        match after {
            Ok(after) => {
                record.proof.extend(proven(testbed, testbed.prove(route, before, &after, &seen)));
            }
            // Without them nothing says which way the traffic went. The testbed may know why
            // something ended that was only seen to be gone.
            Err(error) => {
                fault = Some(fault.map_or_else(|| error.clone(), |first| and(&first, &error)));
            }
        }
        if let Some(fault) = &fault {
            record.incomplete = Some(match (record.incomplete.take(), &outcome.fault) {
                (Some(why), None) => format!("{why}; {}", fault.text),
                _ => fault.text.clone(),
            });
        }
        record.concise();
        outcome::decide(&mut record, searched.is_some(), share);
        Done { record, fault }
    }
}

/// Asks the proxies how they are while the traffic is on, for whoever looks on.
struct Asking<'a> {
    watcher: &'a mut dyn Watcher,
    testbed: &'a mut dyn Testbed,
    route: &'a Route,
    /// The last answer; absent: not asked yet.
    gauges: Option<Result<BTreeMap<String, Gauges>, String>>,
}

impl Watcher for Asking<'_> {
    fn tick(&mut self, role: Role, end: usize, tick: &Tick) {
        self.watcher.tick(role, end, tick);
    }

    fn interrupted(&self) -> bool {
        self.watcher.interrupted()
    }

    fn window(&mut self, start: Nanos, window_ns: Nanos) {
        self.watcher.window(start, window_ns);
    }

    fn in_traffic(&mut self) {
        self.watcher.in_traffic();
        // One that does not answer is not waited for again.
        if !self.route.proxies.is_empty() && !matches!(self.gauges, Some(Err(_))) {
            self.gauges = Some(self.testbed.gauges(self.route).map_err(|fault| fault.text));
        }
    }
}

/// The sessions of a trial with whose they are.
fn ends_of<'a>(
    route: &'a Route,
    ends: &'a mut Ends,
) -> impl Iterator<Item = (&'a AgentId, &'a mut AgentConnection)> {
    let agents = route.agents();
    agents.zip(ends.clients.iter_mut().chain(&mut ends.servers))
}

/// What the proxies of a route say of themselves, as far as they could be asked.
fn proxies<'a>(
    route: &'a Route,
    before: &Counters,
    after: Option<&Counters>,
    gauges: Option<&BTreeMap<String, Gauges>>,
    costs: &Costs,
) -> Vec<ProxySaid<'a>> {
    let said = |proxy: &'a Proxy| ProxySaid {
        proxy,
        counted: after.map(|after| proxy_growth(before, after, &proxy.name)).unwrap_or_default(),
        gauges: gauges.and_then(|all| all.get(&proxy.name)).cloned().unwrap_or_default(),
        metered: under_load(&costs.metered, MeteredKind::Proxy, &proxy.name, &costs.load),
    };
    route.proxies.iter().map(said).collect()
}

/// A fault with what another one adds to it.
fn and(first: &Fault, more: &Fault) -> Fault {
    Fault { kind: first.kind, text: format!("{}; {}", first.text, more.text) }
}

fn reports(agents: &[AgentId], reports: &[Option<EndReport>]) -> Vec<(AgentId, EndReport)> {
    agents
        .iter()
        .zip(reports)
        .filter_map(|(agent, report)| Some((agent.clone(), report.clone()?)))
        .collect()
}

/// What to say of load that began inside the window, because the order to start came late to a
/// sender: it is less than the window's.
fn began_inside(outcome: &TrialResult, job: &Job) -> Option<String> {
    let [clients_ns, servers_ns] = outcome.orders_late_ns;
    let late_ns = if generator(job) == CLIENT { clients_ns } else { servers_ns };
    began_late(late_ns, outcome.warmup_ns, job.timing.window_ns)
}

/// The same of an order that came so late.
fn began_late(late_ns: Nanos, warmup_ns: Nanos, window_ns: Nanos) -> Option<String> {
    (late_ns > warmup_ns + window_ns / BEGAN_SHARE).then(|| {
        let late_ms = late_ns / 1_000_000;
        format!("the order to start came {late_ms} ms late, after the window had begun")
    })
}

/// A testbed's evidence. None at all says nothing of the way that the traffic took: that is no
/// proof.
fn proven(testbed: &dyn Testbed, evidence: Vec<Proof>) -> Vec<Proof> {
    if !evidence.is_empty() {
        return evidence;
    }
    let evidence = "the testbed has no evidence of the way that the traffic took".to_owned();
    vec![Proof { hop: testbed.name().to_owned(), evidence, ok: false }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_that_comes_in_the_warm_up_is_not_late() {
        const MS: Nanos = 1_000_000;
        let told = |late_ms: Nanos, warmup_ms: Nanos| {
            began_late(late_ms * MS, warmup_ms * MS, 250 * MS).is_some()
        };
        assert_eq!([told(0, 0), told(5, 0), told(6, 0)], [false, false, true]);
        assert_eq!([told(50, 50), told(55, 50), told(56, 50)], [false, false, true]);
    }
}
