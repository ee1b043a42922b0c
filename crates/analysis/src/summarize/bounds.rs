//! The bounds of subjects: whether their paths are worse than those of the first subject by more.

use hopbench_model::{Plan, Subject, point_label};

use crate::compare::{Bound, Median, Row, named_figure, worse_by_at_most};
use crate::figures::{Kind, kinds};
use crate::run_data::RunData;
use crate::summary::{
    BoundSummary, Case, CaseState, CellSummary, Estimate, Outcome, WorkloadSummary,
};
use crate::text::cell_name::cell_text;

/// The outcome of the bounds of a subject.
pub(super) fn of_subject(
    data: &RunData,
    workloads: &[WorkloadSummary],
    subject: &Subject,
) -> Vec<BoundSummary> {
    let bounds = Bound::of_subject(subject);
    bounds.iter().map(|bound| of(data, workloads, subject, bound)).collect()
}

/// The first bound of a plan that is on no figure of its workloads, with those that there are.
pub fn unknown(plan: &Plan) -> Option<(String, Vec<&'static str>)> {
    let in_rounds = plan.points.iter().filter(|point| point.search.is_none());
    let kinds: Vec<&'static Kind> = in_rounds.map(|point| kinds::of_job(&point.job)).collect();
    let figures = |kind: &&'static Kind| kind.figures.iter().filter(|figure| figure.is_compared());
    let is_there = |bound: &Bound| {
        kinds.iter().any(|kind| {
            let name = named_figure(&bound.metric, kind).0;
            figures(kind).any(|figure| figure.name == name)
        })
    };
    let mut bounds = plan.subjects.iter().flat_map(Bound::of_subject);
    let wrong = bounds.find(|bound| !is_there(bound))?;
    let mut known: Vec<&'static str> =
        kinds.iter().flat_map(figures).map(|figure| figure.name).collect();
    known.sort_unstable();
    known.dedup();
    Some((wrong.metric, known))
}

fn of(
    data: &RunData,
    workloads: &[WorkloadSummary],
    subject: &Subject,
    bound: &Bound,
) -> BoundSummary {
    let plan = &data.run.plan;
    let (mut rows, mut gone) = (Vec::new(), Vec::new());
    for workload in workloads {
        let Some(kept) = data.workloads.iter().find(|kept| kept.name == workload.name) else {
            continue;
        };
        let (name, worse_higher) = named_figure(&bound.metric, kept.kind);
        let of_subject = |path: usize| plan.paths[path].subject.as_ref() == Some(&subject.name);
        // Those of the plan: what cannot be measured is in no summary, and keeps no bound.
        for (at, point) in kept.points.iter().map(|at| (*at, &plan.points[*at])) {
            let label = point_label(&point.point);
            let found = |path: usize| {
                let same =
                    |cell: &&CellSummary| cell.path_index == path && cell.point_label == label;
                workload.cells.iter().find(same)
            };
            let planned = plan.cells.iter().filter(|cell| cell.point == at);
            for path in planned.map(|cell| cell.path).filter(|path| of_subject(*path)) {
                let base = data.references.of(path).and_then(found);
                let there = base.and_then(|base| Some((base, base.figure(&name)?)));
                let Some((base, there)) = there else { continue };
                let cell = found(path);
                match cell.and_then(|cell| Some((cell, cell.figure(&name)?))) {
                    Some(here) => {
                        rows.push(row(&workload.name, here, (base, there), worse_higher));
                    }
                    None => {
                        let path = &plan.paths[path].name;
                        let cell = cell_text(path, &workload.name, &point.point);
                        gone.push((cell, name.clone()));
                    }
                }
            }
        }
    }
    let mut out = BoundSummary::of(bound, plan.minimum_effect, rows.iter());
    let case = |(cell, metric)| Case {
        cell,
        metric,
        state: CaseState::Broken,
        text: "no usable trial".to_owned(),
    };
    out.cases.extend(gone.into_iter().map(case));
    out
}

/// A figure of a cell beside that of the first subject.
fn row(
    workload: &str,
    (cell, here): (&CellSummary, &Estimate),
    (base, there): (&CellSummary, &Estimate),
    worse_higher: bool,
) -> Row {
    let ratio = here.ratio.as_ref();
    let spread = ratio.and_then(|ratio| ratio.spread);
    let median = spread.map(|spread| spread.median);
    let verdict = ratio.and_then(|ratio| ratio.verdict.as_ref());
    let (low, high) = spread.and_then(|spread| spread.low.zip(spread.high)).unzip();
    let together = verdict.and_then(|verdict| verdict.together);
    let side = |of: &Estimate| Some(Median { median: of.spread.median, values: of.spread.rounds });
    let mut row = Row {
        path: cell.path.clone(),
        workload: workload.to_owned(),
        point: cell.point.clone(),
        metric: here.name.to_owned(),
        label: String::new(),
        search: None,
        baseline: side(there),
        candidate: side(here),
        ratio: median,
        low,
        high,
        p: ratio.and_then(|ratio| ratio.p),
        q: ratio.and_then(|ratio| ratio.q),
        baseline_saturated_per_s: base.saturated_per_s,
        candidate_saturated_per_s: cell.saturated_per_s,
        noise_floor: ratio.and_then(|ratio| ratio.noise_floor),
        worse_by_at_most: worse_by_at_most((low, high), together, worse_higher),
        by_run: false,
        outcome: verdict.map_or(Outcome::NoRatio, |verdict| verdict.outcome),
        is_worse: median.is_some_and(|ratio| ratio != 1.0 && (ratio > 1.0) == worse_higher),
        text: verdict.map_or_else(|| here.note.clone(), |verdict| verdict.text.clone()),
        note: verdict.map_or_else(String::new, |verdict| verdict.note.clone()),
        word: "",
    };
    row.is_worse |= row.is_newly_saturated();
    row
}
