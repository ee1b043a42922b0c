//! The assembly of a record from the reports of all ends.

mod balance;
mod cost;
mod end;
mod intervals;
mod members;
mod nic;
mod processes;
mod proxies;

use std::collections::{BTreeMap, BTreeSet};

use hopbench_load::workload::{TrialReports, Workload};
use hopbench_model::{
    CPUS_SETTING, CpuSet, EndReport, EngineKind, Environment, FlowReport, Job, LINK_RATE_SETTING,
    Pattern, Proof, RECORD_SCHEMA, Record, SECOND, Warning, WarningKind,
};
use hopbench_stats::Histogram;
use hopbench_wire::Hello;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::conduct::TrialResult;
use crate::limited::link_rate::LinkRate;
use crate::limited::{Evidence, limited_by_agents};
use crate::warnings::{READINGS_SKEW_SETTING, START_SKEW_SETTING, warnings};
use end::End;
use hopbench_control::resolve::Target;
pub use proxies::ProxySaid;
use proxies::{Connections, Work};

/// What a record says besides what was measured.
#[allow(missing_debug_implementations, reason = "a workload is code, not data")]
pub struct Setting<'a> {
    /// The run's name for itself.
    pub run_id: &'a str,
    /// The workload.
    pub workload: &'static dyn Workload,
    /// What the record calls the workload: its name in the scenario.
    pub name: &'a str,
    /// The job of each client.
    pub job: &'a Job,
    /// What varies between the trials of this run.
    pub point: BTreeMap<String, Value>,
    /// The round, from 1.
    pub round: u32,
    /// The target of the clients; its name is the record's path.
    pub target: &'a Target,
    /// The first client's agent.
    pub client: &'a Hello,
    /// The first server's agent.
    pub server: Option<&'a Hello>,
    /// The nodes of the clients, then of the servers, in the order of the ends.
    pub nodes: (&'a [String], &'a [String]),
    /// CPUs that the clients are held to, then the servers, in the order of the ends; absent: any.
    pub cpus: (&'a [Option<CpuSet>], &'a [Option<CpuSet>]),
    /// CPU limits of the server programs beside the servers' agents, cores, in the order of the
    /// ends; absent: none is known.
    pub program_limits: &'a [Option<f64>],
    /// The slowest link on the way, where it is known.
    pub link: Option<LinkRate>,
    /// The proxies of the route, in the order in which they were watched. Those that the path names
    /// stand between the ends: the ends' sockets are then not of one connection.
    pub proxies: &'a [ProxySaid<'a>],
}

/// More of one core than this, spent by the conductor and the meters while a trial runs, can be
/// seen in the figures.
const OVERHEAD_SEEN_CORES: f64 = 0.02;

