//! The summary of a run, from what was kept of its records.

mod bounds;
mod drift;
mod facts;
mod headline;
mod open;
mod peers;
mod profiles;
mod settled;
mod sides;
mod subjects;

use std::collections::BTreeMap;

use hopbench_model::{RunFile, SECOND, point_label};
use serde_json::Value;

use crate::cells::against::{OpenEstimate, asked};
use crate::cells::{Cell, Distribution, components, nodes};
use crate::figures::Figure;
use crate::mesh;
use crate::run_data::{RunData, Workload};
use crate::search;
use crate::stop::Rule;
use crate::summary::{
    CellSummary, DistributionSummary, Estimate, FigureSummary, PathSummary, PeerComparison,
    RatioSummary, Run, SUMMARY_SCHEMA, SkippedSummary, StopSummary, Summary, WorkloadSummary,
};
use crate::text::seconds_between;
pub use bounds::unknown as unknown_bound;
use open::{Open, Place};
pub use profiles::{ProfileSide, difference};
pub use settled::ComparisonState;
use sides::Sides;

/// The name of the testbed that the trials of other tools do not have.
const IMPORTED: &str = "imported";

impl RunData {
    /// The summary of the records so far; what was kept of the records is let go.
    pub fn into_summary(mut self) -> Summary {
        self.pool();
        summary(&self)
    }
}

fn summary(data: &RunData) -> Summary {
    let run = &data.run;
    let plan = &run.plan;
    let (workloads, judged) = judged(data);
    let cells = || workloads.iter().flat_map(|workload| &workload.cells);
    let names: Vec<_> = data.workloads.iter().map(|workload| workload.name.clone()).collect();
    let path_names: Vec<_> = plan.paths.iter().map(|path| path.name.clone()).collect();
    let mut comparisons: Vec<&RatioSummary> = Vec::new();
    for workload in &workloads {
        comparisons.extend(workload.cells.iter().filter_map(|cell| workload.comparison(cell)));
    }
    let spared = |rule: &Rule| data.cells.keys().map(|cell| u64::from(rule.spared(*cell))).sum();
    let spared = data.rule.as_ref().map_or(run.spared_trials, spared);
    let imported = plan.is_imported();
    let planned = data.cells.len() as u64 * u64::from(plan.rounds);
    // Cells of files have as many rounds as there were files: none is missing.
    let used_trials: u64 = cells().map(|cell| cell.rounds as u64).sum();
    Summary {
        schema: SUMMARY_SCHEMA,
        run: Run {
            run_id: run.run_id.clone(),
            name: plan.name.clone(),
            status: run.status,
            started_at: run.started_at.clone(),
            ended_at: run.ended_at.clone(),
            took_s: took_s(run),
            testbed: if imported { IMPORTED } else { plan.testbed.name() },
            imported,
            rounds: plan.rounds,
            stop: data.rule.as_ref().map(Rule::text),
            baseline: plan.baseline.clone(),
            twin: plan.twin.clone(),
            subjects: subjects::summaries(data, &workloads),
            minimum_effect: plan.minimum_effect,
            seed: plan.seed,
            planned_trials: if imported { used_trials } else { planned.saturating_sub(spared) },
            used_trials,
            disturbed_trials: cells().map(|cell| cell.disturbed_rounds as u64).sum(),
            spared_trials: spared,
            comparisons: comparisons.iter().filter(|ratio| ratio.is_judged()).count() as u64,
            judged,
            notes: facts::notes(data, &workloads),
        },
        paths: paths(data),
        waterfall: mesh::waterfalls(data),
        proxy_curves: mesh::curves(data),
        searches: search::all(data),
        profiles: data.profiles.as_ref().map(|profiles| {
            let told = |cell: &_| profiles::told(&workloads, cell);
            profiles::summary(profiles, |name| data.reference_of(name), told)
        }),
        skipped: skipped(data),
        failures: data.failures.iter().map(|(trial, unused)| trial.summary(unused)).collect(),
        warnings: data.warnings.summary(&names, &path_names),
        environment: run.environment.clone(),
        testbed: run.testbed.clone(),
        scenario: run.scenario.clone(),
        resolved: resolved(data),
        workloads,
    }
}

