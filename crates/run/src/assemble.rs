//! What both ends saw, as a record.

use std::collections::BTreeMap;

use hopbench_load::workload::{Trial, Workload};
use hopbench_meter::delta;
use hopbench_model::{
    Cost, Counter, EndReport, Environment, Interval, Invariant, Job, NodeCost, Proof, RECORD_SCHEMA, Reading, Record,
    SECOND, Tick, Warning, WarningKind,
};
use hopbench_stats::Histogram;
use hopbench_wire::Hello;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::conduct::Outcome;
use crate::limited::limited;
use crate::resolve::Target;
use crate::warnings::warnings;

/// What a record says besides what was measured.
#[allow(missing_debug_implementations, reason = "a workload is code, not data")]
pub struct Setting<'a> {
    /// The run's name for itself.
    pub run_id: &'a str,
    /// The workload.
    pub workload: &'static dyn Workload,
    /// The job.
    pub job: &'a Job,
    /// What varies between the trials of this run.
    pub point: BTreeMap<String, Value>,
    /// The round, from 1.
    pub round: u32,
    /// Where the client connected to.
    pub target: &'a Target,
    /// The client's agent.
    pub client: &'a Hello,
    /// The server's agent.
    pub server: Option<&'a Hello>,
}

/// The record of a trial, with the sentences that explain it.
pub fn record(setting: &Setting<'_>, outcome: &Outcome) -> (Record, Vec<String>) {
    let job = setting.job;
    let (client, server) = (&outcome.client, outcome.server.as_ref());
    let figures = setting.workload.figures(&Trial { job, client, server, shared_clock: outcome.shared_clock });
    let started = OffsetDateTime::UNIX_EPOCH + outcome.started;
    let mut record = Record {
        schema: RECORD_SCHEMA.to_owned(),
        run_id: setting.run_id.to_owned(),
        path: setting.target.name.clone(),
        workload: job.workload.clone(),
        point: setting.point.clone(),
        round: setting.round,
        started_at: started.format(&Rfc3339).unwrap_or_default(),
        window_s: client.window_ns as f64 / SECOND as f64,
        limited_by: String::new(),
        limited_because: String::new(),
        metrics: figures.metrics,
        latency: latencies(client, server),
        intervals: intervals(setting.workload.one_way(), job.timing.interval_ns, client, server),
        cost: Cost {
            client: process(client),
            server: server.map(process).unwrap_or_default(),
            nodes: nodes(client, server),
        },
        proof: proof(setting, client, server),
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
        incomplete: incomplete(outcome),
    };
    // What is not finite would become null, which no reader takes for a number.
    record.metrics.retain(|_, value| value.is_finite());
    record.warnings.extend(raise_to_processes(&mut record.cost, outcome.shared_clock));
    record.invariants.extend(machine_invariants(&record.cost));
    (record.limited_by, record.limited_because) =
        limited(job, record.window_s, &record.metrics, &record.latency, &record.cost);
    let more = warnings(&record, job, outcome);
    record.warnings.extend(more);
    (record, figures.notes)
}

fn incomplete(outcome: &Outcome) -> Option<String> {
    let fault = outcome.fault.as_ref().map(|f| f.text.clone());
    fault
        .or_else(|| outcome.client.incomplete.clone())
        .or_else(|| outcome.server.as_ref().and_then(|s| s.incomplete.clone()))
}

