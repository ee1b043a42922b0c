//! From what was kept of the records to the summary.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::units::Span;
use hopbench_model::{Schedule, is_of_exchanges, point_label};
use serde_json::Value;

use super::cell::Cell;
use super::compare::{Side, estimate};
use super::nodes::Node;
use super::summary::{
    CellSummary, DistributionSummary, FigureSummary, PathSummary, Run, SUMMARY_SCHEMA, SkippedSummary, Summary,
    WorkloadSummary,
};
use super::verdict::decided;
use super::{Campaign, Workload, curve, grid, headline, waterfall};
use crate::number::counted;

/// More paths than this are counted, not named.
const MOST_NAMED: usize = 5;

pub(super) fn summary(campaign: &Campaign) -> Summary {
    let run = &campaign.run;
    let plan = &run.plan;
    let baseline = plan.baseline.as_ref().and_then(|name| campaign.path_names.get(name)).copied();
    let workloads: Vec<_> = campaign.workloads.iter().map(|w| workload(campaign, w, baseline)).collect();
    let cells = || workloads.iter().flat_map(|workload| &workload.cells);
    let verdicts = |workload: &WorkloadSummary| {
        workload.cells.iter().filter(|cell| grid::comparison(workload, cell).is_some_and(decided)).count()
    };
    let names = |list: &[WorkloadSummary]| list.iter().map(|workload| workload.name.clone()).collect::<Vec<_>>();
    let path_names: Vec<_> = plan.paths.iter().map(|path| path.name.clone()).collect();
    Summary {
        schema: SUMMARY_SCHEMA,
        run: Run {
            run_id: run.run_id.clone(),
            name: plan.name.clone(),
            status: run.status,
            started_at: run.started_at.clone(),
            ended_at: run.ended_at.clone(),
            testbed: plan.testbed.name(),
            rounds: plan.rounds,
            baseline: baseline.map(|path| path_names[path].clone()),
            seed: plan.seed,
            planned_trials: campaign.cells.len() as u64 * u64::from(plan.rounds),
            used_trials: cells().map(|cell| cell.rounds as u64).sum(),
            comparisons: workloads.iter().map(verdicts).sum::<usize>() as u64,
            notes: notes(campaign, cells()),
        },
        paths: paths(campaign),
        waterfall: waterfall::all(campaign),
        proxy_curves: curve::all(campaign),
        skipped: skipped(campaign),
        failures: campaign.failures.iter().map(|(trial, reason)| trial.summary(reason)).collect(),
        warnings: campaign.warnings.summary(&names(&workloads), &path_names),
        environment: run.environment.clone(),
        testbed: run.testbed.clone(),
        scenario: run.scenario.clone(),
        resolved: resolved(campaign),
        workloads,
    }
}

/// What cannot be measured here; one line a path and reason, as a path that cannot be built lacks all its cells.
fn skipped(campaign: &Campaign) -> Vec<SkippedSummary> {
    let mut counted = BTreeMap::<(&String, &String), u64>::new();
    for skipped in &campaign.run.skipped {
        *counted.entry((&skipped.path, &skipped.reason)).or_default() += 1;
    }
    let one = |((path, reason), cells): ((&String, &String), u64)| SkippedSummary {
        path: path.clone(),
        reason: reason.clone(),
        cells,
    };
    counted.into_iter().map(one).collect()
}

/// The plan without its cells: they are paths x points, and many.
fn resolved(campaign: &Campaign) -> Value {
    let mut plan = serde_json::to_value(&campaign.run.plan).unwrap_or_default();
    if let Some(plan) = plan.as_object_mut() {
        plan.remove("cells");
    }
    plan
}

