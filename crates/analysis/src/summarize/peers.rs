//! The figures of tools of others in relation to ours.

use hopbench_stats::Question;

use super::open::{Open, Place};
use crate::cells::Cell;
use crate::cells::against::evidence_of;
use crate::figures::{Better, Figure, Kind};
use crate::run_data::{RunData, Workload};
use crate::summary::{PeerComparison, PeerSummary, RatioSummary, Spread, Verdict, WorkloadSummary};

/// Enters the tools of the workloads that have one, and asks how their figures compare with ours.
/// `measured`: the workloads that `out` is of, in its order.
pub(super) fn ask(
    data: &RunData,
    measured: &[&Workload],
    out: &mut [WorkloadSummary],
    open: &mut Open,
) {
    let points = &data.run.plan.points;
    for (index, (theirs, summary)) in measured.iter().zip(out).enumerate() {
        let Some(peer) = &points[theirs.points[0]].peer else { continue };
        let mut comparisons = Vec::new();
        let ours = data.workloads.iter().find(|workload| workload.name == peer.of);
        for (their_point, our_point) in ours.iter().flat_map(|ours| shared(data, theirs, ours)) {
            let paths = data.run.plan.paths.iter().enumerate();
            for (path, at) in paths.filter(|(path, _)| !data.references.is_twin(*path)) {
                let cell = |point: usize| data.cells.get(&(path, point));
                let Some((their_cell, our_cell)) = cell(their_point).zip(cell(our_point)) else {
                    continue;
                };
                let kinds = (theirs.kind, ours.map_or(theirs.kind, |ours| ours.kind));
                let Some((figure, ratio, question)) = compared(data, kinds, their_cell, our_cell)
                else {
                    continue;
                };
                if let Some(question) = question {
                    let (comparison, better) = (comparisons.len(), figure.better);
                    open.questions
                        .ask(Place::Peer { workload: index, comparison, better }, question);
                }
                comparisons.push(PeerComparison {
                    path: at.name.clone(),
                    point: hopbench_model::point_label(&points[their_point].point),
                    figure: figure.name,
                    label: figure.label,
                    ratio,
                    note: String::new(),
                });
            }
        }
        let said = summary.cells.iter().map(|cell| &cell.explanation);
        summary.peer = Some(PeerSummary {
            tool: peer.tool.clone(),
            of: peer.of.clone(),
            differs: said.max_by_key(|list| list.len()).cloned().unwrap_or_default(),
            comparisons,
        });
    }
}

/// The points that a tool measured, each with ours of the same values.
fn shared(data: &RunData, theirs: &Workload, ours: &Workload) -> Vec<(usize, usize)> {
    let values = |point: &usize| &data.run.plan.points[*point].point;
    let pair = |their: &usize| {
        let our = ours.points.iter().find(|our| values(our) == values(their))?;
        Some((*their, *our))
    };
    theirs.points.iter().filter_map(pair).collect()
}

/// The first figure of the tool that ours has, too, with their ratio, and the question that waits
/// for its verdict.
fn compared(
    data: &RunData,
    (theirs, ours): (&'static Kind, &'static Kind),
    their_cell: &Cell,
    our_cell: &Cell,
) -> Option<(&'static Figure, RatioSummary, Option<Question>)> {
    let judged =
        |(_, figure): &(usize, &Figure)| figure.is_compared() && figure.better != Better::Neither;
    theirs.figures.iter().enumerate().filter(judged).find_map(|(index, figure)| {
        let our_index = ours.figures.iter().position(|our| our.name == figure.name)?;
        let (their, our) = (index, our_index);
        let pairs =
            their_cell.pairs_of(our_cell, |round| round.figures[their], |round| round.figures[our]);
        let evidence = evidence_of(figure, &pairs.values).ok()?;
        let spread = Spread::with(evidence.ratio, evidence.interval, evidence.rounds);
        let is_late = our_cell.is_generator_limited();
        let ratio = RatioSummary {
            spread: Some(spread),
            p: None,
            q: None,
            test: None,
            noise_floor: None,
            verdict: is_late.then(Verdict::generator),
        };
        let question = (!is_late).then(|| Question {
            evidence,
            minimum_effect: data.run.plan.minimum_effect,
            noise_floor: None,
            resolution: figure.ratio_resolution(),
        });
        Some((figure, ratio, question))
    })
}
