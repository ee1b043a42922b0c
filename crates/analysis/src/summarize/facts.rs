//! The sentences of a summary: of the run as a whole, and of what is common to a workload's points.

use std::collections::BTreeSet;

use hopbench_model::number::{counted, percentage, plain};
use hopbench_model::units::Span;
use hopbench_model::{Pattern, Schedule, TestbedSpec, point_label};
use hopbench_stats::FEWEST_TO_JUDGE;

use super::drift;
use crate::cells::batches::FEWEST_SAMPLES;
use crate::cells::{nodes, outliers};
use crate::figures::RecordedJob;
use crate::run_data::{RunData, Workload};
use crate::summary::{CellSummary, RatioSummary, WorkloadSummary};

/// More paths than this are counted, not named.
const MOST_NAMED: usize = 5;

/// Notes on the run as a whole, its sessions among them.
pub(crate) fn notes(data: &RunData, workloads: &[WorkloadSummary]) -> Vec<String> {
    let mut out = data.run.notes.clone();
    let cells = || {
        workloads
            .iter()
            .flat_map(|workload| workload.cells.iter().map(|cell| (workload.name.as_str(), cell)))
    };
    out.extend(quota(data));
    out.extend(standing(data, cells().map(|(_, cell)| cell)));
    let apart: Vec<usize> =
        cells().map(|(_, cell)| cell.unpaired_rounds).filter(|rounds| *rounds > 0).collect();
    if !apart.is_empty() {
        out.push(format!(
            "the run was resumed: {} in {} cannot be compared, because the baseline was measured \
             in another session",
            counted(apart.iter().sum::<usize>() as u64, "round", "rounds"),
            counted(apart.len() as u64, "cell", "cells"),
        ));
    }
    out.extend(data.rule.iter().flat_map(|rule| rule.notes(cells())));
    out.extend(spared(data));
    out.extend(disturbed(cells().map(|(_, cell)| cell)));
    out.extend(floor(data, workloads));
    out.extend(pooled(data));
    out.extend(outliers::note(workloads));
    out.extend(few_rounds(cells().map(|(_, cell)| cell)));
    out.extend(drift::notes(data));
    out.extend(unequal(data));
    out.extend(data.warnings.machine());
    out.extend(nodes::too_short(data.cells.values()));
    out
}

/// The CPU quota that all of a lab uses up together, where that is for fewer CPUs than there are.
fn quota(data: &RunData) -> Option<String> {
    let fact = |name: &str| data.run.environment.get(name)?.parse::<f64>().ok();
    let (quota, cpus) = (fact("cgroup_cpu_limit_cores")?, fact("cpu_count")?);
    let is_lab = matches!(data.run.plan.testbed, TestbedSpec::Lab(_));
    (is_lab && quota < cpus).then(|| {
        format!(
            "a CPU quota gave the run {quota} of {cpus} CPUs. When that is used up, the kernel \
             stops all of it for tens of milliseconds, and latencies show that"
        )
    })
}

/// What connections that stood mean for comparisons.
fn standing<'a>(
    data: &RunData,
    mut cells: impl Iterator<Item = &'a CellSummary>,
) -> Option<String> {
    let plan = &data.run.plan;
    let compares = (0..plan.paths.len()).any(|path| plan.references().of(path).is_some());
    (compares && cells.any(|cell| cell.was_visited)).then(|| {
        "connections stood for the whole run (`stay-connected`): chance gave each its CPU and its \
         queue once. That alone can make a difference, and more rounds do not show it"
            .to_owned()
    })
}

/// With fewer rounds than this, noise that is not normal makes more differences false than one
/// expects: see docs/method.md.
const FEW_ROUNDS: usize = 6;

/// How many differences rest on few rounds.
fn few_rounds<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<String> {
    let ratios = cells.flat_map(|cell| &cell.figures).filter_map(|figure| figure.ratio.as_ref());
    let is_called =
        |ratio: &RatioSummary| ratio.verdict.as_ref().is_some_and(|one| one.outcome.is_called());
    let is_of_few =
        |ratio: &RatioSummary| ratio.spread.is_some_and(|spread| spread.rounds < FEW_ROUNDS);
    let count = ratios.filter(|ratio| is_called(ratio) && is_of_few(ratio)).count() as u64;
    (count > 0).then(|| {
        format!(
            "{} on fewer than {FEW_ROUNDS} rounds, and so on a test that takes noise as normal. \
             Where a machine has two states, more than 1 in 20 runs can have a false one. A \
             `budget` gives more rounds",
            counted(count, "difference rests", "differences rest")
        )
    })
}

/// The number of trials that a budget spent on other cells.
fn spared(data: &RunData) -> Option<String> {
    match data.run.spared_trials {
        0 => None,
        trials => Some(format!(
            "{} were spared for others: after some rounds, a cell whose verdict is clear or out of \
             reach is in one round of four",
            counted(trials, "trial", "trials"),
        )),
    }
}

