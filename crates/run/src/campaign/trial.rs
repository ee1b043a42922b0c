//! One trial of a campaign: a cell in a round, on a testbed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hopbench_load::workload::Workload;
use hopbench_model::{CpuSet, EndReport, Fault, Job, Path, Point, Proof, Record};
use hopbench_testbed::{AgentId, Counters, Gauges, Proxy, Route, Seen, Testbed, proxy_growth};

use super::links::Links;
use crate::assemble::{ProxySaid, Setting, record};
use crate::conduct::{Ends, Outcome, Watch, Watcher, conduct};
use crate::link::Link;
use crate::link_rate::LinkRate;
use crate::resolve::Target;

/// What is measured.
pub(super) struct Trial<'a> {
    pub(super) run_id: &'a str,
    pub(super) session: u32,
    pub(super) path: &'a Path,
    pub(super) point: &'a Point,
    pub(super) round: u32,
}

/// A trial that left something to report.
pub(super) struct Done {
    pub(super) record: Record,
    /// What broke in the middle.
    pub(super) fault: Option<Fault>,
}

/// What there is when the traffic is over.
struct Over<'a> {
    workload: &'static dyn Workload,
    job: &'a Job,
    target: SocketAddr,
    route: &'a Route,
    ends: &'a Ends,
    outcome: &'a Outcome,
    /// The testbed's counters before the traffic and after it.
    before: &'a Counters,
    after: Result<Counters, Fault>,
    /// What the proxies say of themselves when it is over.
    gauges: Result<BTreeMap<String, Gauges>, Fault>,
}

impl Trial<'_> {
    /// Measures.
    ///
    /// # Errors
    /// What kept it from starting, or left nothing to report.
    pub(super) fn measure(
        &self,
        testbed: &mut dyn Testbed,
        links: &mut Links,
        watcher: &mut dyn Watcher,
    ) -> Result<Done, Fault> {
        let name = &self.point.job.workload;
        let workload =
            hopbench_load::workload(name).ok_or_else(|| Fault::input(format!("workload `{name}` is not known")))?;
        let route = testbed.route(self.path, self.point)?;
        let (job, target) = self.address(workload, &route);
        let mut ends = links.take(testbed, &route.clients, &route.servers)?;
        for (agent, link) in ends_of(&route, &mut ends) {
            link.is_in(testbed.sandbox(agent));
        }
        let measured = testbed.counters(&route).and_then(|before| {
            let watch = Watch { programs: &route.programs, proxies: &route.proxies };
            let outcome = conduct(&mut ends, &job, target, &watch, watcher)?;
            Ok((before, outcome))
        });
        let finished = measured.map(|(before, outcome)| {
            let after = testbed.counters(&route);
            let gauges = testbed.gauges(&route);
            let (job, route, ends, outcome, before) = (&job, &route, &ends, &outcome, &before);
            self.finish(Over { workload, job, target, route, ends, outcome, before, after, gauges }, testbed)
        });
        links.put_back(ends, &route.clients, &route.servers);
        finished
    }

    /// The job with what only the route knows, and where the clients connect to.
    fn address(&self, workload: &dyn Workload, route: &Route) -> (Job, SocketAddr) {
        let mut job = self.point.job.clone();
        let mut target = route.target;
        match workload.nature().target {
            "URL" => job.params["url"] = format!("http://{target}{}", self.point.server.request).into(),
            // ICMP has no ports.
            "HOST" => target.set_port(0),
            _ => {}
        }
        (job, target)
    }

    fn finish(&self, over: Over<'_>, testbed: &dyn Testbed) -> Done {
        let Over { workload, job, target, route, ends, outcome, before, after, gauges } = over;
        let nodes = |agents: &[AgentId]| -> Vec<String> {
            let node = |agent| route.nodes.iter().find(|(id, _)| id == agent).map(|(_, node)| node.clone());
            agents.iter().map(|agent| node(agent).unwrap_or_else(|| agent.to_string())).collect()
        };
        let cpus = |agents: &[AgentId]| -> Vec<Option<CpuSet>> {
            agents.iter().map(|agent| route.cpus.get(agent).cloned().map(CpuSet)).collect()
        };
        let proxies = proxies(route, before, after.as_ref().ok(), gauges.as_ref().ok());
        let (client_nodes, server_nodes) = (nodes(&route.clients), nodes(&route.servers));
        let setting = Setting {
            run_id: self.run_id,
            workload,
            name: &self.point.workload,
            job,
            point: self.point.point.clone(),
            round: self.round,
            target: &Target { name: self.path.name.clone(), address: target, others: Vec::new() },
            client: &ends.clients[0].hello,
            server: ends.servers.first().map(|link| &link.hello),
            nodes: (&client_nodes, &server_nodes),
            cpus: (&cpus(&route.clients), &cpus(&route.servers)),
            link: Some(LinkRate {
                bits_per_s: route.link_bits_per_s,
                mtu_bytes: route.mtu_bytes,
                tunnel_bytes: route.tunnel_bytes,
                v6: target.is_ipv6(),
            }),
            proxies: &proxies,
        };
        let (mut record, _) = record(&setting, outcome);
        record.session = self.session;
        record.settings.insert("hops".to_owned(), route.hops.join(", "));
        let agents = route.clients.iter().chain(&route.servers);
        let machines: BTreeMap<_, _> = agents
            .zip(ends.clients.iter().chain(&ends.servers))
            .map(|(agent, link)| (agent.clone(), link.hello.machine.clone()))
            .collect();
        let seen = Seen {
            job,
            clients: &reports(&route.clients, &outcome.clients),
            servers: &reports(&route.servers, &outcome.servers),
            machines: &machines,
        };
        let mut fault = outcome.fault.clone();
        match after {
            Ok(after) => record.proof.extend(proven(testbed, testbed.prove(route, before, &after, &seen))),
            // Without them nothing says which way the traffic went.
            Err(error) => fault = fault.or(Some(error)),
        }
        fault = fault.or_else(|| gauges.err());
        if let Some(fault) = &fault {
            record.incomplete.get_or_insert_with(|| fault.text.clone());
        }
        // What was cut short cannot be expected to add up.
        if record.incomplete.is_none() {
            record.error = error(&record);
        }
        Done { record, fault }
    }
}

