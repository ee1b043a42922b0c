//! The cost of a trial, process by process and machine by machine.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_meter::delta;
use hopbench_model::{
    CPU_QUOTA_SETTING, Cost, EndReport, Invariant, Job, NodeCost, SECOND, SHORTEST_OF_MACHINE_S,
    Tick, Warning, WarningKind,
};

use super::end::{End, spent_seconds, watches};
use super::{balance, members, nic, processes, proxies};
use crate::conduct::TrialResult;
use crate::limited::{Burden, CLIENT, SERVER, quota};

/// What all ends cost, with what must hold and what a reader should know.
pub(super) struct Spent {
    pub(super) cost: Cost,
    /// What each end put on its CPUs, the clients first, the proxies last.
    pub(super) burdens: Vec<Burden>,
    pub(super) invariants: Vec<Invariant>,
    pub(super) warnings: Vec<Warning>,
}

/// The costs of the two sides of a trial. `job` is that of each client.
pub(super) fn spent(
    clients: &[End<'_>],
    servers: &[End<'_>],
    proxies: proxies::Spent,
    outcome: &TrialResult,
    job: &Job,
) -> Spent {
    // Every node is the same machine then, whatever it is called.
    let one_machine = outcome.one_machine;
    let processes = |ends: &[End<'_>]| -> Vec<BTreeMap<String, f64>> {
        ends.iter().map(|e| process(e.report)).collect()
    };
    let (of_clients, mut of_servers) = (processes(clients), processes(servers));
    // Each of several servers' agents watches all processes of the server program, which count
    // once, or the program beside it.
    if !outcome.programs_apart {
        let watchers = of_servers.iter_mut().zip(servers).filter(|(_, end)| watches(end.report));
        watchers.skip(1).for_each(|(spent, _)| spent.clear());
    }
    // What agents spend that look at nothing is not what the server cost.
    if outcome.server_unseen.is_some() {
        of_servers.iter_mut().for_each(BTreeMap::clear);
    }
    let mut nodes = nodes(clients.iter().chain(servers));
    let of_ends = clients.iter().chain(servers).zip(of_clients.iter().chain(&of_servers));
    let mut processes: Vec<(&str, f64)> =
        of_ends.map(|(end, spent)| (end.node, cores(spent) / late(end.report))).collect();
    processes.extend(proxies.on_nodes.iter().map(|(node, cores)| (node.as_str(), *cores)));
    // In a short window a tick more or less is no contradiction.
    let long = outcome.client.window_ns as f64 >= SHORTEST_OF_MACHINE_S * SECOND as f64;
    let raised = long.then(|| raise_to_processes(&mut nodes, &processes, one_machine)).flatten();
    let mut warnings: Vec<Warning> = raised.into_iter().collect();
    let programs = outcome.server_unseen.is_some() || servers.iter().any(|end| watches(end.report));
    let sides = [
        (CLIENT, clients, &of_clients, outcome.clients.len(), true),
        (SERVER, servers, &of_servers, outcome.servers.len(), !programs),
    ];
    let mut members = Vec::new();
    let machines: &[NodeCost] = if one_machine { &[] } else { &nodes };
    let mut uneven = Vec::new();
    for (role, ends, spent, all, works) in sides {
        members.extend(members::of_side(job, &members::Side { role, ends, spent, all, works }));
        let cores = ends.iter().zip(spent);
        let cores: Vec<_> =
            cores.map(|(end, spent)| (end.node, spent.get("cores").copied())).collect();
        let warning = balance::uneven(&format!("{role}s"), &cores, machines);
        uneven.extend(warning.map(|warning| (role, warning)));
    }
    members.extend(members::of_proxies(&proxies.costs));
    uneven.extend(balance::of_proxies(&proxies.costs, machines));
    let by_member = balance::of_members(&members);
    // A role of whose members it is said is not told of again by its nodes.
    uneven.retain(|(role, _)| !by_member.iter().any(|(told, _)| told == role));
    warnings.extend(by_member.into_iter().chain(uneven).map(|(_, warning)| warning));
    let members = members::shortened(members);
    let apart = outcome.programs_apart;
    let of_ends = burdens(CLIENT, clients, &of_clients, false).chain(burdens(
        SERVER,
        servers,
        &of_servers,
        apart,
    ));
    let burdens = of_ends.chain(proxies.burdens).collect();
    let sides = [("client", clients, &of_clients), ("server", servers, &of_servers)];
    let invariants = sides
        .iter()
        .filter_map(|(name, ends, spent)| fits_cpus(name, ends, spent, &nodes))
        .collect();
    let with_nics = |ends: &[End<'_>], mut spent: Vec<BTreeMap<String, f64>>| {
        spent.extend(ends.iter().map(|end| nic::rates(end.report, end.report.seconds())));
        sum(&spent)
    };
    let (client, server) = (with_nics(clients, of_clients), with_nics(servers, of_servers));
    if one_machine {
        keep_once(&mut nodes);
    }
    let cost = Cost {
        client,
        server,
        proxies: proxies.costs,
        members,
        nodes,
        one_machine,
        metered: Vec::new(),
    };
    Spent { burdens, cost, invariants, warnings }
}

fn cores(process: &BTreeMap<String, f64>) -> f64 {
    process.get("cores").copied().unwrap_or(0.0)
}

/// The burdens of one side's ends on their CPUs. An agent that only looks on is none of them: the
/// program is. `apart`: each of them looks at a program of its own.
fn burdens<'a>(
    who: &'a str,
    ends: &'a [End<'a>],
    spent: &'a [BTreeMap<String, f64>],
    apart: bool,
) -> impl Iterator<Item = Burden> + 'a {
    let known = ends.iter().zip(spent).filter(|(_, spent)| spent.contains_key("cores"));
    known.map(move |(end, spent)| Burden {
        who: who.to_owned(),
        node: end.node.to_owned(),
        cores: cores(spent),
        processes: processes::working(end.report, end.threads, cores(spent)),
        cpus: match (watches(end.report), apart) {
            // It is in a container of its own, whose CPUs the agent does not know.
            (true, true) => None,
            (true, false) => held_together(ends),
            (false, _) => end.pinned.clone().or_else(|| end.held.clone()),
        },
        stopped: quota::stopped(spent, end.report.settings.get(CPU_QUOTA_SETTING)),
        limit: end.program_limit.filter(|_| watches(end.report) && apart),
    })
}