/// The workloads with all comparisons judged together, and how many those are.
fn judged(data: &RunData) -> (Vec<WorkloadSummary>, u64) {
    let measured = data.workloads.iter().filter(|workload| !workload.points.is_empty());
    let measured: Vec<&Workload> = measured.collect();
    let mut open = Open::default();
    let mut out: Vec<WorkloadSummary> = Vec::new();
    for kept in &measured {
        open.workload = out.len();
        out.push(workload(data, kept, &mut open));
    }
    peers::ask(data, &measured, &mut out, &mut open);
    let spent_s = spent_s(&data.run);
    let mut judged = 0;
    for (place, answer) in open.questions.answers() {
        judged += u64::from(answer.q.is_some());
        let (better, compared) = match place {
            Place::Figure { workload, cell, figure, better } => {
                let Estimate { ratio, note, .. } = &mut out[workload].cells[cell].figures[figure];
                (better, ratio.as_mut().map(|ratio| (ratio, note)))
            }
            Place::Peer { workload, comparison, better } => {
                let peer = out[workload].peer.as_mut();
                let one = peer.map(|peer| &mut peer.comparisons[comparison]);
                (better, one.map(|PeerComparison { ratio, note, .. }| (ratio, note)))
            }
        };
        if let Some((ratio, note)) = compared {
            // A cell that rested, and a batch of rounds, take longer for one value.
            let round_s = spent_s.map(|spent| spent / answer.rounds.max(1) as f64);
            ratio.judged(better, &answer, round_s);
            let verdict = ratio.verdict.iter().map(|verdict| verdict.note.as_str());
            let notes = [note.as_str()].into_iter().chain(verdict).filter(|text| !text.is_empty());
            *note = notes.collect::<Vec<_>>().join("; ");
        }
    }
    for workload in &mut out {
        workload.reference = headline::reference(workload, &data.references);
        workload.findings = headline::findings(workload);
        workload.headline = headline::of(workload, data.run.plan.rounds);
    }
    (out, judged)
}

/// Time that the rounds of a run took, s; `None` where nobody counted it: while it goes on, and
/// where sessions lie apart.
fn spent_s(run: &RunFile) -> Option<f64> {
    if run.spent_ns > 0 {
        return Some(run.spent_ns as f64 / SECOND as f64);
    }
    let seconds = seconds_between(&run.started_at, run.ended_at.as_deref()?)?;
    // Under a stop rule cells have different numbers of rounds.
    (run.session <= 1 && run.plan.stop.is_none()).then_some(seconds as f64)
}

/// How long a run took, s; `None` while it goes on. Sessions lie apart: of several, this is the
/// time of the rounds, where a budget counts it and nothing but rounds was measured.
fn took_s(run: &RunFile) -> Option<u64> {
    let whole = seconds_between(&run.started_at, run.ended_at.as_deref()?)?;
    let has_searches = run.plan.points.iter().any(|point| point.search.is_some());
    match run.session {
        0 | 1 => Some(whole),
        _ if has_searches || run.spent_ns == 0 => None,
        _ => Some((run.spent_ns + SECOND / 2) / SECOND),
    }
}

