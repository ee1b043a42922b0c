//! Whether CPUs limited a trial, and whose.

use std::collections::BTreeSet;

use hopbench_model::{EngineKind, Job, NodeCost, Record};

use super::{Limits, Verdict, verdict};
use crate::words;

/// A CPU that is busier than this has nothing left to give.
const FULL: f64 = 0.95;
/// A share of softirq above this makes it the reason a CPU is full.
const MOSTLY: f64 = 0.5;
/// Who used less than this, in cores, is not the one that filled a CPU.
const LEAST: f64 = 0.5;

/// The ends' names.
pub(crate) const CLIENT: &str = "client";
pub(crate) const SERVER: &str = "server";

/// What one end, or a proxy between them, put on its CPUs.
#[derive(Debug, Clone)]
pub(crate) struct Burden {
    /// Which side it is of, or the proxy's name: `client`, `server`, `client-sidecar`.
    pub(crate) who: String,
    /// The node that it is on.
    pub(crate) node: String,
    /// Cores that all its processes used.
    pub(crate) cores: f64,
    /// Its processes, each with the threads that do the work: one that did not wait is a limit by itself.
    pub(crate) processes: Vec<Process>,
    /// CPUs that it is held to; absent: any of its node.
    pub(crate) cpus: Option<BTreeSet<usize>>,
}

/// A process that does the work of an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    /// Cores that it used.
    pub(crate) cores: f64,
    /// Threads that can be busy at a time.
    pub(crate) threads: u32,
}

impl Burden {
    fn is_end(&self) -> bool {
        [CLIENT, SERVER].contains(&self.who.as_str())
    }

    fn may_use(&self, cpu: usize) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }
}

/// The end or the proxy whose threads never waited, else whoever filled a CPU.
pub(super) fn full(job: &Job, record: &Record, limits: &Limits) -> Option<Verdict> {
    // A polling thread fills its CPU whatever the traffic does.
    let polls = job.engine == EngineKind::Spin;
    let mut works = limits.burdens.iter().filter(|burden| !(polls && burden.is_end()));
    if let Some(found) = works.find_map(|burden| never_waited(burden, &record.cost.nodes, limits.one_machine)) {
        return Some(found);
    }
    let mut other = None;
    for node in &record.cost.nodes {
        let here: Vec<&Burden> = limits.burdens.iter().filter(|b| limits.one_machine || b.node == node.name).collect();
        for (cpu, busy) in node.per_cpu_busy.iter().enumerate().filter(|(_, busy)| **busy >= FULL) {
            let softirq = node.per_cpu_softirq.get(cpu).copied().unwrap_or(0.0);
            let owners: Vec<&Burden> = here.iter().copied().filter(|burden| burden.may_use(cpu)).collect();
            let at = format!("CPU {cpu} was busy {:.0} %, {:.0} % in softirq", busy * 100.0, softirq * 100.0);
            let found = match (owners.is_empty(), softirq >= MOSTLY) {
                (false, true) => return Some(verdict("softirq", format!("{at}; {}", Owners::of(&owners).whose(cpu)))),
                // Packets of the path are forwarded on the CPUs of nodes between its ends, too.
                (true, true) => verdict("softirq", format!("{at}; neither end may use it")),
                // What others do where no end may run takes nothing from the trial.
                (true, false) => continue,
                (false, false) if polls => continue,
                (false, false) => match blame(&owners, cpu, &at) {
                    Ok(found) => return Some(found),
                    Err(found) => found,
                },
            };
            other.get_or_insert(found);
        }
    }
    other
}

/// A thread that never waits is the limit even when the scheduler moves it between CPUs.
fn never_waited(burden: &Burden, nodes: &[NodeCost], one_machine: bool) -> Option<Verdict> {
    // A gateway's node may have no end that read its CPUs.
    let node = nodes.iter().find(|node| node.name == burden.node).or_else(|| nodes.first().filter(|_| one_machine));
    let of_node = node.map_or(0, |node| node.per_cpu_busy.len());
    let cpus = burden.cpus.as_ref().map_or(of_node, BTreeSet::len);
    burden.processes.iter().find_map(|process| {
        let Process { cores, threads } = *process;
        // Threads that share a CPU do wait, for each other.
        let most = if cpus == 0 { threads as usize } else { cpus.min(threads as usize) };
        (most > 0 && cores >= FULL * most as f64).then(|| {
            let why = match (most < threads as usize, threads) {
                (true, _) => format!("its {threads} threads used {cores:.2} cores of the {most} that they may use"),
                (false, 1) => format!("its thread used {cores:.2} cores: it never waited"),
                (false, _) => format!("its {threads} threads used {cores:.2} cores: they never waited"),
            };
            verdict(&by(&burden.who), why)
        })
    })
}

