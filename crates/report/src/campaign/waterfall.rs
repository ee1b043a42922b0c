//! What each proxy adds: paths that differ only in the proxies that their traffic passes, compared step by step.
//!
//! ```text
//!   no proxy ─► + server sidecar ─► + client sidecar        = both sidecars
//!          └──► client sidecar alone ─► + server sidecar to that
//! ```
//!
//! Every step is the difference of two paths that were both measured, taken round by round. Where one was not measured,
//! the steps are those between the others.

mod family;
pub(super) mod texts;

use std::collections::BTreeMap;

use hopbench_model::point_label;
use hopbench_stats::{median_interval, paired_difference, summary::median};
use serde::Serialize;
use serde_json::Value;

use self::family::{Family, Member, families};
use super::cell::{Cell, Round};
use super::kind::{End, Kind, Percentile};
use super::{Campaign, Workload};

/// What each proxy of a family of paths adds, at one point of a workload.
#[derive(Debug, Clone, Serialize)]
pub struct WaterfallSummary {
    /// The workload's name.
    pub workload: String,
    /// The point.
    pub point: BTreeMap<String, Value>,
    /// The point as reports write it.
    #[serde(skip)]
    pub point_label: String,
    /// What its paths have in common: `bridge@a → bridge@b, direct`.
    pub family: String,
    /// The variant of their proxies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The steps; the first is the path with the fewest proxies, with its own figures.
    pub steps: Vec<Step>,
}

/// A path, against one with fewer proxies.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// In words: `no proxy`, `+ server sidecar`, `= both sidecars`.
    pub label: String,
    /// The path.
    pub path: String,
    /// The path that it is compared with; absent: these are its own figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// Whether it is one of those that lead from the first path to the one with most proxies, each against the one before.
    pub in_chain: bool,
    /// What is added, by figure: median and 99th percentile of the latency, CPU time of all ends and proxies for a unit of
    /// work.
    pub added: Vec<Added>,
    /// CPU time of each proxy of the path for a unit of work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<ProxyShare>,
    /// What makes the figures doubtful; empty where nothing does.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What a step adds to a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Added {
    /// The figure, with its unit: `response_p50_ns`, `cpu_per_request_ns`.
    pub name: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// Median over the rounds.
    pub median: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: usize,
}

/// What one proxy spends for a unit of work.
#[derive(Debug, Clone, Serialize)]
pub struct ProxyShare {
    /// Its name on the path.
    pub name: String,
    /// CPU time for a unit of work, median over the rounds, ns.
    pub cpu_ns: f64,
    /// Lower end of its interval; absent with one round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The waterfalls of a run: workloads, families and points in the scenario's order.
pub(super) fn all(campaign: &Campaign) -> Vec<WaterfallSummary> {
    let families = families(&campaign.run.plan.paths);
    let mut out = Vec::new();
    for workload in &campaign.workloads {
        for family in &families {
            out.extend(workload.points.iter().filter_map(|point| waterfall(campaign, workload, family, *point)));
        }
    }
    out
}

/// A member of a family with its trials.
struct Measured<'a> {
    member: &'a Member,
    name: &'a str,
    cell: &'a Cell,
}

/// `None` where fewer than two paths of the family have figures, and where the traffic goes by the proxies.
fn waterfall(campaign: &Campaign, workload: &Workload, family: &Family, point: usize) -> Option<WaterfallSummary> {
    let plan = &campaign.run.plan;
    let measured: Vec<Measured<'_>> = family
        .members
        .iter()
        .filter_map(|member| {
            let cell = campaign.cells.get(&(member.path, point))?;
            let name = plan.paths[member.path].name.as_str();
            (!cell.rounds.is_empty() && !cell.bypasses_proxy).then_some(Measured { member, name, cell })
        })
        .collect();
    let quantities = quantities(workload.kind);
    let steps = steps(&measured, &quantities)?;
    let at = &plan.points[point].point;
    Some(WaterfallSummary {
        workload: workload.name.clone(),
        point: at.clone(),
        point_label: point_label(at),
        family: family.name.clone(),
        variant: family.variant.clone(),
        steps,
    })
}