/// The number of trials that are in no figure because the testbed changed.
fn disturbed<'a>(cells: impl Iterator<Item = &'a CellSummary>) -> Option<String> {
    let left_out: Vec<usize> =
        cells.map(|cell| cell.disturbed_rounds).filter(|rounds| *rounds > 0).collect();
    if left_out.is_empty() {
        return None;
    }
    Some(format!(
        "{} in {} left out of figures and comparisons: the testbed changed meanwhile",
        counted(left_out.iter().sum::<usize>() as u64, "round", "rounds"),
        counted(left_out.len() as u64, "cell", "cells"),
    ))
}

/// Which 99th percentiles were read from several rounds together, and which of too few samples.
fn pooled(data: &RunData) -> Option<String> {
    let mut rounds: Vec<usize> = data.batches.values().map(|batches| batches.rounds).collect();
    rounds.sort_unstable();
    let (least, most) = (rounds.first()?, rounds.last()?);
    let size = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let short = data.batches.iter().filter(|(_, batches)| batches.fewest < FEWEST_SAMPLES);
    let named: Vec<String> = short
        .map(|(point, batches)| {
            let at = &data.run.plan.points[*point];
            let name = [at.workload.as_str(), &point_label(&at.point)].join(" ");
            format!("{} ({})", name.trim_end(), batches.fewest)
        })
        .collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let few = named[..named.len().min(MOST_NAMED)].join(", ");
    let few = if few.is_empty() { few } else { format!("; too few samples: {few}{more}") };
    Some(format!(
        "p99 is read from batches of {size} {}, so that of {FEWEST_SAMPLES} samples or more 10 lie \
         beyond it{few}",
        if *most == 1 { "round" } else { "rounds" }
    ))
}

/// The noise floor: by how much the baseline and its twin differ, and where that is no chance.
fn floor(data: &RunData, workloads: &[WorkloadSummary]) -> Option<String> {
    let plan = &data.run.plan;
    let (baseline, twin) = match (plan.subjects.first(), data.references.twins().next()) {
        (Some(first), Some(_)) => {
            (format!("paths with {}", first.name), format!("paths with {} again", first.name))
        }
        _ => (plan.baseline.clone()?, plan.twin.clone()?),
    };
    // A run of fewer rounds has no verdict that it could widen.
    if (plan.rounds as usize) < FEWEST_TO_JUDGE {
        return None;
    }
    let mut floors: Vec<(f64, String)> = Vec::new();
    let (mut sure, mut unknown) = (0, 0);
    for workload in workloads {
        for cell in &workload.cells {
            let ratio = workload.comparison(cell);
            if cell.is_twin {
                let name = [workload.name.as_str(), &cell.point_label].join(" ");
                match ratio.and_then(|ratio| ratio.noise_floor) {
                    Some(floor) => floors.push((floor, name.trim_end().to_owned())),
                    None => unknown += 1,
                }
                let spread = ratio.and_then(|ratio| ratio.spread);
                sure += u64::from(spread.is_some_and(|spread| spread.leaves_out(1.0)));
            }
        }
    }
    floors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let text = match floors.as_slice() {
        [] if workloads.is_empty() => return None,
        [] => {
            return Some(format!(
                "{twin}, which is {baseline} once more, left no figure: there is no noise floor"
            ));
        }
        floors => from_to(floors),
    };
    let sure = match sure {
        0 => "that may be chance".to_owned(),
        n => format!(
            "at {} that is no chance, and intervals there are wider by it",
            counted(n, "point", "points")
        ),
    };
    let unknown = match unknown {
        0 => String::new(),
        n => format!("; {} without it", counted(n, "point is", "points are")),
    };
    Some(format!(
        "noise floor: {baseline} and the same once more ({twin}) differ {text}; {sure}{unknown}"
    ))
}

/// The least and the most of these floors, in order, with the name of the most; one where the two
/// read the same.
fn from_to(floors: &[(f64, String)]) -> String {
    let text = |(floor, _): &(f64, String)| percentage(*floor);
    let (least, most) = (floors.first().map(text), floors.last().map(text));
    match (floors.last(), least.filter(|least| most.as_ref() != Some(least))) {
        (Some((most, at)), Some(least)) => {
            format!("by {least} to {} % (most: {at})", percentage(*most))
        }
        _ => format!("by {} %", most.unwrap_or_default()),
    }
}

