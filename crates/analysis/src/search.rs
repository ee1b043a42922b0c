//! The searches of a run, from the records of their trials alone.
//!
//! They give the load that was found on each path, the figures there, the comparison of paths, and
//! the whole trace.
//!
//! - A rate that was searched several times is *higher* or *lower* than the baseline's if a test of
//!   the results says so. A level is if what is known of the two does not overlap.
//! - A table of its own has the paths at loads that were found on other paths.

mod bracket;
mod compare_loads;
mod equal_load;
mod goal_text;
mod judge;
mod known_load;
mod outcome_text;
mod runs;
mod too_high;
mod trials;
mod undecided;

use hopbench_model::{
    EQUAL_LOAD, Point, Record, SearchGoal, SearchOutcome, SearchSpec, point_label,
};

pub(crate) use self::judge::What;
pub(crate) use self::runs::{ENOUGH_RUNS, Runs};

use self::trials::{SearchTrial, of_search};
use crate::figures::{Kind, Percentile, kinds};
use crate::run_data::RunData;
use crate::summary::{SearchSummary, SearchedPath, Spread, undecided_text};
use crate::text::LoadUnit;

/// The searches of a run: points in the scenario's order, of a knee connections before threads.
pub(crate) fn all(data: &RunData) -> Vec<SearchSummary> {
    let points = data.run.plan.points.iter().enumerate();
    let searched = points.filter_map(|(at, point)| Some((at, point, point.search.as_ref()?)));
    let mut out: Vec<SearchSummary> = searched
        .flat_map(|(at, point, spec)| {
            let own: Vec<&Record> =
                data.searches().into_iter().filter(|record| trials::is_of(record, point)).collect();
            parameters(&spec.goal)
                .into_iter()
                .map(move |parameter| one(data, at, (point, spec), parameter, &own))
        })
        .collect();
    let plan = &data.run.plan;
    judge::compare(&mut out, |name| data.reference_of(name), plan.minimum_effect);
    out
}

/// The parameters that a goal varies, in the order of the searches.
fn parameters(goal: &SearchGoal) -> Vec<&'static str> {
    match goal {
        SearchGoal::Knee { threads, .. } if threads.is_empty() => vec!["connections"],
        SearchGoal::Knee { .. } => vec!["connections", "threads"],
        SearchGoal::Slo { .. } | SearchGoal::Cpu { .. } | SearchGoal::Lossless { .. } => {
            vec!["rate"]
        }
    }
}

fn one(
    data: &RunData,
    at: usize,
    (point, spec): (&Point, &SearchSpec),
    parameter: &'static str,
    records: &[&Record],
) -> SearchSummary {
    let plan = &data.run.plan;
    let first = records
        .iter()
        .find(|record| record.search.as_ref().is_some_and(|step| step.parameter == parameter));
    let kind = first.and_then(|record| kinds::of_record(record)).unwrap_or_else(|| {
        let has_rate = parameter == "rate" || point.job.schedule.per_s().is_some();
        kinds::of(&point.job.workload, kinds::intent(has_rate, point.job.is_offered()))
    });
    let goal = &spec.goal;
    let unit = LoadUnit::of(parameter, &point.job);
    let skipped = |path: usize| {
        let (name, label) = (&plan.paths[path].name, point_label(&point.point));
        data.run
            .skipped
            .iter()
            .any(|s| s.path == *name && s.workload == point.workload && s.point == label)
    };
    let planned = |path: &usize| {
        plan.cells.iter().any(|cell| cell.path == *path && cell.point == at) && !skipped(*path)
    };
    let searched = |path: usize| {
        let trials = of_search(records, &plan.paths[path].name, parameter);
        (planned(&path) || !trials.is_empty())
            .then(|| on_path(data, path, (point, spec), unit, kind, &trials))
    };
    let paths: Vec<SearchedPath> = (0..plan.paths.len()).filter_map(searched).collect();
    let figure = |record: &&Record| Some(record.search.as_ref()?.figure.clone());
    let equal_load = equal_load::all(data, point, unit, kind, records);
    let steps = records.iter().filter(|record| {
        record
            .search
            .as_ref()
            .is_some_and(|step| step.parameter == parameter && step.goal != EQUAL_LOAD)
    });
    SearchSummary {
        workload: point.workload.clone(),
        kind: point.job.workload.clone(),
        point: point.point.clone(),
        goal: goal.name(),
        parameter,
        asked: goal_text::text(spec, unit),
        figure: steps.filter_map(figure).next().unwrap_or_default(),
        limit: goal.limit(),
        datagram_bits: unit.datagram_bits,
        shown: shown(kind, false),
        detailed: shown(kind, true),
        rate_unit: None,
        no_equal_load: equal_load::missing(spec, &paths, records),
        equal_load,
        paths,
    }
}

