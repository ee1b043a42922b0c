//! Reasons why a load was too high besides the figure that was searched by.

use hopbench_model::{CpuOf, Record, SearchGoal, SearchSpec};

use super::trials::{SearchTrial, is_same};
use crate::summary::TraceStep;
use crate::text::load_text::{figure, value};
use crate::text::{LoadUnit, broken_text};

/// Others than the trial that keep more of the busy CPUs than this share are worth a word.
const MOST_OF_IT: f64 = 0.5;

/// Which bound a trial broke besides that of its figure, and whether others kept the CPU busy that
/// it was to hold down. Empty where there is nothing to say.
pub(crate) fn of(record: &Record, spec: &SearchSpec) -> String {
    let Some(step) = &record.search else { return String::new() };
    let mut out = Vec::new();
    if !step.broken.is_empty() {
        out.push(broken_text(&step.broken));
    } else if !step.within {
        // Old records do not say which bound it was.
        let why = if step.value.is_none() {
            "there is no such figure"
        } else {
            "another bound was broken"
        };
        out.push(why.to_owned());
    }
    if let SearchGoal::Cpu { of: CpuOf::Node(_) | CpuOf::Nodes(_), ceiling, .. } = &spec.goal {
        out.extend(others(record).filter(|_| step.value.is_some_and(|value| value > *ceiling)));
    }
    out.join(", ")
}

/// That others than the trial had most of the CPUs of its one machine; softirq may be the trial's.
fn others(record: &Record) -> Option<String> {
    let cost = &record.cost;
    let node = cost
        .nodes
        .iter()
        .find(|node| !node.per_cpu_busy.is_empty())
        .filter(|_| cost.one_machine)?;
    let ends: f64 = [&cost.client, &cost.server].iter().filter_map(|end| end.get("cores")).sum();
    let proxies: f64 = cost.proxies.iter().filter_map(|proxy| proxy.figures.get("cores")).sum();
    let others = node.busy_cores - node.softirq_cores - ends - proxies;
    let cpus = node.per_cpu_busy.len();
    (others > MOST_OF_IT * node.busy_cores)
        .then(|| format!("others than this trial kept {others:.2} of {cpus} CPUs busy"))
}

/// The evidence at a load that was too high: `lost 0 %, but 3.1 % never left the sender`. Of
/// several trials there the last one with a reason, or the last; empty without any.
pub(crate) fn at(trials: &[SearchTrial<'_>], spec: &SearchSpec, load: f64) -> String {
    let there =
        || trials.iter().rev().filter(|trial| trial.is_usable() && is_same(trial.step.load, load));
    let reasoned = there().find(|trial| !of(trial.record, spec).is_empty());
    let Some(trial) = reasoned.or_else(|| there().next()) else { return String::new() };
    let because = of(trial.record, spec);
    let name = &trial.step.figure;
    let seen = trial.step.value.map(|seen| format!("{} {}", figure(name), value(name, seen)));
    // What is over its limit needs no other reason, but may have a cause.
    let within_limit = !trial.step.within
        && trial.step.value.zip(spec.goal.limit()).is_some_and(|(v, limit)| v <= limit);
    let joint = if within_limit { ", but " } else { "; " };
    seen.into_iter()
        .chain(Some(because).filter(|text| !text.is_empty()))
        .collect::<Vec<_>>()
        .join(joint)
}

/// The lowest load beyond this one at which more than the figure says that it is too high, with
/// what was seen there. An example: `12500/s: lost 0 %, but 3.1 % never left the sender`. Empty
/// where there is none.
pub(crate) fn beyond(
    trials: &[SearchTrial<'_>],
    spec: &SearchSpec,
    unit: LoadUnit<'_>,
    load: f64,
) -> String {
    let is_reasoned =
        |trial: &&SearchTrial<'_>| trial.is_usable() && !of(trial.record, spec).is_empty();
    let loads = trials.iter().filter(is_reasoned).map(|trial| trial.step.load);
    let above = loads.filter(|at| *at > load && !is_same(*at, load)).reduce(f64::min);
    above
        .map_or(String::new(), |above| format!("{}: {}", unit.text(above), at(trials, spec, above)))
}

/// A trial as a step of the trace.
pub(crate) fn trace(trial: &SearchTrial<'_>, spec: &SearchSpec) -> TraceStep {
    TraceStep {
        step: trial.step.step,
        session: trial.record.session,
        load: trial.step.load,
        why: trial.step.why.clone(),
        value: trial.step.value.filter(|value| value.is_finite()),
        within: trial.step.within,
        because: of(trial.record, spec),
        limited_by: trial.record.limited_by.clone(),
        unusable: trial.unusable.clone(),
    }
}