/// Latencies by kind; one that both ends measured is the client's.
fn latencies(client: &EndReport, server: Option<&EndReport>) -> BTreeMap<String, hopbench_model::Latency> {
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

/// Rates of each interval. One-way traffic is counted where it is sent and where it arrives.
fn intervals(one_way: bool, interval_ns: u64, client: &EndReport, server: Option<&EndReport>) -> Vec<Interval> {
    let mut out = Vec::new();
    let mut before = (&client.start, server.map(|s| &s.start));
    // A control thread that comes late skips a tick: ends are matched by time, not by number.
    let near = |tick: &Tick| {
        let away = |other: &Tick| (other.t_ns - tick.t_ns).unsigned_abs();
        let nearest = server?.ticks.iter().min_by_key(|other| away(other))?;
        (away(nearest) <= interval_ns / 2).then_some(nearest)
    };
    for tick in &client.ticks {
        let theirs = near(tick);
        let mine = rates(before.0, tick);
        let Some(mine) = mine else { continue };
        let mut interval = Interval::from([("t_s".to_owned(), tick.t_ns as f64 / SECOND as f64)]);
        let theirs_rates = before.1.zip(theirs).and_then(|(then, now)| rates(then, now));
        for (name, counter) in
            [("sent_bits_per_s", Counter::SentBytes), ("received_bits_per_s", Counter::ReceivedBytes)]
        {
            // Request and response bytes are the client's to count; of one-way traffic each end sees its half.
            let mut rate = mine(counter) * 8.0;
            if one_way {
                // Half of the story would look like a drop to zero.
                let Some(theirs) = &theirs_rates else { continue };
                rate += theirs(counter) * 8.0;
            }
            interval.insert(name.to_owned(), rate);
        }
        let theirs_done = theirs_rates.as_ref().map_or(0.0, |r| r(Counter::Completed));
        interval.insert("completed_per_s".to_owned(), mine(Counter::Completed).max(theirs_done));
        if mine(Counter::Errors) > 0.0 {
            interval.insert("errors_per_s".to_owned(), mine(Counter::Errors));
        }
        out.push(interval);
        before = (tick, theirs.or(before.1));
    }
    out
}

/// What was counted a second between two ticks; `None` when no time passed.
fn rates(then: &Tick, now: &Tick) -> Option<impl Fn(Counter) -> f64 + use<>> {
    let seconds = (now.t_ns - then.t_ns) as f64 / SECOND as f64;
    let counts = now.counts.since(&then.counts);
    (seconds > 0.0).then_some(move |counter| counts.of(counter) as f64 / seconds)
}

/// What a process spent over the window.
fn process(end: &EndReport) -> BTreeMap<String, f64> {
    let none = Reading::new();
    let reading = |tick: &Tick, name: &str| tick.readings.get(name).cloned().unwrap_or_else(|| none.clone());
    let mut out = delta::window(&reading(&end.start, "self"), &reading(&end.end, "self"));
    if let (Some(user), Some(system)) = (out.get("user_s").copied(), out.get("system_s").copied()) {
        out.insert("cores".to_owned(), (user + system) / seconds(end));
    }
    if let Some(rss) = end.end.readings.get("process").and_then(|r| r.get("rss_bytes")) {
        out.insert("rss_bytes".to_owned(), *rss);
    }
    out
}

fn nodes(client: &EndReport, server: Option<&EndReport>) -> Vec<NodeCost> {
    [("client", Some(client)), ("server", server)]
        .into_iter()
        .filter_map(|(name, end)| {
            let end = end?;
            let mut node = delta::node_cost(name, &end.start.readings, &end.end.readings, seconds(end));
            // These stand in the costs of the processes.
            node.meters.remove("self");
            node.meters.remove("process");
            Some(node)
        })
        .collect()
}

/// Time between the two readings, s.
fn seconds(end: &EndReport) -> f64 {
    ((end.end.t_ns - end.start.t_ns).max(1)) as f64 / SECOND as f64
}

fn proof(setting: &Setting<'_>, client: &EndReport, server: Option<&EndReport>) -> Vec<Proof> {
    let mut out = Vec::new();
    if let Some(flow) = client.flows.first() {
        out.push(Proof {
            hop: "client".to_owned(),
            evidence: format!("flow {} from {} to {}", flow.flow, flow.local, flow.peer),
            ok: flow.peer == setting.target.address.to_string() || setting.target.address.port() == 0,
        });
    }
    if let Some(flow) = server.and_then(|s| s.flows.first()) {
        out.push(Proof {
            hop: "server".to_owned(),
            evidence: format!("flow {} at {} from {}", flow.flow, flow.local, flow.peer),
            ok: true,
        });
    }
    out
}

fn settings(setting: &Setting<'_>, outcome: &Outcome) -> BTreeMap<String, String> {
    let mut out = outcome.client.settings.clone();
    if let Some(server) = &outcome.server {
        for (name, value) in &server.settings {
            if out.get(name) != Some(value) {
                out.insert(format!("server_{name}"), value.clone());
            }
        }
    }
    let address = setting.target.address;
    // ICMP has no ports.
    let text = if address.port() == 0 { address.ip().to_string() } else { address.to_string() };
    out.insert("address".to_owned(), text);
    if !setting.target.others.is_empty() {
        let others: Vec<_> = setting.target.others.iter().map(ToString::to_string).collect();
        out.insert("addresses_not_used".to_owned(), others.join(", "));
    }
    out.insert("clock".to_owned(), if outcome.shared_clock { "shared" } else { "two machines" }.to_owned());
    out
}

/// A machine cannot be less busy than the processes on it. A kernel that samples its CPUs at ticks misses work that
/// is done between them, as a generator that sleeps on timers does it; a process' own time is exact.
fn raise_to_processes(cost: &mut Cost, one_machine: bool) -> Option<Warning> {
    let cores = |end: &BTreeMap<String, f64>| end.get("cores").copied().unwrap_or(0.0);
    let (client, server) = (cores(&cost.client), cores(&cost.server));
    let mut warning = None;
    for node in cost.nodes.iter_mut().filter(|n| !n.per_cpu_busy.is_empty()) {
        let known = match node.name.as_str() {
            _ if one_machine => client + server,
            "client" => client,
            _ => server,
        };
        let cpus = node.per_cpu_busy.len() as f64;
        node.busy_cores = node.busy_cores.min(cpus);
        node.softirq_cores = node.softirq_cores.min(cpus);
        let sampled = node.busy_cores;
        // Two ticks of a short window are no contradiction.
        if known <= sampled + 0.05 {
            continue;
        }
        node.busy_cores = known;
        node.meters.entry("cpu".to_owned()).or_default().insert("sampled_busy_cores".to_owned(), sampled);
        warning = Some(Warning::new(
            WarningKind::Unavailable,
            format!(
                "the kernel's ticks saw {sampled:.2} busy cores, our processes alone used {known:.2}: it misses short work"
            ),
            "take the processes' CPU; the machine's is a lower bound, its softirq and per-CPU shares are too low",
        ));
    }
    warning
}

/// A process cannot use more than the CPUs that there are.
fn machine_invariants(cost: &Cost) -> Vec<Invariant> {
    let mut out = Vec::new();
    for (end, name) in [(&cost.client, "client"), (&cost.server, "server")] {
        let node = cost.nodes.iter().find(|n| n.name == name && !n.per_cpu_busy.is_empty());
        let (Some(node), Some(cores)) = (node, end.get("cores")) else { continue };
        let cpus = node.per_cpu_busy.len() as f64;
        // Readings of both edges take a moment each.
        let ok = *cores <= cpus * 1.05;
        let detail = if ok { String::new() } else { format!("{cores:.2} cores used of {cpus}") };
        out.push(Invariant { name: format!("{name}_process_le_machine"), ok, detail });
    }
    out
}