/// The record of a trial.
pub fn record(setting: &Setting<'_>, outcome: &TrialResult) -> Record {
    let job = setting.job;
    let (client, server) = (&outcome.client, outcome.server.as_ref());
    let count = u32::try_from(outcome.clients.len()).unwrap_or(u32::MAX);
    let together = setting.workload.together(job, count);
    let proxied = setting.proxies.iter().any(|said| said.proxy.named);
    let trial = TrialReports {
        job: &together,
        client,
        server,
        shared_clock: outcome.shared_clock,
        proxied,
    };
    let figures = setting.workload.figures(&trial);
    let started = OffsetDateTime::UNIX_EPOCH + outcome.started;
    let (clients, servers) = ends(setting, &together, outcome);
    let work = Work::of(setting.workload, &figures.metrics, client);
    let servers_count = u32::try_from(outcome.servers.len()).unwrap_or(u32::MAX);
    let connections = Connections {
        each_client: job.connections,
        all: together.connections,
        servers: servers_count,
    };
    let mut proxies = proxies::spent(setting.proxies, &outcome.proxies, &work, connections);
    let (of_proxies, unavailable) =
        (std::mem::take(&mut proxies.metrics), std::mem::take(&mut proxies.unavailable));
    let spent = cost::spent(&clients, &servers, proxies, outcome, job);
    let mut record = Record {
        schema: RECORD_SCHEMA.to_owned(),
        run_id: setting.run_id.to_owned(),
        path: setting.target.name.clone(),
        workload: setting.name.to_owned(),
        point: setting.point.clone(),
        round: setting.round,
        session: 1,
        started_at: started.format(&Rfc3339).unwrap_or_default(),
        window_s: client.window_ns as f64 / SECOND as f64,
        limited_by: String::new(),
        limited_because: String::new(),
        explanation: figures.explanation,
        metrics: figures.metrics,
        latency: latencies(client, server),
        intervals: intervals::intervals(
            job.kind().pattern == Pattern::OneWay,
            job.timing.interval_ns,
            client,
            server,
        ),
        cost: spent.cost,
        proof: proof(setting, outcome),
        invariants: figures.invariants,
        warnings: figures.warnings,
        statuses: client.statuses.clone(),
        errors: client.errors.clone(),
        settings: settings(setting, outcome),
        job: serde_json::to_value(job).unwrap_or_default(),
        environment: Environment {
            version: format!("hopbench {}", setting.client.version),
            commit: setting.client.commit.clone(),
            client: setting.client.machine.clone(),
            server: setting.server.map(|s| s.machine.clone()).unwrap_or_default(),
        },
        testbed_changed: None,
        incomplete: incomplete(outcome),
        error: None,
        search: None,
    };
    record.settings.extend(unavailable);
    record.metrics.extend(of_proxies);
    record.metrics.insert("overhead_cores".to_owned(), overhead(outcome) / record.window_s);
    // What is not finite would become null, which no reader takes for a number.
    record.metrics.retain(|_, value| value.is_finite());
    record.warnings.extend(spent.warnings);
    record.invariants.extend(spent.invariants);
    let evidence = Evidence {
        burdens: spent.burdens,
        server_nodes: outcome
            .server_unseen
            .as_ref()
            .map(|_| setting.nodes.1.iter().cloned().collect()),
        one_machine: outcome.one_machine,
        link: setting.link,
        proxied,
    };
    (record.limited_by, record.limited_because) =
        limited_by_agents(&together, &record, &evidence, outcome);
    record.warnings.extend(overhead_seen(outcome, record.window_s));
    let more = warnings(&record, job, outcome);
    record.warnings.extend(more);
    record.concise();
    record
}

/// The clients and the servers that reported, with where they were. `together` is the job of all
/// clients.
fn ends<'a>(
    setting: &Setting<'a>,
    together: &Job,
    outcome: &'a TrialResult,
) -> (Vec<End<'a>>, Vec<End<'a>>) {
    let Setting { job, nodes, cpus, program_limits, .. } = *setting;
    let set = |cpus: &CpuSet| cpus.0.iter().copied().collect::<BTreeSet<_>>();
    let servers = u32::try_from(outcome.servers.len()).unwrap_or(u32::MAX).max(1);
    let side = |reports: &'a [Option<EndReport>],
                nodes: &'a [String],
                name,
                held: &[Option<CpuSet>],
                limits: &[Option<f64>],
                pinned,
                threads| {
        let pinned = Option::as_ref(pinned).map(set);
        let reported =
            reports.iter().enumerate().filter_map(|(i, report)| Some((i, report.as_ref()?)));
        let end = |(i, report): (usize, &'a EndReport)| End {
            node: nodes.get(i).map_or(name, String::as_str),
            report,
            held: held
                .get(i)
                .and_then(|held| held.as_ref().map(set))
                .or_else(|| confined(report).as_ref().map(set)),
            pinned: pinned.clone(),
            program_limit: limits.get(i).copied().flatten(),
            threads,
        };
        reported.map(end).collect()
    };
    // Several servers share the connections of all clients.
    let accepted = together.connections.div_ceil(servers);
    (
        side(
            &outcome.clients,
            nodes.0,
            "client",
            cpus.0,
            &[],
            &job.client_cpus,
            threads(job, job.connections),
        ),
        side(
            &outcome.servers,
            nodes.1,
            "server",
            cpus.1,
            program_limits,
            &job.server_cpus,
            threads(job, accepted),
        ),
    )
}

