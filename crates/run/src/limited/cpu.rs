//! Full CPUs as the limit of a trial, and whose they are.

mod owners;

use std::collections::BTreeSet;

use hopbench_model::{EngineKind, Job, NodeCost, Record, SHORTEST_OF_MACHINE_S, number};

use super::evidence::{Burden, Evidence, Limit, Process, SERVER, limit};
use owners::{Owners, cores};

/// A CPU that is busier than this has nothing left to give.
const FULL: f64 = 0.95;
/// A share of softirq above this makes it the reason a CPU is full.
const MOSTLY: f64 = 0.5;
/// A process that used less than this, in cores, did not fill a CPU.
const LEAST: f64 = 0.5;
/// What a wait takes a thread at least, s: off the CPU, an interrupt, a wake-up, on the CPU again.
const WAIT_S: f64 = 10e-6;
/// A thread that spent less of its time than this on waits hardly waited: one without anything to
/// wait for shows some all the same, those of the agent's other threads, which read meters.
const HARDLY: f64 = 0.01;

/// The end or the proxy whose threads hardly waited, else whoever filled a CPU.
pub(super) fn full(job: &Job, record: &Record, evidence: &Evidence) -> Option<Limit> {
    // A polling thread fills its CPU whatever the traffic does.
    let polls = job.engine == EngineKind::Spin;
    let mut works = evidence.burdens.iter().filter(|burden| !(polls && burden.is_end()));
    if let Some(found) =
        works.find_map(|burden| hardly_waited(burden, &record.cost.nodes, evidence.one_machine))
    {
        return Some(found);
    }
    // A few ticks say nothing of a CPU; the processes above have their time in nanoseconds.
    if record.window_s < SHORTEST_OF_MACHINE_S {
        return None;
    }
    let no_server = !polls && evidence.burdens.iter().all(|burden| burden.who != SERVER);
    let mut other = None;
    for node in &record.cost.nodes {
        let unmetered = no_server && evidence.may_have_server(node);
        let here: Vec<&Burden> = evidence
            .burdens
            .iter()
            .filter(|b| evidence.one_machine || b.node == node.name)
            .collect();
        for (cpu, busy) in node.per_cpu_busy.iter().enumerate().filter(|(_, busy)| **busy >= FULL) {
            let softirq = softirq(node, cpu);
            let owners: Vec<&Burden> =
                here.iter().copied().filter(|burden| burden.may_use(cpu)).collect();
            let at = busy_text(cpu, *busy, softirq);
            let found = match (owners.is_empty(), softirq >= MOSTLY) {
                (false, true) => {
                    return Some(limit(
                        "softirq",
                        format!("{at}; {}", Owners::of(&owners).whose(cpu)),
                    ));
                }
                // Packets of the path are forwarded on the CPUs of nodes between its ends, too.
                (true, true) => limit("softirq", format!("{at}; neither end may use it")),
                // What others do where no end may run takes nothing from the trial; only of a
                // server that nobody meters is not known where it may run.
                (true, false) if unmetered => limit(
                    "cpu:other",
                    format!(
                        "{at}; no end that is metered may use it, and the server is none of these"
                    ),
                ),
                (true, false) => continue,
                (false, false) if polls => continue,
                (false, false) => match blame(&owners, node, unmetered, cpu, &at) {
                    Ok(found) => return Some(found),
                    Err(found) => found,
                },
            };
            other.get_or_insert(found);
        }
    }
    other
}

impl Evidence {
    /// Whether a server that nobody meters may be on a node. By hand nobody knows: it may well be
    /// on this machine.
    fn may_have_server(&self, node: &NodeCost) -> bool {
        self.one_machine
            || self.server_nodes.as_ref().is_none_or(|nodes| nodes.contains(&node.name))
    }
}

fn softirq(node: &NodeCost, cpu: usize) -> f64 {
    node.per_cpu_softirq.get(cpu).copied().unwrap_or(0.0)
}

