//! Full CPUs as the limit of a trial, and whose they are.

mod owners;

use std::collections::BTreeSet;

use hopbench_model::{EngineKind, Job, NodeCost, Record, SHORTEST_OF_MACHINE_S, number};

use super::evidence::{Burden, Evidence, Limit, SERVER, WorkingProcess, limit};
use owners::Owners;

/// A CPU that is busier than this has nothing left to give.
const FULL: f64 = 0.95;
/// A share of softirq above this makes it the reason a CPU is full.
const MOSTLY: f64 = 0.5;
/// A full CPU of which more than this was stolen would not be full otherwise.
const STOLEN: f64 = 1.0 - FULL;
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
        works.find_map(|burden| hardly_waited(burden, record, evidence.one_machine))
    {
        return Some(found);
    }
    // A few ticks say nothing of a CPU; processes have their time in nanoseconds.
    if record.window_s < SHORTEST_OF_MACHINE_S {
        return filled_together(polls, evidence);
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
        for (cpu, _) in node.per_cpu_busy.iter().enumerate().filter(|(_, busy)| **busy >= FULL) {
            let owners: Vec<&Burden> =
                here.iter().copied().filter(|burden| burden.may_use(cpu)).collect();
            let packets = is_of_packets(node, cpu);
            // What others do where no end may run takes nothing from the trial; only of a server
            // that nobody meters is not known where it may run.
            if owners.is_empty() && !packets && !unmetered {
                continue;
            }
            let at = busy_text(node, cpu);
            let found = match (owners.is_empty(), packets) {
                // Without that it would not be full, whatever it does.
                _ if !polls && is_stolen(node, cpu) => {
                    let at = stolen_text(node, cpu);
                    limit("steal", format!("{at}; {}", Owners::of(&owners).whose(cpu)))
                }
                (false, true) => {
                    return Some(limit(
                        "softirq",
                        format!("{at}; {}", Owners::of(&owners).whose(cpu)),
                    ));
                }
                // Packets of the path are forwarded on the CPUs of nodes between its ends, too.
                (true, true) => limit("softirq", format!("{at}; neither end may use it")),
                (true, false) => limit(
                    "cpu:other",
                    format!(
                        "{at}; no end that is metered may use it, and the server is none of these"
                    ),
                ),
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

/// Those that together filled the CPUs that they are held to, by their own time alone.
fn filled_together(polls: bool, evidence: &Evidence) -> Option<Limit> {
    let burdens = &evidence.burdens;
    // Nodes of one machine can have the same CPUs.
    let node = |burden: &Burden| (!evidence.one_machine).then(|| burden.node.clone());
    let held = |burden: &Burden| Some((node(burden), burden.cpus.clone()?));
    let places: BTreeSet<_> = burdens.iter().filter_map(held).collect();
    places.iter().find_map(|place| {
        let here: Vec<&Burden> =
            burdens.iter().filter(|burden| held(burden).as_ref() == Some(place)).collect();
        let together: f64 = here.iter().map(|burden| burden.cores).sum();
        let all = place.1.len() as f64;
        let ends_poll = polls && here.iter().any(|burden| burden.is_end());
        if ends_poll || together < FULL * all {
            return None;
        }
        let owners = Owners::of(&here);
        let first = *place.1.first()?;
        let why = format!(
            "{}: {}; the kernel's work for their packets is a part of it",
            owners.whose(first),
            owners.used()
        );
        let (who, most) = owners.largest()?;
        Some(limit(&if most >= LEAST * all { by(who) } else { "cpu:shared".to_owned() }, why))
    })
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

fn stolen(node: &NodeCost, cpu: usize) -> f64 {
    node.per_cpu_steal.get(cpu).copied().unwrap_or(0.0)
}

/// Whether packet processing is why a CPU is full.
fn is_of_packets(node: &NodeCost, cpu: usize) -> bool {
    softirq(node, cpu) >= MOSTLY
}

/// Whether a full CPU is full only because the hypervisor gave it to other machines.
fn is_stolen(node: &NodeCost, cpu: usize) -> bool {
    stolen(node, cpu) > STOLEN
}

/// A thread that hardly waits is the limit even when the scheduler moves it between CPUs. Where
/// such a CPU processed packets for most of its time, that is the limit: the kernel charges the
/// thread that it interrupts. So it may do with time in which the hypervisor gave the CPU away.
fn hardly_waited(burden: &Burden, record: &Record, one_machine: bool) -> Option<Limit> {
    let nodes = &record.cost.nodes;
    // A gateway's node may have no end that read its CPUs.
    let node = nodes
        .iter()
        .find(|node| node.name == burden.node)
        .or_else(|| nodes.first().filter(|_| one_machine));
    let of_node = node.map_or(0, |node| node.per_cpu_busy.len());
    let cpus = burden.cpus.as_ref().map_or(of_node, BTreeSet::len);
    burden.processes.iter().find_map(|process| {
        let WorkingProcess { cores, threads, waits_per_s } = *process;
        // Threads that share a CPU do wait, for each other.
        let most = if cpus == 0 { threads as usize } else { cpus.min(threads as usize) };
        let waited = waits_per_s.is_some_and(|waits| waits * WAIT_S >= HARDLY * most as f64);
        if most == 0 || waited || cores < FULL * most as f64 {
            return None;
        }
        let why = match (most < threads as usize, threads, waits_per_s) {
            (true, ..) => format!(
                "its {threads} threads used {cores:.2} cores of the {most} that they may use"
            ),
            (_, 1, None) => format!("its thread used {cores:.2} cores: it hardly waited"),
            (_, 1, Some(waits)) => {
                format!("its thread used {cores:.2} cores and waited {waits:.0} times a second")
            }
            (_, _, None) => {
                format!("its {threads} threads used {cores:.2} cores: they hardly waited")
            }
            (_, _, Some(waits)) => {
                format!(
                    "its {threads} threads used {cores:.2} cores and waited {waits:.0} times a \
                     second together"
                )
            }
        };
        // A few ticks say nothing of a CPU.
        let node = node.filter(|_| record.window_s >= SHORTEST_OF_MACHINE_S);
        let taken = |is_taken: fn(&NodeCost, usize) -> bool| {
            node.and_then(|node| Some((node, first_taken(burden, node, most, is_taken)?)))
        };
        let (name, at) = match (taken(is_stolen), taken(is_of_packets)) {
            (Some((node, cpu)), _) => ("steal", stolen_text(node, cpu)),
            (None, Some((node, cpu))) => ("softirq", busy_text(node, cpu)),
            (None, None) => return Some(limit(&by(&burden.who), why)),
        };
        Some(limit(name, format!("{at}; of the {}: {why}", burden.who)))
    })
}

/// The first CPU that was full for another reason (`is_taken`), if an end needed it: fewer other
/// ones were full than it has `busy` threads.
fn first_taken(
    burden: &Burden,
    node: &NodeCost,
    busy: usize,
    is_taken: fn(&NodeCost, usize) -> bool,
) -> Option<usize> {
    let all = node.per_cpu_busy.iter().enumerate();
    let full: Vec<usize> = all
        .filter(|(cpu, busy)| **busy >= FULL && burden.may_use(*cpu))
        .map(|(cpu, _)| cpu)
        .collect();
    let (taken, others): (Vec<usize>, Vec<usize>) =
        full.into_iter().partition(|cpu| is_taken(node, *cpu));
    taken.first().copied().filter(|_| others.len() < busy)
}

/// `CPU 1 was busy 99 %, 20 % in softirq`.
fn busy_text(node: &NodeCost, cpu: usize) -> String {
    let [busy, softirq] = [node.per_cpu_busy[cpu], softirq(node, cpu)].map(number::share);
    format!("CPU {cpu} was busy {busy}, {softirq} in softirq")
}

/// `CPU 1 was busy 60 %, and the hypervisor gave 40 % of it to other machines`.
fn stolen_text(node: &NodeCost, cpu: usize) -> String {
    let stolen = stolen(node, cpu);
    let busy = (node.per_cpu_busy[cpu] - stolen).max(0.0);
    let [busy, stolen] = [busy, stolen].map(number::share);
    format!("CPU {cpu} was busy {busy}, and the hypervisor gave {stolen} of it to other machines")
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
    let on_theirs = |(cpu, busy): (usize, &f64)| {
        owners.iter().any(|owner| owner.may_use(cpu)).then(|| busy - stolen(node, cpu))
    };
    let busy: f64 = node.per_cpu_busy.iter().enumerate().filter_map(on_theirs).sum();
    let owners = Owners::of(owners);
    let together: f64 = owners.all().map(|owner| owner.cores).sum();
    let rest = (busy - together).max(0.0);
    let why = if unmetered {
        let on = owners.shared(cpu);
        format!(
            "{at}; on {on} {} and what is not metered {rest:.2}, of which the server may be a part",
            owners.used()
        )
    } else {
        format!("{at}; {}: {}", owners.whose(cpu), owners.used())
    };
    match owners.largest() {
        Some((who, most)) if most >= LEAST && !(unmetered && rest > most) => {
            Ok(limit(&by(who), why))
        }
        // None of them filled it alone, and together they did.
        Some(_) if owners.0.len() > 1 && together >= LEAST && rest < together => {
            Ok(limit("cpu:shared", why))
        }
        _ => Err(limit("cpu:other", why)),
    }
}

fn by(who: &str) -> String {
    format!("cpu:{who}")
}

#[cfg(test)]
mod tests;
