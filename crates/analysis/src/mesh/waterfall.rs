//! The waterfall of proxies: paths that differ only in their proxies, compared step by step.
//!
//! ```text
//!   no proxy ─► + server sidecar ─► + client sidecar        = both sidecars
//!          └──► client sidecar alone ─► + server sidecar to that
//! ```
//!
//! Every step is the difference of two paths that were both measured, taken round by round. A path
//! that was not measured is left out, and the step leads past it.

use hopbench_model::number::counted;
use hopbench_model::point_label;

use super::doubts::Doubts;
use super::family::{self, Family, Member, families};
use crate::cells::{Cell, Round};
use crate::figures::{End, Kind, Percentile};
use crate::run_data::{RunData, Workload};
use crate::summary::{Added, ProxyShare, Spread, WHOLE, WaterfallStep, WaterfallSummary};

/// The waterfalls of a run: workloads, families and points in the scenario's order.
pub(crate) fn all(data: &RunData) -> Vec<WaterfallSummary> {
    let families = families(&data.run.plan.paths, &data.references);
    let mut out = Vec::new();
    for workload in &data.workloads {
        for family in &families {
            out.extend(
                workload
                    .points
                    .iter()
                    .filter_map(|point| waterfall(data, workload, family, *point)),
            );
        }
    }
    out
}

/// A member of a family with its trials.
struct Measured<'a> {
    member: &'a Member,
    name: &'a str,
    cell: &'a Cell,
    doubts: Doubts,
}

/// `None` where fewer than two paths of the family have figures, and where the traffic goes by the
/// proxies.
fn waterfall(
    data: &RunData,
    workload: &Workload,
    family: &Family,
    point: usize,
) -> Option<WaterfallSummary> {
    let plan = &data.run.plan;
    let job = &plan.points[point].job;
    let asked_per_s = job.schedule.per_s();
    let measured: Vec<Measured<'_>> = family
        .members
        .iter()
        .filter_map(|member| {
            let cell = data.cells.get(&(member.path, point))?;
            if cell.rounds.is_empty() || cell.bypasses_proxy {
                return None;
            }
            let path = &plan.paths[member.path];
            let asked_per_s = asked_per_s.map(|rate| rate * f64::from(path.clients));
            let doubts = Doubts::of(cell, workload.kind, asked_per_s);
            Some(Measured { member, name: &path.name, cell, doubts })
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
        subject: family.subject.clone(),
        steps,
        note: if job.is_paced() { String::new() } else { UNEQUAL.to_owned() },
    })
}

/// What it means for a step that nothing paces its paths.
const UNEQUAL: &str = "every path at another throughput";