/// Who filled a CPU, of those that may use it; `Err`: none of them did.
fn blame(owners: &[&Burden], cpu: usize, at: &str) -> Result<Verdict, Verdict> {
    let owners = Owners::of(owners);
    let why = format!("{at}; {}: {}", owners.whose(cpu), owners.used());
    // Of equals the first.
    let most = owners.0.iter().rev().max_by(|a, b| cores(&a.1).total_cmp(&cores(&b.1)));
    match most {
        Some((who, burdens)) if cores(burdens) >= LEAST => Ok(verdict(&by(who), why)),
        _ => Err(verdict("cpu:other", why)),
    }
}

fn by(who: &str) -> String {
    format!("cpu:{who}")
}

fn cores(burdens: &[&Burden]) -> f64 {
    burdens.iter().map(|burden| burden.cores).sum()
}

/// Those that may use a CPU, by name, in the order of the burdens.
struct Owners<'a>(Vec<(&'a str, Vec<&'a Burden>)>);

impl<'a> Owners<'a> {
    fn of(owners: &[&'a Burden]) -> Self {
        let mut out: Vec<(&str, Vec<&Burden>)> = Vec::new();
        for &burden in owners {
            match out.iter_mut().find(|(who, _)| *who == burden.who) {
                Some((_, known)) => known.push(burden),
                None => out.push((&burden.who, vec![burden])),
            }
        }
        Self(out)
    }

    fn all(&self) -> impl Iterator<Item = &'a Burden> {
        self.0.iter().flat_map(|(_, burdens)| burdens.iter().copied())
    }

    /// Whose CPU it is.
    fn whose(&self, cpu: usize) -> String {
        match &self.0[..] {
            [] => "neither end may use it".to_owned(),
            [(who, burdens)] => {
                let owner = the(who, burdens.len());
                let held = burdens.iter().all(|burden| burden.cpus.is_some());
                if held { format!("it is the CPU of {owner}") } else { format!("only {owner} may use it") }
            }
            several => format!("{} share {}", together(several), self.shared(cpu)),
        }
    }

    /// What all of them share.
    fn shared(&self, cpu: usize) -> String {
        let sets: BTreeSet<Option<&BTreeSet<usize>>> = self.all().map(|burden| burden.cpus.as_ref()).collect();
        match sets.iter().collect::<Vec<_>>()[..] {
            [None] => "all CPUs".to_owned(),
            [Some(same)] => words::cpus(&same.iter().copied().collect::<Vec<_>>()),
            _ => format!("CPU {cpu}"),
        }
    }

    /// What they used.
    fn used(&self) -> String {
        let used = |(who, burdens): &(&str, Vec<&Burden>)| {
            let together = if burdens.len() > 1 { " together" } else { "" };
            let the = if burdens.len() > 1 { "the " } else { "" };
            format!("{the}{} used {:.2} cores{together}", self::the(who, burdens.len()), cores(burdens))
        };
        self.0.iter().map(used).collect::<Vec<_>>().join(", ")
    }
}

/// `the client`, `20 clients`.
fn the(who: &str, count: usize) -> String {
    if count == 1 { format!("the {who}") } else { format!("{count} {who}s") }
}

/// `both ends`; with proxies `the client, the client-sidecar and the server`.
fn together(owners: &[(&str, Vec<&Burden>)]) -> String {
    if owners.iter().map(|(who, _)| *who).eq([CLIENT, SERVER]) {
        return "both ends".to_owned();
    }
    let names: Vec<String> = owners.iter().map(|(who, burdens)| the(who, burdens.len())).collect();
    match names.split_last() {
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