/// CPUs that a program is held to, whose processes are beside the agents of its side; `None`: any.
fn held_together(ends: &[End<'_>]) -> Option<BTreeSet<usize>> {
    let sets: Option<Vec<&BTreeSet<usize>>> = ends.iter().map(|end| end.held.as_ref()).collect();
    Some(sets?.into_iter().flatten().copied().collect())
}

/// The costs of one side's processes together, and the traffic of their NICs.
fn sum(processes: &[BTreeMap<String, f64>]) -> BTreeMap<String, f64> {
    let mut out = BTreeMap::new();
    for (name, value) in processes.iter().flatten() {
        let kept: &mut f64 = out.entry(name.clone()).or_insert(0.0);
        *kept = if quota::is_of_quota(name) { kept.max(*value) } else { *kept + value };
    }
    out
}

/// The costs of an end's process over the window: the server program's processes where there is
/// one, else the agent's.
fn process(end: &EndReport) -> BTreeMap<String, f64> {
    let reading = |tick: &Tick, name: &str| tick.readings.get(name).cloned().unwrap_or_default();
    let (spender, rss) = if watches(end) { ("program", "program") } else { ("self", "process") };
    let last = reading(&end.end, spender);
    let seconds = spent_seconds(end);
    let mut out = delta::window(&reading(&end.start, spender), &last);
    delta::split_exactly(&mut out, &last);
    out.retain(|name, _| !processes::is_of_one(name));
    if let (Some(user), Some(system)) = (out.get("user_s").copied(), out.get("system_s").copied()) {
        let cpu_s = out.remove("cpu_s").unwrap_or(user + system);
        out.extend(seconds.map(|seconds| ("cores".to_owned(), cpu_s / seconds)));
    }
    quota::as_share(&mut out, seconds.unwrap_or_else(|| end.seconds()));
    let [before, after] =
        [&end.start, &end.end].map(|tick| reading(tick, rss).get("rss_bytes").copied());
    if let Some(rss) = after {
        out.insert("rss_bytes".to_owned(), rss);
    }
    // What the kernel tells as the peak can lag behind what it tells as the present.
    if let Some(most) = out.get_mut("max_rss_bytes") {
        *most = [before, after].into_iter().flatten().fold(*most, f64::max);
    }
    out
}

/// Every node once, however many ends are on it: as the first end saw it that saw its CPUs.
fn nodes<'a>(ends: impl Iterator<Item = &'a End<'a>>) -> Vec<NodeCost> {
    let mut out: Vec<NodeCost> = Vec::new();
    for end in ends {
        let known = out.iter().position(|node| node.name == end.node);
        if known.is_some_and(|known| !out[known].per_cpu_busy.is_empty()) {
            continue;
        }
        let report = end.report;
        let mut node = delta::node_cost(
            end.node,
            &report.start.readings,
            &report.end.readings,
            report.seconds(),
        );
        // These stand in the costs of the processes.
        for process in ["self", "process", "program"] {
            node.meters.remove(process);
            node.unknown.retain(|counter| !counter.starts_with(&format!("{process} ")));
        }
        match known {
            None => out.push(node),
            Some(known) if !node.per_cpu_busy.is_empty() => out[known] = node,
            Some(_) => {}
        }
    }
    out
}

