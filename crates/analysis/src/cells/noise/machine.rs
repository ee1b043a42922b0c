//! The machines of a noise run, and what limits measurements on them.

use std::collections::BTreeMap;

use hopbench_model::Record;
use hopbench_model::number::{cores, counted, percent};
use hopbench_stats::summary::median;
use serde::Serialize;

use super::drift::{NOISE_P, NoiseDrift};
use crate::figures::{self, Busy};

/// More CPU time than this share taken by the hypervisor is told as a limit.
const STEAL: f64 = 0.01;
/// More work of others than this share of all CPUs is.
const OTHERS: f64 = 0.05;
/// With fewer CPUs than these the ends have none that nobody else needs.
const FEW_CPUS: usize = 4;

/// Facts that are shown, as records have them of the client's machine.
#[rustfmt::skip]
const FACTS: &[&str] = &[
    "cpu_model", "virtualization", "cpu_governor", "cpu_boost", "cpu_smt_active",
    "cgroup_cpu_limit_cores",
];

/// The machine, or all machines together. Figures are medians over the trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseMachine {
    /// CPUs of all nodes; 0 where they could not be read.
    pub cpus: usize,
    /// Whether all nodes are one machine.
    pub one_machine: bool,
    /// Cores that were busy with anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_cores: Option<f64>,
    /// Cores that processed packets, for whomever; part of `busy_cores`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub softirq_cores: Option<f64>,
    /// Share of all CPU time that the hypervisor gave to others, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Cores that were busy with neither the ends nor the conductor nor packets, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_least_cores: Option<f64>,
    /// The same if all packet processing was for others: at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_most_cores: Option<f64>,
    /// What the first record says of the client's machine: model, governor ... Absent is what it
    /// does not tell.
    pub facts: BTreeMap<String, String>,
}

impl NoiseMachine {
    pub(crate) fn of(records: &[&Record]) -> Self {
        let over = |figure: &dyn Fn(&Record) -> Option<f64>| {
            median(&records.iter().filter_map(|record| figure(record)).collect::<Vec<_>>())
        };
        let first = records.first();
        let told = |name: &&str| {
            let fact = first?.environment.client.get(*name)?;
            Some(((*name).to_owned(), fact.clone()))
        };
        Self {
            cpus: first.map_or(0, |record| cpus(record)),
            one_machine: first.is_some_and(|record| record.cost.one_machine),
            busy_cores: over(&|record| figures::cores(&record.cost, Busy::All)),
            softirq_cores: over(&|record| figures::cores(&record.cost, Busy::Softirq)),
            steal_share: over(&|record| {
                let cpus = cpus(record);
                figures::cores(&record.cost, Busy::Steal)
                    .filter(|_| cpus > 0)
                    .map(|cores| cores / cpus as f64)
            }),
            others_least_cores: over(&|record| others(record).map(|(least, _)| least)),
            others_most_cores: over(&|record| others(record).map(|(_, most)| most)),
            facts: FACTS.iter().filter_map(told).collect(),
        }
    }
}

/// CPUs of the nodes, each machine once.
fn cpus(record: &Record) -> usize {
    let most = if record.cost.one_machine { 1 } else { record.cost.nodes.len() };
    record.cost.nodes.iter().take(most).map(|node| node.per_cpu_busy.len()).sum()
}

/// Cores that others kept busy, at least and at most. Packets are processed on whatever CPU they
/// come to, and whether a process is charged for that depends on the kernel. So nobody knows how
/// much of softirq is in our own figures.
fn others(record: &Record) -> Option<(f64, f64)> {
    let cost = &record.cost;
    let [busy, softirq, steal] =
        [Busy::All, Busy::Softirq, Busy::Steal].map(|busy| figures::cores(cost, busy));
    let ends = cost.client.get("cores")? + cost.server.get("cores")?;
    let overhead = record.metrics.get("overhead_cores").copied().unwrap_or(0.0);
    let rest = busy? - steal? - ends;
    Some(((rest - softirq? - overhead).max(0.0), rest.max(0.0)))
}

/// The limits of measurements here, worst first: at least one sentence.
pub(crate) fn limits(machine: &NoiseMachine, drift: Option<&NoiseDrift>) -> Vec<String> {
    let mut out = Vec::new();
    let fact = |name: &str| machine.facts.get(name).map(String::as_str);
    if let Some(steal) = machine.steal_share.filter(|share| *share >= STEAL) {
        out.push(format!(
            "steal {}: other guests of this host take CPU time when they like",
            percent(steal)
        ));
    }
    let others = machine.others_least_cores.filter(|busy| *busy >= OTHERS * machine.cpus as f64);
    if let Some(busy) = others.filter(|_| machine.cpus > 0) {
        out.push(format!("{} cores were busy with other programs: end them, or wait", cores(busy)));
    }
    if let Some(drift) = drift.filter(|drift| drift.slower_p <= NOISE_P) {
        let word = if drift.slower > 0.0 { "slower" } else { "faster" };
        let share = percent(drift.slower.abs());
        out.push(format!(
            "the last rounds were {share} {word} than the first: something warms up, fills or \
             leaves; ratios within rounds stand, figures do not"
        ));
    }
    if drift.is_some_and(|drift| drift.correlation_p.is_some_and(|p| p <= NOISE_P)) {
        out.push(
            "rounds resemble the round before: intervals of figures hold less than 95 %".to_owned(),
        );
    }
    if machine.one_machine && (1..FEW_CPUS).contains(&machine.cpus) {
        let cpus = counted(machine.cpus as u64, "CPU", "CPUs");
        out.push(format!(
            "{cpus}: client, server, the kernel's packet work and the conductor share them"
        ));
    }
    if let Some(limit) = fact("cgroup_cpu_limit_cores") {
        out.push(format!(
            "this container may use {limit} cores: above that it is stopped for a while"
        ));
    }
    if let Some(governor) = fact("cpu_governor").filter(|governor| *governor != "performance") {
        out.push(format!(
            "governor {governor}: the clock follows the load; `performance` holds it"
        ));
    }
    if fact("cpu_boost") == Some("1") {
        out.push("turbo is on: the clock follows the heat and the busy cores".to_owned());
    }
    if fact("cpu_smt_active") == Some("1") {
        out.push("SMT is on: two CPUs of a core slow each other down".to_owned());
    }
    if out.is_empty() {
        out.push("nothing that the machine tells of: what remains is its own".to_owned());
    }
    out
}