/// The figures of a kind that tables of searches have room for. `in_detail`: with the mean of its
/// latency and all that it has of the distribution.
fn shown(kind: &Kind, in_detail: bool) -> Vec<&'static str> {
    let columns = || kind.figures.iter().filter(|figure| figure.is_column());
    let names = || columns().map(|figure| figure.name);
    let throughput = names().find(|name| name.ends_with("_per_s"));
    let mean = kinds::mean(kind).filter(|_| in_detail).map(|figure| figure.name);
    let far = kind.latency(Percentile::P99).map(|index| kind.figures[index].name);
    let near = [Percentile::P50, Percentile::P90].map(|percentile| kind.latency(percentile));
    let near = near.into_iter().flatten().map(|index| kind.figures[index].name);
    let latency = mean.into_iter().chain(near.filter(|_| in_detail)).chain(far);
    let rest = names().filter(|name| {
        *name == "lost_ratio" || name.starts_with("cpu_per_") || *name == "proxy_cores"
    });
    throughput.into_iter().chain(latency).chain(rest).collect()
}

fn on_path(
    data: &RunData,
    path_index: usize,
    (point, spec): (&Point, &SearchSpec),
    unit: LoadUnit<'_>,
    kind: &Kind,
    all: &[SearchTrial<'_>],
) -> SearchedPath {
    let parameter = unit.parameter;
    let path = &data.run.plan.paths[path_index];
    // Those of a scan are in the trace alone.
    let trials: &[SearchTrial<'_>] =
        &all.iter().filter(|trial| !trial.is_scan()).cloned().collect::<Vec<_>>();
    let outcome = trials.iter().rev().find_map(|trial| trial.step.outcome);
    let at = match outcome {
        Some(SearchOutcome::Found { load, .. }) => Some(load),
        // The highest that there is stands for it.
        Some(SearchOutcome::AboveHighest) => {
            trials.iter().map(|trial| trial.step.load).reduce(f64::max)
        }
        _ => None,
    };
    let there =
        trials::counted(trials.iter().filter(|trial| at.is_some_and(|load| trial.is_at(load))));
    let records: Vec<&Record> = there.iter().map(|trial| trial.record).collect();
    let bracket = outcome.map(|outcome| bracket::of(outcome, spec, parameter, trials));
    let knee = matches!(spec.goal, SearchGoal::Knee { .. });
    let ended = outcome.zip(bracket);
    let undecided = if ended.is_some() { undecided::of(&spec.goal, trials) } else { Vec::new() };
    let above = bracket.map(|bracket| bracket.high).filter(|high| !knee && high.is_finite());
    let seen = above.map(|load| too_high::at(trials, spec, load)).unwrap_or_default();
    let text = outcome_text::text(
        ended,
        &spec.goal,
        unit,
        all.len(),
        &undecided_text(&undecided, parameter),
        &seen,
    );
    let too_high = at
        .filter(|_| !knee)
        .map(|load| too_high::beyond(trials, spec, unit, load))
        .unwrap_or_default();
    SearchedPath {
        path: path.name.clone(),
        path_index,
        outcome,
        at,
        low: bracket.map(|bracket| bracket.low),
        high: bracket.map(|bracket| bracket.high).filter(|high| high.is_finite()),
        bracket,
        results: trials.iter().filter_map(|trial| trial.step.found).collect(),
        resolution: bracket::resolution(&spec.goal),
        text,
        value: Spread::of(there.iter().filter_map(|trial| trial.step.value)),
        figures: trials::figures(kind, &records, path.proxies_carry(&point.job)),
        components: trials::components(&records),
        comparison: None,
        value_comparison: None,
        undecided,
        too_high,
        trials: all.len(),
        trials_s: all.iter().map(SearchTrial::length_s).sum(),
        generator_limited: bracket
            .is_some_and(|bracket| trials::is_generator_limited(trials, bracket, at)),
        trace: all.iter().map(|trial| too_high::trace(trial, spec)).collect(),
    }
}