/// The sessions of a trial with whose they are.
fn ends_of<'a>(route: &'a Route, ends: &'a mut Ends) -> impl Iterator<Item = (&'a AgentId, &'a mut Link)> {
    let agents = route.clients.iter().chain(&route.servers);
    agents.zip(ends.clients.iter_mut().chain(&mut ends.servers))
}

/// What the proxies of a route say of themselves, as far as they could be asked.
fn proxies<'a>(
    route: &'a Route,
    before: &Counters,
    after: Option<&Counters>,
    gauges: Option<&BTreeMap<String, Gauges>>,
) -> Vec<ProxySaid<'a>> {
    let said = |proxy: &'a Proxy| ProxySaid {
        proxy,
        counted: after.map(|after| proxy_growth(before, after, &proxy.name)).unwrap_or_default(),
        gauges: gauges.and_then(|all| all.get(&proxy.name)).cloned().unwrap_or_default(),
    };
    route.proxies.iter().map(said).collect()
}

fn reports(agents: &[AgentId], reports: &[Option<EndReport>]) -> Vec<(AgentId, EndReport)> {
    agents.iter().zip(reports).filter_map(|(agent, report)| Some((agent.clone(), report.clone()?))).collect()
}

/// A testbed's evidence. None at all says nothing of the way that the traffic took: that is no proof.
fn proven(testbed: &dyn Testbed, evidence: Vec<Proof>) -> Vec<Proof> {
    if !evidence.is_empty() {
        return evidence;
    }
    let evidence = "the testbed has no evidence of the way that the traffic took".to_owned();
    vec![Proof { hop: testbed.name().to_owned(), evidence, ok: false }]
}

/// Why a record's figures must not be used.
fn error(record: &Record) -> Option<String> {
    let unproven = record.proof.iter().filter(|p| !p.ok).map(|p| format!("{}: {}", p.hop, p.evidence));
    let broken = record.invariants.iter().filter(|i| !i.ok).map(|i| format!("{}: {}", i.name, i.detail));
    let unproven: Vec<_> = unproven.collect();
    let broken: Vec<_> = broken.collect();
    if !unproven.is_empty() {
        return Some(format!("the traffic did not take the path: {}", unproven.join("; ")));
    }
    if !broken.is_empty() {
        return Some(format!("the figures contradict each other: {}", broken.join("; ")));
    }
    let nothing = ["error_ratio", "lost_ratio"].iter().any(|name| record.metrics.get(*name).is_some_and(|s| *s >= 1.0));
    nothing.then(|| {
        let reasons: Vec<_> = record.errors.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        format!("not one exchange succeeded: {}", reasons.join(", "))
    })
}