fn steps(measured: &[Measured<'_>], quantities: &[Quantity]) -> Option<Vec<WaterfallStep>> {
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
        out.push(WaterfallStep {
            in_chain: true,
            ..step(of(pair[1]), of(pair[0]), label, quantities)
        });
    }
    if chain.len() > 2 {
        let label = format!("{WHOLE} {}", sets[last].without(sets[first]));
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
fn own(path: &Measured<'_>, quantities: &[Quantity]) -> WaterfallStep {
    let figure = |quantity: &Quantity| {
        let values = path.cell.counted().map(|round| quantity.of(round, path.member));
        Some(Added { name: quantity.name, label: quantity.label, spread: Spread::of(values)? })
    };
    WaterfallStep {
        label: path.member.hops.with(),
        path: path.name.to_owned(),
        against: None,
        in_chain: true,
        saturated_per_s: path.cell.saturated_per_s(),
        added: quantities.iter().filter_map(figure).collect(),
        proxies: proxies(path.cell),
        note: note(&[path], is_short(path, quantities)),
    }
}

/// A path against one with fewer proxies.
fn step(
    path: &Measured<'_>,
    against: &Measured<'_>,
    label: String,
    quantities: &[Quantity],
) -> WaterfallStep {
    let is_saturated = [path, against].iter().any(|path| path.cell.saturated_per_s().is_some());
    let figure = |quantity: &Quantity| {
        if is_saturated && quantity.is_latency {
            return None;
        }
        let here = |round: &Round| quantity.of(round, path.member);
        let there = |round: &Round| quantity.of(round, against.member);
        let pairs = path.cell.pairs_of(against.cell, here, there).values;
        let spread = Spread::around_zero(pairs.iter().map(|pair| pair.value - pair.baseline))?;
        Some(Added { name: quantity.name, label: quantity.label, spread })
    };
    WaterfallStep {
        label,
        path: path.name.to_owned(),
        against: Some(against.name.to_owned()),
        in_chain: false,
        saturated_per_s: path.cell.saturated_per_s(),
        added: quantities.iter().filter_map(figure).collect(),
        proxies: proxies(path.cell),
        note: note(&[path, against], is_short(path, quantities)),
    }
}

/// Whether clients of the path connect to a proxy before the server's and a figure is about that.
fn is_short(path: &Measured<'_>, quantities: &[Quantity]) -> bool {
    path.member.hops.ends_connections() && quantities.iter().any(|quantity| quantity.connecting)
}

/// Doubts about the figures of a path, or about the difference of two.
fn note(paths: &[&Measured<'_>], short: bool) -> String {
    let mut notes =
        Doubts::notes(&paths.iter().map(|path| (path.name, &path.doubts)).collect::<Vec<_>>());
    if let [path, against] = paths {
        let (apart, all) = (path.cell.apart(against.cell), path.cell.shared(against.cell));
        if apart > 0 {
            notes.push(format!(
                "{} of {all} rounds: the others were measured in different sessions",
                all - apart
            ));
        }
        let disturbed = path.cell.disturbed(against.cell);
        if disturbed > 0 {
            let rounds = counted(disturbed as u64, "round", "rounds");
            notes.push(format!("{rounds} not compared: the testbed changed meanwhile"));
        }
    }
    if short {
        notes.push("connecting ends at the first proxy and says nothing of the rest".to_owned());
    }
    notes.join("; ")
}

/// CPU time of the proxies that the path names, for a unit of work.
fn proxies(cell: &Cell) -> Vec<ProxyShare> {
    let mut names: Vec<&str> = Vec::new();
    for proxy in cell.counted().flat_map(|round| &round.proxies).filter(|proxy| proxy.named) {
        if !names.contains(&proxy.name.as_str()) {
            names.push(&proxy.name);
        }
    }
    let share = |name: &str| {
        let each = |round: &Round| {
            let proxy = round.proxies.iter().find(|proxy| proxy.named && proxy.name == name)?;
            Some(proxy.cores * 1e9 / round.work_per_s).filter(|ns| ns.is_finite())
        };
        Some(ProxyShare {
            name: name.to_owned(),
            spread: Spread::of(cell.counted().filter_map(each))?,
        })
    };
    names.into_iter().filter_map(share).collect()
}

/// Something that a proxy adds to.
struct Quantity {
    name: &'static str,
    label: &'static str,
    /// Index of its figure.
    figure: usize,
    /// Whether it is the time of connecting, which ends where the connection does.
    connecting: bool,
    /// Whether it is a latency, which is not compared where a path is saturated.
    is_latency: bool,
}

impl Quantity {
    /// Its value in a round; not a number where it is not known, and where it is about a shorter
    /// way.
    fn of(&self, round: &Round, member: &Member) -> f64 {
        if self.connecting && member.hops.ends_connections() {
            f64::NAN
        } else {
            round.figures[self.figure]
        }
    }
}

/// Latency and CPU time of a kind of workload.
fn quantities(kind: &Kind) -> Vec<Quantity> {
    let figures =
        [kind.latency(Percentile::P50), kind.latency(Percentile::P99), kind.cpu(End::All)];
    let quantity = |at: usize| {
        let figure = &kind.figures[at];
        Quantity {
            name: figure.name,
            label: figure.label,
            figure: at,
            connecting: figure.is_of_connecting(),
            is_latency: figure.is_latency(),
        }
    };
    figures.into_iter().flatten().map(quantity).collect()
}
