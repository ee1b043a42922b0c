//! The bounds of subjects: whether their paths are worse than those of the first subject by more.

use hopbench_model::{Plan, Subject};

use crate::compare::{Bound, Median, Row, named_figure};
use crate::figures::{Kind, kinds};
use crate::run_data::RunData;
use crate::summary::{
    BoundSummary, CellSummary, Estimate, Outcome, SubjectSummary, WorkloadSummary,
};

/// The subjects of a run, with what became of their bounds.
pub(super) fn subjects(data: &RunData, workloads: &[WorkloadSummary]) -> Vec<SubjectSummary> {
    let one = |subject: &Subject| SubjectSummary {
        name: subject.name.clone(),
        changes: subject.changes(),
        bounds: all(subject).iter().map(|bound| of(data, workloads, subject, bound)).collect(),
    };
    data.run.plan.subjects.iter().map(one).collect()
}

fn all(subject: &Subject) -> Vec<Bound> {
    let bound = |(metric, share): (&String, &f64)| Bound { metric: metric.clone(), share: *share };
    subject.bounds.iter().map(bound).collect()
}

/// The first bound of a plan that is on no figure of its workloads, with those that there are.
pub fn unknown(plan: &Plan) -> Option<(String, Vec<&'static str>)> {
    let kinds: Vec<&'static Kind> =
        plan.points.iter().map(|point| kinds::of_job(&point.job)).collect();
    let figures = |kind: &&'static Kind| kind.figures.iter().filter(|figure| figure.is_compared());
    let bounds = plan.subjects.iter().flat_map(all);
    let is_there = |bound: &Bound| {
        kinds.iter().any(|kind| {
            let name = named_figure(&bound.metric, kind).0;
            figures(kind).any(|figure| figure.name == name)
        })
    };
    let wrong = bounds.into_iter().find(|bound| !is_there(bound))?;
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
        for cell in &workload.cells {
            let path = &plan.paths[cell.path_index];
            let reference = data.references.of(cell.path_index);
            let base = reference.and_then(|of| {
                let same = |other: &&CellSummary| {
                    other.path_index == of && other.point_label == cell.point_label
                };
                workload.cells.iter().find(same)
            });
            let Some(base) = base.filter(|_| path.subject.as_ref() == Some(&subject.name)) else {
                continue;
            };
            match (cell.figure(&name), base.figure(&name)) {
                (Some(here), Some(there)) => {
                    rows.push(row(&workload.name, (cell, here), (base, there), worse_higher));
                }
                (None, Some(_)) => gone.push((cell, name.clone())),
                _ => {}
            }
        }
    }
    let mut out = BoundSummary::of(bound, plan.minimum_effect, rows.iter());
    for (cell, name) in gone {
        out.add_gone(cell_name(cell), name, "it left no figure");
    }
    out
}

fn cell_name(cell: &CellSummary) -> String {
    [cell.path.as_str(), &cell.point_label].join(" ").trim_end().to_owned()
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
    let worse = |(low, high): (f64, f64)| if worse_higher { high - 1.0 } else { 1.0 - low };
    let ends = spread.and_then(|spread| spread.low.zip(spread.high));
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
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        p: ratio.and_then(|ratio| ratio.p),
        q: ratio.and_then(|ratio| ratio.q),
        baseline_saturated_per_s: base.saturated_per_s,
        candidate_saturated_per_s: cell.saturated_per_s,
        noise_floor: ratio.and_then(|ratio| ratio.noise_floor),
        worse_by_at_most: ends.map(|ends| worse(ends).max(0.0)),
        by_run: false,
        outcome: verdict.map_or(Outcome::NoRatio, |verdict| verdict.outcome),
        is_worse: median.is_some_and(|ratio| ratio != 1.0 && (ratio > 1.0) == worse_higher),
        text: verdict.map_or_else(|| here.note.clone(), |verdict| verdict.text.clone()),
        word: "",
    };
    row.is_worse |= row.is_newly_saturated();
    row
}