/// Cells that cannot be measured here; one line a path and reason, as a path that cannot be built
/// lacks all its cells.
fn skipped(data: &RunData) -> Vec<SkippedSummary> {
    let mut counted = BTreeMap::<(&String, &String), u64>::new();
    for skipped in &data.run.skipped {
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
fn resolved(data: &RunData) -> Value {
    let mut plan = serde_json::to_value(&data.run.plan).unwrap_or_default();
    if let Some(plan) = plan.as_object_mut() {
        plan.remove("cells");
    }
    plan
}

fn paths(data: &RunData) -> Vec<PathSummary> {
    // Other tools do not say where a path leads.
    let stated = |text: String| if data.run.plan.is_imported() { String::new() } else { text };
    let one = |(index, path): (usize, &hopbench_model::Path)| PathSummary {
        name: path.name.clone(),
        from: stated(path.from.to_string()),
        to: stated(path.to.to_string()),
        via: stated(path.entrance()),
        family: path.family,
        mesh: path.mesh,
        variant: path.variant.as_ref().map(|variant| variant.name.clone()),
        proxies: path.variant.as_ref().map(hopbench_model::Variant::summary),
        way: stated(path.way()),
        subject: path.subject.clone(),
        compared_with: path.reference.as_ref().map(|reference| reference.path.clone()),
        is_reference: data.references.is_reference(index),
        is_twin: data.references.is_twin(index),
        clients: path.clients,
        backends: path.backends,
        link_bits_per_s: data.links[index].bits_per_s,
        link_mtu_bytes: data.links[index].mtu_bytes,
        tunnel_bytes: data.links[index].tunnel_bytes,
        proof: data.proofs[index].summary(),
        partly_proved: data.proofs[index].partly(),
    };
    data.run.plan.paths.iter().enumerate().map(one).collect()
}

/// A workload without what its comparisons say: they are `open` yet.
fn workload(data: &RunData, workload: &Workload, open: &mut Open) -> WorkloadSummary {
    let plan = &data.run.plan;
    let mut cells = Vec::new();
    for point in &workload.points {
        let sides = Sides::of(data, *point);
        let rule = data.rule.as_ref();
        for path in 0..plan.paths.len() {
            let Some(here) = sides.cell(path) else { continue };
            let against = sides.against(path);
            let looked_at = rule.and_then(|rule| rule.figure((path, *point), workload.kind));
            let mut figures = Vec::new();
            for (index, figure) in workload.kind.figures.iter().enumerate() {
                let stop = rule.filter(|_| looked_at == Some(index)).map(Rule::stop);
                let Some(OpenEstimate { estimate, question }) =
                    asked(figure, index, here, against, stop)
                else {
                    continue;
                };
                if let Some((better, question)) = question {
                    let place = Place::Figure {
                        workload: open.workload,
                        cell: cells.len(),
                        figure: figures.len(),
                        better,
                    };
                    open.questions.ask(place, question);
                }
                figures.push(estimate);
            }
            let stop = rule.and_then(|rule| rule.ended((path, *point), workload.kind));
            cells.push(cell(
                data,
                (path, *point),
                here.cell,
                sides.base(path).map(|base| base.cell),
                figures,
                stop,
            ));
        }
    }
    WorkloadSummary {
        name: workload.name.clone(),
        kind: plan.points[workload.points[0]].job.workload.clone(),
        traits: plan.points[workload.points[0]].job.kind(),
        setting: facts::setting(data, workload),
        parameters: plan.points[workload.points[0]].point.keys().cloned().collect(),
        figures: figures(workload, &cells, Figure::is_column),
        bytes: figures(workload, &cells, Figure::is_of_bytes),
        headline: String::new(),
        reference: String::new(),
        findings: Vec::new(),
        rate_unit: None,
        peer: None,
        distributions: distributions(data, workload),
        cells,
    }
}

/// The figures of a table that at least one cell has.
fn figures(
    workload: &Workload,
    cells: &[CellSummary],
    is_column: fn(&Figure) -> bool,
) -> Vec<FigureSummary> {
    let columns = workload.kind.figures.iter().enumerate().filter(|(_, figure)| is_column(figure));
    let used =
        columns.filter(|(_, figure)| cells.iter().any(|cell| cell.figure(figure.name).is_some()));
    used.map(|(index, figure)| FigureSummary {
        name: figure.name,
        label: figure.label,
        better: figure.better,
        plotted: index < workload.kind.plots,
        cpu: figure.is_part_of_cpu(),
        is_latency: figure.is_latency(),
    })
    .collect()
}

fn cell(
    data: &RunData,
    (path, at): (usize, usize),
    kept: &Cell,
    baseline: Option<&Cell>,
    figures: Vec<Estimate>,
    stop: Option<StopSummary>,
) -> CellSummary {
    let plan = &data.run.plan;
    let mut limited_by = kept.limits.clone();
    limited_by.sort_by(|a, b| b.trials.cmp(&a.trials).then_with(|| a.limit.cmp(&b.limit)));
    let rounds = kept.counted().count();
    CellSummary {
        path: plan.paths[path].name.clone(),
        point: plan.points[at].point.clone(),
        path_index: path,
        point_label: point_label(&plan.points[at].point),
        rounds,
        disturbed_rounds: kept.rounds.len() - rounds,
        stop,
        is_reference: data.references.is_reference(path),
        is_twin: data.references.is_twin(path),
        figures,
        nodes: nodes::summary(kept),
        components: components::summary(kept),
        metered_nodes: components::metered_nodes(kept, &data.run.testbed),
        limited_by,
        explanation: kept.explanation.clone(),
        warnings: kept.warnings,
        unpaired_rounds: baseline.map_or(0, |baseline| kept.apart(baseline)),
        errors: kept.errors.clone(),
        bypasses_proxy: kept.bypasses_proxy && !kept.rounds.is_empty(),
        was_visited: kept.was_visited,
        generator_limited: kept.is_generator_limited(),
        saturated_per_s: kept.saturated_per_s(),
    }
}

fn distributions(data: &RunData, workload: &Workload) -> Vec<DistributionSummary> {
    let Some(latency) = workload.kind.distribution else {
        return Vec::new();
    };
    let plan = &data.run.plan;
    let mut out = Vec::new();
    for at in &workload.points {
        for (index, path) in plan.paths.iter().enumerate() {
            let Some(cell) = data.cells.get(&(index, *at)) else { continue };
            let rounds: Vec<u32> = cell.counted().map(|round| round.round).collect();
            if let Some(Distribution { curve, pooled }) =
                data.distributions.over((index, *at), &rounds, plan.seed)
            {
                let point = point_label(&plan.points[*at].point);
                out.push(DistributionSummary {
                    path: path.name.clone(),
                    point,
                    latency,
                    curve,
                    pooled,
                });
            }
        }
    }
    out
}
