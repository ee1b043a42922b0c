//! The readings of other meters around the traffic of a route.

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::{EndReport, MeteredCost, Record, Warning, WarningKind};
use hopbench_testbed::{AgentId, Metered, MeteredKind, Proxy, Route};

use crate::conduct::TrialResult;
use crate::metered::{self, LoadTimes, Own, SandboxedEnd};

/// What others had metered at one moment; `Err`: why that is not known.
type Read = Result<Vec<Metered>, String>;

/// The setting that says which meters gave nothing.
const SILENT: &str = "meters";

/// What others metered of a trial, and what that is of.
pub(super) struct Costs {
    pub(super) load: LoadTimes,
    pub(super) metered: Vec<MeteredCost>,
    /// Why of some nothing is known, by setting.
    unavailable: Vec<(String, String)>,
    /// The agents that are in sandboxes which nobody sees from here.
    sandboxed: Vec<AgentId>,
    /// Why meters gave nothing, if some did.
    silent: Option<String>,
}

impl Costs {
    /// `quiet_since` is when the load of the trial before ended, since 1970 UTC.
    pub(super) fn of(
        before: &Read,
        after: &Read,
        outcome: &TrialResult,
        warmup_ns: u64,
        quiet_since: Duration,
        sandboxed: Vec<AgentId>,
    ) -> Self {
        let load =
            LoadTimes::new(quiet_since, outcome.started, warmup_ns, outcome.client.window_ns);
        let (metered, unavailable) = match (before, after) {
            (Ok(before), Ok(after)) => {
                let (costs, unavailable) = metered::costs(before, after, outcome.started);
                (costs, unavailable.into_iter().collect())
            }
            (Err(why), _) | (_, Err(why)) => {
                (Vec::new(), vec![("metered".to_owned(), format!("unavailable: {why}"))])
            }
        };
        Self { load, metered, unavailable, sandboxed, silent: None }
    }

    /// Whether a window says what this used under the trial's load. Of an agent, the kubelet does
    /// not know its sandbox.
    pub(super) fn knows(&self, what: MeteredKind, who: &str) -> bool {
        let others = |cost: &&MeteredCost| what != MeteredKind::Agent || cost.source != "kubelet";
        let costs: Vec<MeteredCost> = self.metered.iter().filter(others).cloned().collect();
        matches!(metered::under_load(&costs, what, who, &self.load), Some(Ok(_)))
    }

    /// Says which meters gave nothing, and why.
    pub(super) fn silent(&mut self, meters: &[String]) {
        if !meters.is_empty() {
            let why = meters.join("; ");
            self.unavailable.push((SILENT.to_owned(), format!("unavailable: {why}")));
            self.silent = Some(why);
        }
    }

    /// Says which onlookers there were no sessions with, and why.
    pub(super) fn unreached(&mut self, onlookers: BTreeMap<AgentId, String>) {
        let told = |(agent, why): (AgentId, String)| {
            (format!("onlooker {agent}"), format!("unavailable: {why}"))
        };
        self.unavailable.extend(onlookers.into_iter().map(told));
    }

    /// Puts them into the record, with what they say of each other and of what was seen here.
    pub(super) fn enter(self, record: &mut Record, route: &Route, outcome: &TrialResult) {
        let Self { load, metered, unavailable, sandboxed, silent } = self;
        record.settings.extend(unavailable);
        // What an agent reads of its own quota is of the window.
        let is_told = record.warnings.iter().any(|warning| warning.kind == WarningKind::CpuQuota);
        let others = metered.iter().filter(|cost| !is_told || cost.what != "agent");
        let throttled = metered::throttled(others);
        record.warnings.extend(throttled);
        // A sandbox's kernel is in some of the figures and not in others.
        let is_outside = |name: &str| !sandboxed.iter().any(|AgentId(agent)| agent == name);
        let mut own = own(record, route, outcome);
        own.retain(|own| own.what != "agent" || is_outside(&own.who));
        let comparable = metered.iter().filter(|cost| is_outside(&cost.who)).cloned();
        record.warnings.extend(metered::disagree(
            &comparable.collect::<Vec<_>>(),
            &own,
            load.window_s,
        ));
        record.cost.metered = metered;
        metered::of_nodes(record, &load);
        metered::of_onlookers(record, observed(route, &outcome.onlookers));
        let names = |agents: &[AgentId]| {
            agents.iter().map(|AgentId(name)| name.clone()).collect::<Vec<_>>()
        };
        let is_sandboxed =
            |agents: &[AgentId]| agents.iter().any(|agent| sandboxed.contains(agent));
        let shared = route.clients.iter().any(|agent| route.servers.contains(agent));
        let mut unknown = unknown_proxies(record, route);
        let mut missing = |is_known: bool, setting: &str, whose: &str| {
            if !is_known {
                unknown.push(format!("{whose} (settings.{setting})"));
            }
        };
        if is_sandboxed(&route.clients) {
            let (end, names) = (SandboxedEnd::Client, names(&route.clients));
            missing(
                metered::of_sandbox(record, end, &names, &load, shared),
                end.setting(),
                "the client's sandbox",
            );
        }
        let (end, names) = (SandboxedEnd::Server, names(&route.servers));
        if let Some(unseen) = &outcome.server_unseen {
            missing(
                metered::of_program(record, &names, &load, unseen),
                metered::SERVER_PROGRAM,
                "the server program",
            );
        } else if is_sandboxed(&route.servers) {
            missing(
                metered::of_sandbox(record, end, &names, &load, shared),
                end.setting(),
                "the server's sandbox",
            );
        }
        record.warnings.extend(left_out(&unknown, silent.as_deref()));
    }
}