/// A thread that hardly waits is the limit even when the scheduler moves it between CPUs. Where
/// such a CPU processed packets for most of its time, that is the limit: the kernel charges the
/// thread that it interrupts.
fn hardly_waited(burden: &Burden, nodes: &[NodeCost], one_machine: bool) -> Option<Limit> {
    // A gateway's node may have no end that read its CPUs.
    let node = nodes
        .iter()
        .find(|node| node.name == burden.node)
        .or_else(|| nodes.first().filter(|_| one_machine));
    let of_node = node.map_or(0, |node| node.per_cpu_busy.len());
    let cpus = burden.cpus.as_ref().map_or(of_node, BTreeSet::len);
    burden.processes.iter().find_map(|process| {
        let Process { cores, threads, waits_per_s } = *process;
        // Threads that share a CPU do wait, for each other.
        let most = if cpus == 0 { threads as usize } else { cpus.min(threads as usize) };
        let waited = waits_per_s.is_some_and(|waits| waits * WAIT_S >= HARDLY * most as f64);
        if most == 0 || waited || cores < FULL * most as f64 {
            return None;
        }
        let why = match (most < threads as usize, threads, waits_per_s) {
            (true, ..) => format!("its {threads} threads used {cores:.2} cores of the {most} that they may use"),
            (_, 1, None) => format!("its thread used {cores:.2} cores: it hardly waited"),
            (_, 1, Some(waits)) => format!("its thread used {cores:.2} cores and waited {waits:.0} times a second"),
            (_, _, None) => format!("its {threads} threads used {cores:.2} cores: they hardly waited"),
            (_, _, Some(waits)) => {
                format!("its {threads} threads used {cores:.2} cores and waited {waits:.0} times a second together")
            }
        };
        let packets = node.and_then(|node| interrupted(burden, node, most));
        Some(match packets {
            Some(at) => limit("softirq", format!("{at}; of the {}: {why}", burden.who)),
            None => limit(&by(&burden.who), why),
        })
    })
}

/// The CPU that processed packets for most of its time, if an end needed it: fewer other ones were
/// full than it has `busy` threads.
fn interrupted(burden: &Burden, node: &NodeCost, busy: usize) -> Option<String> {
    let all = node.per_cpu_busy.iter().enumerate();
    let full: Vec<usize> = all
        .filter(|(cpu, busy)| **busy >= FULL && burden.may_use(*cpu))
        .map(|(cpu, _)| cpu)
        .collect();
    let (packets, others): (Vec<usize>, Vec<usize>) =
        full.into_iter().partition(|cpu| softirq(node, *cpu) >= MOSTLY);
    let cpu = *packets.first().filter(|_| others.len() < busy)?;
    Some(busy_text(cpu, node.per_cpu_busy[cpu], softirq(node, cpu)))
}

/// `CPU 1 was busy 99 %, 20 % in softirq`.
fn busy_text(cpu: usize, busy: f64, softirq: f64) -> String {
    format!("CPU {cpu} was busy {}, {} in softirq", number::share(busy), number::share(softirq))
}

/// Who filled a CPU, of those that may use it; `Err`: none of them did. Where a server is
/// `unmetered`, all that nobody accounts for on these CPUs may be its.
fn blame(
    owners: &[&Burden],
    node: &NodeCost,
    unmetered: bool,
    cpu: usize,
    at: &str,
) -> Result<Limit, Limit> {
    let on_theirs =
        |(cpu, busy): (usize, &f64)| owners.iter().any(|owner| owner.may_use(cpu)).then_some(*busy);
    let busy: f64 = node.per_cpu_busy.iter().enumerate().filter_map(on_theirs).sum();
    let owners = Owners::of(owners);
    let rest = (busy - owners.all().map(|owner| owner.cores).sum::<f64>()).max(0.0);
    let why = if unmetered {
        let on = owners.shared(cpu);
        format!(
            "{at}; on {on} {} and what is not metered {rest:.2}, of which the server may be a part",
            owners.used()
        )
    } else {
        format!("{at}; {}: {}", owners.whose(cpu), owners.used())
    };
    // Of equals the first.
    let most = owners.0.iter().rev().max_by(|a, b| cores(&a.1).total_cmp(&cores(&b.1)));
    match most {
        Some((who, burdens))
            if cores(burdens) >= LEAST && !(unmetered && rest > cores(burdens)) =>
        {
            Ok(limit(&by(who), why))
        }
        _ => Err(limit("cpu:other", why)),
    }
}

fn by(who: &str) -> String {
    format!("cpu:{who}")
}

#[cfg(test)]
mod tests;