/// The CPUs that an agent's process may use, as it read them back; absent: any. A sandbox numbers
/// CPUs of its own.
fn confined(report: &EndReport) -> Option<CpuSet> {
    let cpus = report.settings.get(CPUS_SETTING)?.parse().ok()?;
    (!processes::in_sandbox(report)).then_some(cpus)
}

/// Threads of an agent that do the work of so many connections.
pub(crate) fn threads(job: &Job, connections: u32) -> u32 {
    if job.engine == EngineKind::Threads { connections } else { job.threads.min(connections) }
}

/// How far apart the ends did something, ns: each as much later than ordered as its own clock says.
/// `None`: fewer than two ends say so.
fn apart(outcome: &TrialResult, late: impl Fn(&EndReport) -> i64) -> Option<i64> {
    let ends = outcome.clients.iter().chain(&outcome.servers).flatten();
    let late: Vec<i64> = ends.map(late).collect();
    let (first, last) = (late.iter().min()?, late.iter().max()?);
    (late.len() > 1).then(|| last.saturating_sub(*first))
}

/// How far apart the ends' load began.
fn start_skew(outcome: &TrialResult) -> Option<i64> {
    apart(outcome, |end| i64::try_from(end.start_late_ns).unwrap_or(i64::MAX))
}

/// How far apart their first readings of CPU and counters are: that much their windows of cost
/// differ.
fn readings_skew(outcome: &TrialResult) -> Option<i64> {
    apart(outcome, |end| end.start.t_ns)
}

fn incomplete(outcome: &TrialResult) -> Option<String> {
    let fault = outcome.fault.as_ref().map(|f| f.text.clone());
    fault
        .or_else(|| outcome.client.incomplete.clone())
        .or_else(|| outcome.server.as_ref().and_then(|s| s.incomplete.clone()))
}

/// CPU time that the conductor and the meters spent in the window, s.
fn overhead(outcome: &TrialResult) -> f64 {
    let ends = outcome.clients.iter().chain(&outcome.servers).flatten();
    let agents = ends.chain(outcome.onlookers.values());
    let meters: u64 = agents.map(|agent| agent.control_cpu_ns).sum();
    (outcome.conductor_cpu_ns + meters) as f64 / SECOND as f64
}

/// A conductor and meters that work while a trial runs take CPU from it.
fn overhead_seen(outcome: &TrialResult, window_s: f64) -> Option<Warning> {
    let share = |seconds: f64| seconds / window_s * 100.0;
    let (all, conductor) = (overhead(outcome), outcome.conductor_cpu_ns as f64 / SECOND as f64);
    // In a short window the readings at its edges are most of it.
    let is_seen = window_s >= 1.0 && all > OVERHEAD_SEEN_CORES * window_s;
    if !is_seen {
        return None;
    }
    let text = format!(
        "the conductor and the meters used {:.1} % of a core during the trial: {:.1} % the \
         conductor, {:.1} % the meters of {} agents",
        share(all),
        share(conductor),
        share(all - conductor),
        outcome.clients.len() + outcome.servers.len() + outcome.onlookers.len(),
    );
    Some(Warning::new(
        WarningKind::SharedCpu,
        text,
        "lengthen the intervals, or give the trial fewer clients",
    ))
}

/// Latencies by kind; one that both ends measured is the client's.
fn latencies(
    client: &EndReport,
    server: Option<&EndReport>,
) -> BTreeMap<String, hopbench_model::Latency> {
    let mut out = BTreeMap::new();
    for end in server.into_iter().chain([client]) {
        for (kind, text) in &end.latency {
            // A histogram that does not read is caught by the invariant that counts requests.
            if let Ok(histogram) = Histogram::from_base64(text) {
                out.insert(kind.name().to_owned(), histogram.summary());
            }
        }
    }
    out
}

/// Whether the first flow of each client went where it was to go. What a server sees of it depends
/// on the way, which only the testbed knows: it stands among the settings.
fn proof(setting: &Setting<'_>, outcome: &TrialResult) -> Vec<Proof> {
    let target = setting.target.address;
    let proof = |(hop, flow): (String, &FlowReport)| Proof {
        hop,
        evidence: format!("flow {} from {} to {}", flow.flow, flow.local, flow.peer),
        ok: flow.peer == target.to_string() || target.port() == 0,
    };
    first_flows("client", &outcome.clients).map(proof).collect()
}