/// What comparisons with a path of another number of clients compare: each client makes the whole
/// load of a workload.
fn unequal(data: &RunData) -> Option<String> {
    let plan = &data.run.plan;
    let baseline = plan.paths.iter().find(|path| Some(&path.name) == plan.baseline.as_ref())?;
    let other = plan.paths.iter().filter(|path| path.clients != baseline.clients);
    let named: Vec<_> = other.map(|path| format!("{} ({})", path.name, path.clients)).collect();
    if named.is_empty() {
        return None;
    }
    let more = named.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "each client makes the whole load of a workload: ratios of {}{more} to {} ({}) compare the \
         loads of different numbers of clients",
        named[..named.len().min(MOST_NAMED)].join(", "),
        baseline.name,
        counted(u64::from(baseline.clients), "client", "clients"),
    ))
}

/// What is said after a load that each of several clients makes, and how many of them there are.
/// Nothing of either where every path has one.
fn clients(data: &RunData, workload: &Workload) -> (&'static str, Option<String>) {
    let paths = &data.run.plan.paths;
    let on = |path: &usize| {
        workload.points.iter().any(|point| data.cells.contains_key(&(*path, *point)))
    };
    let counts: BTreeSet<u32> =
        (0..paths.len()).filter(on).map(|path| paths[path].clients).collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if *most > 1 => {
            let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
            (" per client", Some(format!("x {range} clients")))
        }
        _ => ("", None),
    }
}

const MILLISECOND: u64 = 1_000_000;

/// The setting that the workload's points have in common, in words.
pub(crate) fn setting(data: &RunData, workload: &Workload) -> String {
    let points = &data.run.plan.points;
    let first = &points[workload.points[0]];
    let job = &first.job;
    let mut parts = Vec::new();
    let (each, clients) = clients(data, workload);
    // Of a job of another tool only some of it is stated.
    let imported = data.run.plan.is_imported() || first.peer.is_some();
    parts.extend(first.peer.as_ref().map(|peer| format!("measured by {}", peer.tool)));
    let burst = Some(job.burst).filter(|burst| *burst > 1 && !first.point.contains_key("burst"));
    if !imported && first.point.contains_key("rate") {
        parts.extend(burst.map(|burst| format!("bursts of {burst}")));
    } else if !imported {
        let bursts = burst.map_or_else(String::new, |burst| format!(" in bursts of {burst}"));
        parts.extend(match job.schedule {
            // Only an exchange waits for an answer before the next starts.
            Schedule::Closed if !job.kind().is_of_exchanges() => None,
            Schedule::Closed => Some("closed loop".to_owned()),
            Schedule::Rate(rate) => Some(format!("open loop at {}/s{each}{bursts}", plain(rate))),
            Schedule::Poisson(rate) => {
                Some(format!("Poisson arrivals at {}/s{each}{bursts}", plain(rate)))
            }
        });
    }
    // Of probes they are those that can be under way: a matter of their inside.
    let has_connections = job.kind().pattern != Pattern::Probes && job.connections > 0;
    if !first.point.contains_key("connections") && has_connections {
        parts.push(format!(
            "{}{each}",
            counted(u64::from(job.connections), "connection", "connections")
        ));
    }
    parts.extend(clients);
    let params = serde_json::json!({ "params": job.params.json() });
    let varies =
        |text: &String| first.point.keys().any(|key| text.starts_with(&key.replace('_', "-")));
    parts.extend(RecordedJob(&params).params().into_iter().filter(|text| !varies(text)));
    if imported {
        if job.timing.window_ns > 0 {
            parts.push(format!("window {}", Span(job.timing.window_ns)));
        }
        return parts.join(", ");
    }
    if !first.point.contains_key("engine") {
        parts.push(format!("engine {}", job.engine));
    }
    if !first.server.is_agent() {
        parts.push(format!("server {}", first.server.program));
    }
    // A window that ends a moment before the next echo is due is no finer than that.
    let window = if job.timing.window_ns > MILLISECOND {
        job.timing.window_ns.next_multiple_of(MILLISECOND)
    } else {
        job.timing.window_ns
    };
    // A search that chooses its windows has the longest one at the lowest rate.
    let shortest = first
        .search
        .as_ref()
        .and_then(|search| search.window_ns(search.goal.rates().map(|rates| rates.highest_per_s)));
    let from = shortest.filter(|shortest| *shortest < window);
    let from = from.map_or(String::new(), |shortest| format!("{} to ", Span(shortest)));
    parts.push(format!(
        "window {from}{} after {} warm-up",
        Span(window),
        Span(job.timing.warmup_ns)
    ));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::from_to;

    #[test]
    fn ends_that_read_the_same_are_one() {
        let of = |floors: &[f64]| {
            from_to(&floors.iter().map(|floor| (*floor, format!("at {floor}"))).collect::<Vec<_>>())
        };
        assert_eq!(of(&[0.218, 0.222]), "by 22 %");
        assert_eq!(of(&[0.22]), "by 22 %");
        assert_eq!(of(&[0.1, 0.15, 0.22]), "by 10 to 22 % (most: at 0.22)");
    }
}
