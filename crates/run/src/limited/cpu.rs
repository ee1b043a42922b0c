//! Whether CPUs limited a trial, and whose.

use std::collections::BTreeSet;

use hopbench_model::{EngineKind, Job, NodeCost, Record};
use hopbench_wire::Role;

use super::{Limits, Verdict, verdict};
use crate::words;

/// A CPU that is busier than this has nothing left to give.
const FULL: f64 = 0.95;
/// A share of softirq above this makes it the reason a CPU is full.
const MOSTLY: f64 = 0.5;
/// Who used less than this, in cores, is not the one that filled a CPU.
const LEAST: f64 = 0.5;

/// What one end put on its CPUs.
#[derive(Debug, Clone)]
pub(crate) struct Burden {
    /// Which side it is of.
    pub(crate) role: Role,
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
    fn may_use(&self, cpu: usize) -> bool {
        self.cpus.as_ref().is_none_or(|cpus| cpus.contains(&cpu))
    }
}

/// The end whose threads never waited, else whoever filled a CPU.
pub(super) fn full(job: &Job, record: &Record, limits: &Limits) -> Option<Verdict> {
    // A polling thread fills its CPU whatever the traffic does.
    let polls = job.engine == EngineKind::Spin;
    let never_waited = || limits.burdens.iter().find_map(|burden| never_waited(burden, &record.cost.nodes));
    if !polls && let Some(found) = never_waited() {
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
fn never_waited(burden: &Burden, nodes: &[NodeCost]) -> Option<Verdict> {
    let of_node = nodes.iter().find(|node| node.name == burden.node).map_or(0, |node| node.per_cpu_busy.len());
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
            verdict(by(burden.role), why)
        })
    })
}

/// Who filled a CPU, of those that may use it; `Err`: none of them did.
fn blame(owners: &[&Burden], cpu: usize, at: &str) -> Result<Verdict, Verdict> {
    let owners = Owners::of(owners);
    let why = format!("{at}; {}: {}", owners.whose(cpu), owners.used());
    let (client, server) = (owners.cores(Role::Client), owners.cores(Role::Server));
    let (most, role) = if client >= server { (client, Role::Client) } else { (server, Role::Server) };
    if most >= LEAST { Ok(verdict(by(role), why)) } else { Err(verdict("cpu:other", why)) }
}

fn by(role: Role) -> &'static str {
    match role {
        Role::Client => "cpu:client",
        Role::Server => "cpu:server",
    }
}

/// The ends that may use a CPU.
struct Owners<'a> {
    clients: Vec<&'a Burden>,
    servers: Vec<&'a Burden>,
}

impl<'a> Owners<'a> {
    fn of(owners: &[&'a Burden]) -> Self {
        let (clients, servers) = owners.iter().copied().partition(|burden| burden.role == Role::Client);
        Self { clients, servers }
    }

    fn side(&self, role: Role) -> &[&'a Burden] {
        if role == Role::Client { &self.clients } else { &self.servers }
    }

    fn cores(&self, role: Role) -> f64 {
        self.side(role).iter().map(|burden| burden.cores).sum()
    }

    /// Whose CPU it is.
    fn whose(&self, cpu: usize) -> String {
        let side = |ends: &[&Burden], one: &str| match ends.len() {
            0 => None,
            1 => Some(format!("the {one}")),
            n => Some(format!("{n} {one}s")),
        };
        match (side(&self.clients, "client"), side(&self.servers, "server")) {
            (Some(_), Some(_)) => self.shared(cpu),
            (Some(owner), None) | (None, Some(owner)) => {
                let ends = if self.clients.is_empty() { &self.servers } else { &self.clients };
                let held = ends.iter().all(|burden| burden.cpus.is_some());
                if held { format!("it is the CPU of {owner}") } else { format!("only {owner} may use it") }
            }
            (None, None) => "neither end may use it".to_owned(),
        }
    }

    /// What both sides share.
    fn shared(&self, cpu: usize) -> String {
        let sets: BTreeSet<Option<&BTreeSet<usize>>> =
            self.clients.iter().chain(&self.servers).map(|burden| burden.cpus.as_ref()).collect();
        match sets.iter().collect::<Vec<_>>()[..] {
            [None] => "both ends share all CPUs".to_owned(),
            [Some(same)] => format!("both ends share {}", words::cpus(&same.iter().copied().collect::<Vec<_>>())),
            _ => format!("both ends share CPU {cpu}"),
        }
    }

    /// What they used.
    fn used(&self) -> String {
        let side = |role, one: &str| match self.side(role).len() {
            0 => None,
            1 => Some(format!("the {one} used {:.2} cores", self.cores(role))),
            n => Some(format!("the {n} {one}s used {:.2} cores together", self.cores(role))),
        };
        let sides = [side(Role::Client, "client"), side(Role::Server, "server")];
        sides.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