/// The first flow of each end of a side that had one, with the end's name.
fn first_flows<'a>(
    name: &str,
    side: &'a [Option<EndReport>],
) -> impl Iterator<Item = (String, &'a FlowReport)> {
    let several = side.len() > 1;
    side.iter().enumerate().filter_map(move |(i, report)| {
        let flow = report.as_ref()?.flows.first()?;
        Some((if several { format!("{name} {}", i + 1) } else { name.to_owned() }, flow))
    })
}

fn settings(setting: &Setting<'_>, outcome: &TrialResult) -> BTreeMap<String, String> {
    let mut out = outcome.client.settings.clone();
    if let Some(server) = &outcome.server {
        for (name, value) in &server.settings {
            if out.get(name) != Some(value) {
                out.insert(format!("server_{name}"), value.clone());
            }
        }
    }
    let sides =
        [("clients", "client_nic", &outcome.clients), ("servers", "server_nic", &outcome.servers)];
    for (name, nic_setting, side) in sides {
        if side.len() > 1 {
            out.insert(name.to_owned(), side.len().to_string());
        }
        // Of several ends the first one's.
        let first = side.iter().flatten().find_map(nic::name);
        out.extend(first.map(|name| (nic_setting.to_owned(), name)));
    }
    let address = setting.target.address;
    // ICMP has no ports.
    let text = if address.port() == 0 { address.ip().to_string() } else { address.to_string() };
    out.insert("address".to_owned(), text);
    if !setting.target.others.is_empty() {
        let others: Vec<_> = setting.target.others.iter().map(ToString::to_string).collect();
        out.insert("addresses_not_used".to_owned(), others.join(", "));
    }
    let arrived: Vec<_> = first_flows("server", &outcome.servers)
        .map(|(end, flow)| {
            format!("{end}: flow {} at {} from {}", flow.flow, flow.local, flow.peer)
        })
        .collect();
    if !arrived.is_empty() {
        out.insert("first_flows_arrived".to_owned(), arrived.join(", "));
    }
    if let Some(link) = setting.link {
        out.extend(link.settings());
    }
    if !out.contains_key(LINK_RATE_SETTING) && !outcome.one_machine {
        let client = out.get("client_nic").map(|name| (name, &setting.client.machine));
        let server = setting.server.map(|server| &server.machine);
        let speed = nic::slower([client, out.get("server_nic").zip(server)]);
        out.extend(speed.map(|speed| (LINK_RATE_SETTING.to_owned(), speed.to_string())));
    }
    if setting.proxies.iter().any(|said| said.proxy.named) {
        let what = "of the ends' own connections, which end at the nearest proxy: so do round \
                    trips, acknowledgements and what was sent again";
        out.insert("tcp_counters".to_owned(), what.to_owned());
    }
    let clock = match (outcome.shared_clock, outcome.one_machine) {
        (true, _) => "shared",
        (false, true) => "a sandbox's own",
        (false, false) => "two machines",
    };
    out.insert("clock".to_owned(), clock.to_owned());
    out.extend(start_skew(outcome).map(|skew| (START_SKEW_SETTING.to_owned(), skew.to_string())));
    out.extend(
        readings_skew(outcome).map(|skew| (READINGS_SKEW_SETTING.to_owned(), skew.to_string())),
    );
    if outcome.clock_error_ns > 0 {
        out.insert("clock_error_ns".to_owned(), outcome.clock_error_ns.to_string());
    }
    let mut nodes: Vec<&String> = setting.nodes.0.iter().chain(setting.nodes.1).collect();
    nodes.sort_unstable();
    nodes.dedup();
    if outcome.one_machine && nodes.len() > 1 {
        let names: Vec<_> = nodes.iter().map(|n| n.as_str()).collect();
        out.insert(
            "nodes_share_a_machine".to_owned(),
            format!(
                "{}: the CPU figures of each node are those of the whole machine",
                names.join(", ")
            ),
        );
    }
    out
}

#[cfg(test)]
mod tests;