fn paths(campaign: &Campaign) -> Vec<PathSummary> {
    let one = |(index, path): (usize, &hopbench_model::Path)| PathSummary {
        name: path.name.clone(),
        from: path.from.to_string(),
        to: path.to.to_string(),
        via: path.via.to_string(),
        mesh: path.mesh,
        variant: path.variant.as_ref().map(|variant| variant.name.clone()),
        proxies: path.variant.as_ref().map(hopbench_model::Variant::summary),
        way: path.way(),
        clients: path.clients,
        backends: path.backends,
        link_bits_per_s: campaign.links[index].bits_per_s,
        link_mtu_bytes: campaign.links[index].mtu_bytes,
        tunnel_bytes: campaign.links[index].tunnel_bytes,
        proof: campaign.proofs[index].summary(),
    };
    campaign.run.plan.paths.iter().enumerate().map(one).collect()
}

fn workload(campaign: &Campaign, workload: &Workload, baseline: Option<usize>) -> WorkloadSummary {
    let plan = &campaign.run.plan;
    let mut cells = Vec::new();
    for point in &workload.points {
        let compared = baseline.and_then(|path| Some((path, campaign.cells.get(&(path, *point))?)));
        for path in 0..plan.paths.len() {
            if let Some(kept) = campaign.cells.get(&(path, *point)) {
                let other = compared.filter(|_| baseline != Some(path));
                cells.push(cell(campaign, workload, (path, *point), kept, other));
            }
        }
    }
    let mut out = WorkloadSummary {
        name: workload.name.clone(),
        kind: plan.points[workload.points[0]].job.workload.clone(),
        setting: setting(campaign, workload),
        parameters: plan.points[workload.points[0]].point.keys().cloned().collect(),
        figures: figures(workload, &cells),
        headline: String::new(),
        reference: String::new(),
        findings: Vec::new(),
        distributions: distributions(campaign, workload),
        cells,
    };
    out.reference = headline::reference(&out, plan.baseline.as_deref());
    out.findings = headline::findings(&out);
    out.headline = headline::of(&out, plan.rounds);
    out
}

/// The columns that at least one cell has.
fn figures(workload: &Workload, cells: &[CellSummary]) -> Vec<FigureSummary> {
    let columns = workload.kind.figures.iter().enumerate();
    let used = columns.filter(|(_, figure)| cells.iter().any(|cell| cell.figure(figure.name).is_some()));
    used.map(|(index, figure)| FigureSummary {
        name: figure.name,
        label: figure.label,
        plotted: index < workload.kind.plots,
        cpu: figure.is_part_of_cpu(),
    })
    .collect()
}

fn cell(
    campaign: &Campaign,
    workload: &Workload,
    (path, at): (usize, usize),
    kept: &Cell,
    baseline: Option<(usize, &Cell)>,
) -> CellSummary {
    let plan = &campaign.run.plan;
    let mut limited_by = kept.limits.clone();
    let against = baseline.map(|(path, cell)| Side { path: &plan.paths[path], cell });
    let here = Side { path: &plan.paths[path], cell: kept };
    limited_by.sort_by(|a, b| b.trials.cmp(&a.trials).then_with(|| a.limit.cmp(&b.limit)));
    CellSummary {
        path: plan.paths[path].name.clone(),
        point: plan.points[at].point.clone(),
        path_index: path,
        point_label: point_label(&plan.points[at].point),
        rounds: kept.rounds.len(),
        figures: workload
            .kind
            .figures
            .iter()
            .enumerate()
            .filter_map(|(index, figure)| estimate(figure, index, here, against))
            .collect(),
        nodes: Node::summary(kept),
        limited_by,
        warnings: kept.warnings,
        unpaired_rounds: baseline.map_or(0, |(_, baseline)| kept.apart(baseline)),
        errors: kept.errors.clone(),
        bypasses_proxy: kept.bypasses_proxy,
        generator_limited: kept.generator_limited,
    }
}

/// What the run says of itself, and what its sessions mean for comparisons.
fn notes<'a>(campaign: &Campaign, cells: impl Iterator<Item = &'a CellSummary>) -> Vec<String> {
    let mut out = campaign.run.notes.clone();
    let apart: Vec<usize> = cells.map(|cell| cell.unpaired_rounds).filter(|rounds| *rounds > 0).collect();
    if !apart.is_empty() {
        out.push(format!(
            "the run was resumed: {} in {} cannot be compared, because the baseline was measured in another session",
            counted(apart.iter().sum::<usize>() as u64, "round", "rounds"),
            counted(apart.len() as u64, "cell", "cells"),
        ));
    }
    out.extend(unequal(campaign));
    out.extend(campaign.warnings.machine());
    out
}