fn steps(measured: &[Measured<'_>], quantities: &[Quantity]) -> Option<Vec<Step>> {
    let of = |at: usize| &measured[at];
    let sets: Vec<_> = measured.iter().map(|one| one.member.hops).collect();
    let chain = family::chain(&sets);
    let (first, last) = (*chain.first()?, *chain.last()?);
    if chain.len() < 2 {
        return None;
    }
    let mut out = vec![own(of(first), quantities)];
    for pair in chain.windows(2) {
        let label = format!("+ {}", sets[pair[1]].without(sets[pair[0]]));
        out.push(Step { in_chain: true, ..step(of(pair[1]), of(pair[0]), label, quantities) });
    }
    if chain.len() > 2 {
        let label = format!("= {}", sets[last].without(sets[first]));
        out.push(step(of(last), of(first), label, quantities));
    }
    let mut before = None;
    for (from, to) in family::others(&sets, &chain) {
        let added = sets[to].without(sets[from]);
        let label = match before {
            _ if from == first => format!("+ {added} alone"),
            Some(before) if before == from => format!("+ {added} to that"),
            _ => format!("+ {added} to {}", sets[from]),
        };
        before = Some(to);
        out.push(step(of(to), of(from), label, quantities));
    }
    out.retain(|step| !step.added.is_empty());
    (out.len() > 1).then_some(out)
}

/// The figures of the first path.
fn own(path: &Measured<'_>, quantities: &[Quantity]) -> Step {
    let figure = |quantity: &Quantity| {
        let value = |round: &Round| quantity.of(round, path.member);
        let values: Vec<f64> = path.cell.rounds.iter().map(value).filter(|value| value.is_finite()).collect();
        let interval = median_interval(&values);
        Some(Added {
            name: quantity.name,
            label: quantity.label,
            median: median(&values)?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            rounds: values.len(),
        })
    };
    Step {
        label: path.member.hops.with(),
        path: path.name.to_owned(),
        against: None,
        in_chain: true,
        added: quantities.iter().filter_map(figure).collect(),
        proxies: proxies(path.cell),
        note: note(path.cell.generator_limited),
    }
}

/// A path against one with fewer proxies.
fn step(path: &Measured<'_>, against: &Measured<'_>, label: String, quantities: &[Quantity]) -> Step {
    let figure = |quantity: &Quantity| {
        let here = |round: &Round| quantity.of(round, path.member);
        let there = |round: &Round| quantity.of(round, against.member);
        let difference = paired_difference(&path.cell.pairs_of(against.cell, here, there).values)?;
        Some(Added {
            name: quantity.name,
            label: quantity.label,
            median: difference.median,
            low: difference.interval.map(|interval| interval.low),
            high: difference.interval.map(|interval| interval.high),
            rounds: difference.rounds,
        })
    };
    Step {
        label,
        path: path.name.to_owned(),
        against: Some(against.name.to_owned()),
        in_chain: false,
        added: quantities.iter().filter_map(figure).collect(),
        proxies: proxies(path.cell),
        note: note(path.cell.generator_limited || against.cell.generator_limited),
    }
}

fn note(generator_limited: bool) -> String {
    if generator_limited { "the load generator was the limit".to_owned() } else { String::new() }
}

/// What every proxy that the path names spends for a unit of work.
fn proxies(cell: &Cell) -> Vec<ProxyShare> {
    let mut names: Vec<&str> = Vec::new();
    for proxy in cell.rounds.iter().flat_map(|round| &round.proxies).filter(|proxy| proxy.named) {
        if !names.contains(&proxy.name.as_str()) {
            names.push(&proxy.name);
        }
    }
    let share = |name: &str| {
        let each = |round: &Round| {
            let proxy = round.proxies.iter().find(|proxy| proxy.named && proxy.name == name)?;
            Some(proxy.cores * 1e9 / round.work_per_s).filter(|ns| ns.is_finite())
        };
        let values: Vec<f64> = cell.rounds.iter().filter_map(each).collect();
        let interval = median_interval(&values);
        Some(ProxyShare {
            name: name.to_owned(),
            cpu_ns: median(&values)?,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        })
    };
    names.into_iter().filter_map(share).collect()
}

/// Something that a proxy adds to.
struct Quantity {
    name: &'static str,
    label: &'static str,
    /// Indices of the figures whose sum it is.
    parts: Vec<usize>,
    /// Index of the figure with the proxies' part, where proxies have one.
    proxies: Option<usize>,
}

impl Quantity {
    /// Its value in a round; not a number where a part is missing.
    fn of(&self, round: &Round, member: &Member) -> f64 {
        let ends: f64 = self.parts.iter().map(|part| round.figures[*part]).sum();
        match self.proxies {
            // Without what the proxies of the path spent, the sum would look like a cheap path.
            Some(proxies) if !member.hops.is_empty() => ends + round.figures[proxies],
            _ => ends,
        }
    }
}

/// Latency and CPU time of a kind of workload.
fn quantities(kind: &Kind) -> Vec<Quantity> {
    let latency = |percentile| {
        let at = kind.latency(percentile)?;
        let figure = &kind.figures[at];
        Some(Quantity { name: figure.name, label: figure.label, parts: vec![at], proxies: None })
    };
    let cpu = || {
        let (client, server) = (kind.cpu(End::Client)?, kind.cpu(End::Server)?);
        let figure = &kind.figures[client];
        Some(Quantity {
            name: figure.name.trim_start_matches("client_"),
            label: figure.label.trim_start_matches("client "),
            parts: vec![client, server],
            proxies: kind.cpu(End::Proxies),
        })
    };
    [latency(Percentile::P50), latency(Percentile::P99), cpu()].into_iter().flatten().collect()
}

impl WaterfallSummary {
    /// What the steps are about, in the order of columns.
    pub(crate) fn figures(&self) -> Vec<(&'static str, &'static str)> {
        let mut out: Vec<(&str, &str)> = Vec::new();
        for added in self.steps.iter().flat_map(|step| &step.added) {
            if !out.contains(&(added.name, added.label)) {
                out.push((added.name, added.label));
            }
        }
        out
    }

    /// Its name among those of the workload: `bridge@a → bridge@b, direct, variant stats at rate=1000`.
    pub(crate) fn name(&self) -> String {
        let mut out = self.family.clone();
        if let Some(variant) = self.variant.as_ref().filter(|name| *name != hopbench_model::Variant::PLAIN) {
            out.push_str(&format!(", variant {variant}"));
        }
        if !self.point_label.is_empty() {
            out.push_str(&format!(" at {}", self.point_label));
        }
        out
    }
}

impl Step {
    /// What it adds to a figure.
    pub(crate) fn of(&self, name: &str) -> Option<&Added> {
        self.added.iter().find(|added| added.name == name)
    }
}