/// Meters that see a machine as a whole, and no network namespace alone.
const OF_MACHINE: &[&str] = &["memory", "psi", "softnet"];

/// Leaves the meters of the whole machine with the first node that has them.
fn keep_once(nodes: &mut [NodeCost]) {
    for meter in OF_MACHINE {
        for node in nodes.iter_mut().filter(|node| node.meters.contains_key(*meter)).skip(1) {
            node.meters.remove(*meter);
            node.unknown.retain(|counter| !counter.starts_with(&format!("{meter} ")));
        }
    }
}

/// A machine cannot be less busy than the processes on it. A kernel that samples its CPUs at ticks
/// misses work that is done between them, as a generator that sleeps on timers does it. A process'
/// own time is exact.
fn raise_to_processes(
    nodes: &mut [NodeCost],
    processes: &[(&str, f64)],
    one_machine: bool,
) -> Option<Warning> {
    let mut warning = None;
    for node in nodes.iter_mut().filter(|n| !n.per_cpu_busy.is_empty()) {
        let here = processes.iter().filter(|(at, _)| one_machine || *at == node.name);
        let known: f64 = here.map(|(_, cores)| cores).sum();
        let cpus = node.per_cpu_busy.len() as f64;
        node.busy_cores = node.busy_cores.min(cpus);
        node.softirq_cores = node.softirq_cores.min(cpus);
        let sampled = node.busy_cores;
        // Two ticks of a short window are no contradiction.
        if known <= sampled + 0.05 {
            continue;
        }
        node.busy_cores = known;
        node.meters
            .entry("cpu".to_owned())
            .or_default()
            .insert("sampled_busy_cores".to_owned(), sampled);
        warning = Some(Warning::new(
            WarningKind::CpuUndercounted,
            format!(
                "the kernel's ticks saw {sampled:.2} busy cores, our processes alone used \
                 {known:.2}: it misses short work"
            ),
            "take the processes' CPU; the machine's is a lower bound, its softirq and per-CPU \
             shares are too low",
        ));
    }
    warning
}

/// How many times as long as what was read took to spend the time between both readings is: 1, or
/// more where the second came late.
fn late(end: &EndReport) -> f64 {
    spent_seconds(end).map_or(1.0, |spent| end.seconds() / spent)
}

/// The readings at an edge take a moment, on a busy machine a long one, s.
const EDGE_S: f64 = 0.05;

/// No end's processes can use more than the CPUs that they are held to, or that their machine has.
///
/// That a machine is at least as busy as its processes cannot be demanded: see
/// [`raise_to_processes`].
fn fits_cpus(
    name: &str,
    ends: &[End<'_>],
    spent: &[BTreeMap<String, f64>],
    nodes: &[NodeCost],
) -> Option<Invariant> {
    let mut known = false;
    let mut detail = String::new();
    // Of many ends on one machine each waits for the others before it reads, and in the middle of
    // its reading as well.
    let began = || ends.iter().map(|end| end.report.start.t_ns);
    let spread = began().max().unwrap_or(0).saturating_sub(began().min().unwrap_or(0));
    let edge_s = EDGE_S + spread as f64 / SECOND as f64;
    for (end, process) in ends.iter().zip(spent) {
        let node = nodes.iter().find(|n| n.name == end.node && !n.per_cpu_busy.is_empty());
        let (Some(node), Some(cores)) = (node, process.get("cores")) else { continue };
        known = true;
        // Only the workers are where the job puts them.
        let held = end.held.as_ref().filter(|_| end.pinned.is_none() && !watches(end.report));
        let cpus = held.map_or(node.per_cpu_busy.len(), BTreeSet::len) as f64;
        // What was read late may have been spent in all of the time.
        let room = 1.05 + edge_s / end.report.seconds();
        if *cores > cpus * room * late(end.report) {
            detail = format!("{cores:.2} cores used of {cpus}");
        }
    }
    let name = format!("{name}_process_le_cpus");
    known.then_some(Invariant { name, ok: detail.is_empty(), detail })
}