/// What the onlookers reported, each with its node.
fn observed<'a>(
    route: &'a Route,
    reports: &'a BTreeMap<AgentId, EndReport>,
) -> impl Iterator<Item = (&'a str, &'a EndReport)> {
    reports.iter().filter_map(move |(agent, report)| {
        let is_beside =
            |proxy: &&Proxy| proxy.beside.as_ref().is_some_and(|beside| beside.agent == *agent);
        let of_proxy = route.proxies.iter().find(is_beside).map(|proxy| &proxy.node);
        let mut on_nodes = route.node_onlookers.iter();
        let of_node = on_nodes.find(|onlooker| onlooker.agent == *agent).map(|one| &one.node);
        Some((of_proxy.or(of_node)?.as_str(), report))
    })
}

/// The proxies of the path whose CPU only a meter sees, and none saw in time, each with the setting
/// that says why.
fn unknown_proxies(record: &Record, route: &Route) -> Vec<String> {
    let known = |name: &str| {
        record
            .cost
            .proxies
            .iter()
            .any(|cost| cost.name == name && cost.figures.contains_key("cores"))
    };
    let unseen = route
        .proxies
        .iter()
        .filter(|proxy| proxy.named && proxy.pids.is_empty() && !known(&proxy.name));
    unseen.map(|proxy| format!("the proxy {0} (settings.proxy_{0})", proxy.name)).collect()
}

/// Says what stands empty because nobody metered it in time; `silent`: why meters gave nothing.
fn left_out(unknown: &[String], silent: Option<&str>) -> Option<Warning> {
    if unknown.is_empty() {
        return None;
    }
    let (why, next) = match silent {
        Some(why) => {
            (format!("; {why}"), "let these meters answer: `hopbench doctor` says what they need")
        }
        None => {
            let next = "lengthen the trials, as with --time 30s: meters read every 10 to 20 s, if \
                        nobody told them otherwise";
            (String::new(), next)
        }
    };
    let whose = unknown.join(", ");
    let text = format!(
        "no meter has the CPU of this trial alone for {whose}: its figures are left out{why}"
    );
    Some(Warning::new(WarningKind::Unavailable, text, next))
}

/// What was seen here of things that others may have metered, too.
fn own(record: &Record, route: &Route, outcome: &TrialResult) -> Vec<Own> {
    let agents = route
        .clients
        .iter()
        .chain(&route.servers)
        .zip(outcome.clients.iter().chain(&outcome.servers));
    let agents = agents.filter_map(|(agent, report)| Own::agent(&agent.0, report.as_ref()?));
    let proxies = record.cost.proxies.iter().zip(&outcome.proxies).filter(|(_, seen)| seen.is_ok());
    let proxies = proxies.filter_map(|(proxy, _)| {
        Some(Own { what: "proxy", who: proxy.name.clone(), cores: *proxy.figures.get("cores")? })
    });
    // Nodes of one machine have read all of it.
    let nodes = record
        .cost
        .nodes
        .iter()
        .filter(|node| !record.cost.one_machine && !node.per_cpu_busy.is_empty());
    let nodes =
        nodes.map(|node| Own { what: "node", who: node.name.clone(), cores: node.busy_cores });
    let servers = route.servers.iter().zip(&outcome.servers).filter(|_| outcome.programs_apart);
    let programs = servers.filter_map(|(agent, report)| Own::program(&agent.0, report.as_ref()?));
    agents.chain(programs).chain(proxies).chain(nodes).collect()
}

#[cfg(test)]
mod tests {
    use hopbench_model::Tick;
    use hopbench_testbed::{Beside, NodeOnlooker};

    use super::*;

    #[test]
    fn an_onlooker_is_on_the_node_of_its_proxy_or_on_its_own() {
        let agent = |name: &str| AgentId(name.to_owned());
        let beside = Some(Beside { agent: agent("gate"), container: "0123456789ab".to_owned() });
        let (name, node) = ("gateway".to_owned(), "c".to_owned());
        let (named, pids) = (true, Vec::new());
        let gateway = Proxy { name, node, named, pids, beside, workers: 1, cpus: None };
        let alone = NodeOnlooker { node: "d".to_owned(), agent: agent("alone"), absent: None };
        let route = Route {
            path: "in".to_owned(),
            clients: vec![agent("client")],
            servers: vec![agent("server")],
            proxies: vec![gateway],
            node_onlookers: vec![alone],
            ..Route::to("127.0.0.1:1".parse().unwrap())
        };
        let report = |t_ns: i64| {
            let start = Tick { t_ns, ..Tick::default() };
            EndReport { start, ..EndReport::default() }
        };
        let agents = ["alone", "gate", "nobody"].map(agent);
        let reports: BTreeMap<AgentId, EndReport> =
            agents.into_iter().zip((1..).map(report)).collect();
        let found: Vec<(&str, i64)> =
            observed(&route, &reports).map(|(node, report)| (node, report.start.t_ns)).collect();
        assert_eq!(found, [("d", 1), ("c", 2)]);
    }
}
