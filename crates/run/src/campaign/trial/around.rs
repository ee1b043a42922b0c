//! What the testbed and others say of a route before the traffic and after it.

use std::time::Duration;

use hopbench_model::{Fault, MeteredCost, Record};
use hopbench_testbed::{AgentId, Counters, Metered, Route, Testbed};

use crate::conduct::Outcome;
use crate::metered::{self, Load, Own};

/// One moment.
pub(super) struct Moment {
    pub(super) counters: Result<Counters, Fault>,
    /// `Err`: why they are not known.
    meters: Result<Vec<Metered>, String>,
}

impl Moment {
    /// Before the traffic: the counters last, as near to it as can be.
    pub(super) fn before(testbed: &mut dyn Testbed, route: &Route) -> Self {
        let meters = testbed.meters(route).map_err(|fault| fault.text);
        Self { counters: testbed.counters(route), meters }
    }

    /// After it: the counters first.
    pub(super) fn after(testbed: &mut dyn Testbed, route: &Route) -> Self {
        let counters = testbed.counters(route);
        Self { counters, meters: testbed.meters(route).map_err(|fault| fault.text) }
    }
}

/// What others metered of a trial, and what that is of.
pub(super) struct Costs {
    pub(super) load: Load,
    pub(super) metered: Vec<MeteredCost>,
    /// Why of some nothing is known, by setting.
    unavailable: Vec<(String, String)>,
}

impl Costs {
    /// `quiet_since` is when the load of the trial before ended, since 1970 UTC.
    pub(super) fn of(
        before: &Moment,
        after: &Moment,
        outcome: &Outcome,
        warmup_ns: u64,
        quiet_since: Duration,
    ) -> Self {
        let load = Load::new(quiet_since, outcome.started, warmup_ns, outcome.client.window_ns);
        let (metered, unavailable) = match (&before.meters, &after.meters) {
            (Ok(before), Ok(after)) => {
                let (costs, unavailable) = metered::costs(before, after, outcome.started);
                (costs, unavailable.into_iter().collect())
            }
            (Err(why), _) | (_, Err(why)) => (Vec::new(), vec![("metered".to_owned(), format!("unavailable: {why}"))]),
        };
        Self { load, metered, unavailable }
    }

    /// Puts them into the record, with what they say of each other and of what was seen here. `watched` says whether the
    /// server is an agent, or a program whose processes are seen here.
    pub(super) fn enter(self, record: &mut Record, route: &Route, outcome: &Outcome, watched: bool) {
        let Self { load, metered, unavailable } = self;
        record.settings.extend(unavailable);
        record.warnings.extend(metered::throttled(&metered));
        record.warnings.extend(metered::disagree(&metered, &own(record, route, outcome), load.window_s));
        record.cost.metered = metered;
        if !watched {
            let servers: Vec<String> = route.servers.iter().map(|AgentId(name)| name.clone()).collect();
            metered::of_program(record, &servers, &load);
        }
    }
}

/// What was seen here of things that others may have metered, too.
fn own(record: &Record, route: &Route, outcome: &Outcome) -> Vec<Own> {
    let agents = route.clients.iter().chain(&route.servers).zip(outcome.clients.iter().chain(&outcome.servers));
    let agents = agents.filter_map(|(agent, report)| Own::agent(&agent.0, report.as_ref()?));
    let proxies = record.cost.proxies.iter().zip(&outcome.proxies).filter(|(_, seen)| seen.is_ok());
    let proxies = proxies.filter_map(|(proxy, _)| {
        Some(Own { what: "proxy", who: proxy.name.clone(), cores: *proxy.figures.get("cores")? })
    });
    // Nodes of one machine have read all of it.
    let nodes = record.cost.nodes.iter().filter(|node| !record.cost.one_machine && !node.per_cpu_busy.is_empty());
    let nodes = nodes.map(|node| Own { what: "node", who: node.name.clone(), cores: node.busy_cores });
    agents.chain(proxies).chain(nodes).collect()
}