/// What comparisons with a path of another number of clients compare: each client makes the whole load of a workload.
fn unequal(campaign: &Campaign) -> Option<String> {
    let plan = &campaign.run.plan;
    let baseline = plan.paths.iter().find(|path| Some(&path.name) == plan.baseline.as_ref())?;
    let other = plan.paths.iter().filter(|path| path.clients != baseline.clients);
    let named: Vec<_> = other.map(|path| format!("{} ({})", path.name, path.clients)).collect();
    let more = named.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "each client makes the whole load of a workload: ratios of {}{more} to {} ({}) compare the loads of \
             different numbers of clients",
            named[..named.len().min(MOST_NAMED)].join(", "),
            baseline.name,
            counted(u64::from(baseline.clients), "client", "clients"),
        )
    })
}

fn distributions(campaign: &Campaign, workload: &Workload) -> Vec<DistributionSummary> {
    let Some(latency) = workload.kind.distribution else {
        return Vec::new();
    };
    let plan = &campaign.run.plan;
    let mut out = Vec::new();
    for at in &workload.points {
        for (index, path) in plan.paths.iter().enumerate() {
            let curve = campaign.distributions.curve((index, *at));
            if !curve.is_empty() {
                let point = point_label(&plan.points[*at].point);
                out.push(DistributionSummary { path: path.name.clone(), point, latency, curve });
            }
        }
    }
    out
}

/// What is said after a load that each of several clients makes, and how many of them there are; nothing of either where
/// every path has one.
fn clients(campaign: &Campaign, workload: &Workload) -> (&'static str, Option<String>) {
    let paths = &campaign.run.plan.paths;
    let on = |path: &usize| workload.points.iter().any(|point| campaign.cells.contains_key(&(*path, *point)));
    let counts: BTreeSet<u32> = (0..paths.len()).filter(on).map(|path| paths[path].clients).collect();
    match (counts.first(), counts.last()) {
        (Some(least), Some(most)) if *most > 1 => {
            let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
            (" per client", Some(format!("x {range} clients")))
        }
        _ => ("", None),
    }
}

const MILLISECOND: u64 = 1_000_000;

/// What is common to the workload's points, in words.
fn setting(campaign: &Campaign, workload: &Workload) -> String {
    let points = &campaign.run.plan.points;
    let first = &points[workload.points[0]];
    let job = &first.job;
    let mut parts = Vec::new();
    let (each, clients) = clients(campaign, workload);
    if !first.point.contains_key("rate") {
        parts.extend(match job.schedule {
            // Only an exchange waits for an answer before the next starts.
            Schedule::Closed if !is_of_exchanges(&job.workload) => None,
            Schedule::Closed => Some("closed loop".to_owned()),
            Schedule::Rate(rate) => Some(format!("open loop at {}/s{each}", crate::number::plain(rate))),
            Schedule::Poisson(rate) => Some(format!("Poisson arrivals at {}/s{each}", crate::number::plain(rate))),
        });
    }
    // Of a ping they are the echoes that can be under way: a matter of its inside.
    if !first.point.contains_key("connections") && job.workload != "ping" {
        parts.push(format!("{}{each}", counted(u64::from(job.connections), "connection", "connections")));
    }
    parts.extend(clients);
    let params = serde_json::json!({ "params": job.params });
    let varies = |text: &String| first.point.keys().any(|key| text.starts_with(&key.replace('_', "-")));
    parts.extend(crate::job::Job(&params).params().into_iter().filter(|text| !varies(text)));
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
    parts.push(format!("window {} after {} warm-up", Span(window), Span(job.timing.warmup_ns)));
    parts.join(", ")
}
