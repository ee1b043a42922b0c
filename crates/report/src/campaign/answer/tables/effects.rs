//! The table of the cells of rounds: the figures of what others are compared with, and their
//! differences to them.

use std::collections::HashMap;

use hopbench_analysis::{
    Better, CellSummary, FailureSummary, FigureSummary, Outcome, PathSummary, Summary,
    WorkloadSummary,
};

use super::super::text::asked;
use super::cell::{Cell, Value};
use super::table::{Column, Row, Table};

/// Figures of a run with one workload.
const MOST_FIGURES: usize = 3;
/// The rank of a path that has no figure although it was measured: nothing is worse.
const NO_FIGURE: f64 = 1e9;
/// That of a path that did not carry the rate: worse than any figure.
const SATURATED: f64 = 1e8;

/// A column: a figure of a workload at one point.
struct Spot<'a> {
    workload: &'a WorkloadSummary,
    figure: &'a FigureSummary,
    point: &'a str,
    /// The cells of the point, by path.
    cells: HashMap<usize, &'a CellSummary>,
}

/// A row a path; `None` where nothing was measured in rounds. `is_open`: rounds are to come, so
/// what has no verdict yet is not decided, and what was not measured yet will be.
pub(in super::super) fn table(summary: &Summary, is_open: bool) -> Option<Table> {
    let spots = spots(summary);
    let columns: Vec<(Column, Vec<Cell>, Vec<f64>)> =
        spots.iter().map(|spot| column(summary, spot, is_open)).collect();
    let mut rows: Vec<Row> = Vec::new();
    let is_planned = |path: usize| spots.iter().any(|spot| spot.cells.contains_key(&path));
    for (index, path) in
        summary.paths.iter().enumerate().filter(|(index, path)| !path.is_twin && is_planned(*index))
    {
        let cells: Vec<Cell> = columns.iter().map(|(_, cells, _)| cells[index].clone()).collect();
        let worst = |at: usize| columns.iter().map(|(_, _, ranks)| ranks[at]).fold(0.0, f64::max);
        let is_baseline = summary.run.baseline.as_ref() == Some(&path.name);
        let rank = match path.is_reference {
            _ if is_baseline => f64::INFINITY,
            // It stays where what is compared with it does.
            true => others(summary, path).map(worst).fold(worst(index), f64::max),
            false => worst(index),
        };
        let row = Row { name: path.name.clone(), cells, rank };
        // The others are read against it.
        if is_baseline { rows.insert(0, row) } else { rows.push(row) }
    }
    let columns: Vec<Column> = columns.into_iter().map(|(column, ..)| column).collect();
    if rows.is_empty() || columns.is_empty() {
        return None;
    }
    Some(Table { title: String::new(), columns, rows })
}

/// The paths that are compared with this one and no other.
fn others(summary: &Summary, path: &PathSummary) -> impl Iterator<Item = usize> {
    let of_it = |other: &PathSummary| other.compared_with.as_ref() == Some(&path.name);
    let all = summary.paths.iter().enumerate();
    all.filter(move |(_, other)| of_it(other) && !other.is_twin).map(|(index, _)| index)
}

/// The columns in their order: of a sweep its ends, and of a single workload more than one figure.
fn spots(summary: &Summary) -> Vec<Spot<'_>> {
    let measured: Vec<&WorkloadSummary> =
        summary.workloads.iter().filter(|workload| workload.main_figure().is_some()).collect();
    let is_only = measured.len() == 1;
    let mut out = Vec::new();
    for workload in measured {
        let points = workload.points();
        let ends = match points.as_slice() {
            [] => Vec::new(),
            [one] => vec![*one],
            [first, .., last] => vec![*first, *last],
        };
        let figures = workload.figures.iter().enumerate();
        let is_further = |figure: &FigureSummary| figure.plotted && !figure.name.contains("_p90_");
        let shown =
            figures.filter(|(index, figure)| *index == 0 || (is_only && is_further(figure)));
        for (_, figure) in shown.take(MOST_FIGURES) {
            for point in ends.iter().copied() {
                let here = workload.cells.iter().filter(|cell| cell.point_label == point);
                let cells = here.map(|cell| (cell.path_index, cell)).collect();
                out.push(Spot { workload, figure, point, cells });
            }
        }
    }
    out
}

impl Spot<'_> {
    fn value(&self, path: usize) -> Option<f64> {
        let value = self.cells.get(&path)?.figure(self.figure.name)?.spread.median;
        Some(value).filter(|value| value.is_finite())
    }

    /// Whether a comparison has a verdict that says something, or will have one.
    fn is_judged(&self, summary: &Summary, is_open: bool) -> bool {
        // What has no good direction gets no verdict.
        if self.figure.better == Better::Neither {
            return false;
        }
        let all = summary.paths.iter().enumerate();
        let mut references = all.filter(|(_, path)| path.is_reference).map(|(index, _)| index);
        if is_open {
            return references.any(|path| self.cells.contains_key(&path));
        }
        let says = |cell: &&CellSummary| {
            let ratio = cell.figure(self.figure.name).and_then(|figure| figure.ratio.as_ref());
            let verdict = ratio.and_then(|ratio| ratio.verdict.as_ref());
            verdict.is_some_and(|verdict| verdict.outcome != Outcome::TooFewRounds)
        };
        references.any(|path| self.value(path).is_some()) && self.cells.values().any(says)
    }
}

/// A column with its cells and how bad each is, by path.
fn column(summary: &Summary, spot: &Spot<'_>, is_open: bool) -> (Column, Vec<Cell>, Vec<f64>) {
    let better = spot.figure.better;
    let is_judged = spot.is_judged(summary, is_open);
    let values: Vec<Option<f64>> = (0..summary.paths.len()).map(|path| spot.value(path)).collect();
    let best =
        values.iter().flatten().copied().reduce(if better.is_less() { f64::min } else { f64::max });
    let failures = failures(summary, spot);
    let mut cells = Vec::new();
    let mut ranks = Vec::new();
    for (index, path) in summary.paths.iter().enumerate() {
        let cell = spot.cells.get(&index);
        let estimate = cell.and_then(|cell| cell.figure(spot.figure.name));
        let failure = failures.get(path.name.as_str()).copied();
        let saturated = cell.filter(|_| spot.figure.is_latency).and_then(|cell| cell.saturated());
        let ratio = estimate.and_then(|estimate| estimate.ratio.as_ref());
        // Against a baseline that is saturated the figure stands for itself.
        let is_alone =
            !is_judged || path.is_reference || ratio.is_some_and(|ratio| ratio.spread.is_none());
        let is_to_come = is_open && cell.is_some();
        let value = match (estimate, failure) {
            (Some(_), _) if saturated.is_some() => Value::Saturated(saturated.unwrap_or_default()),
            (None, None) if is_to_come => Value::NotDecided,
            (None, None) => Value::Absent,
            (None, Some(true)) => Value::Unproved,
            (None, Some(false)) => Value::Failed,
            (Some(estimate), _) if is_alone => {
                let unit = spot.workload.rate_unit;
                Value::Figure(asked(unit, spot.figure.name, estimate.spread.median))
            }
            (Some(estimate), _) => match ratio {
                Some(ratio) => Value::of(ratio),
                // Its baseline may be still to come.
                None if is_open && estimate.note.is_empty() => Value::NotDecided,
                None => Value::NoRatio,
            },
        };
        let ratio = ratio.and_then(|ratio| ratio.spread).map(|spread| spread.median);
        ranks.push(match &value {
            Value::Absent => 0.0,
            Value::Failed | Value::Unproved => NO_FIGURE,
            Value::Saturated(_) => SATURATED,
            Value::Effect { is_better: false, .. } => distance(ratio, Some(1.0)),
            Value::Figure(_) => distance(values[index], best),
            _ => 0.0,
        });
        let is_late = cell.is_some_and(|cell| cell.generator_limited || cell.bypasses_proxy);
        let rests_on_chance = cell.is_some_and(|cell| cell.was_visited)
            && matches!(value, Value::Effect { .. } | Value::Same(_));
        let is_doubtful =
            failure.is_some() || is_late || path.partly_proved.is_some() || rests_on_chance;
        cells.push(Cell { is_doubtful: estimate.is_some() && is_doubtful, value });
    }
    let heads = [spot.workload.name.clone(), spot.figure.label.to_owned(), spot.point.to_owned()];
    (Column { heads, better }, cells, ranks)
}

/// By how many factors of e two values differ.
fn distance(value: Option<f64>, best: Option<f64>) -> f64 {
    let factors = value.zip(best).map(|(value, best)| (value / best).ln().abs());
    factors.filter(|factors| factors.is_finite()).unwrap_or(0.0)
}

/// The paths of which trials at this point failed, and whether all those are without proof.
fn failures<'a>(summary: &'a Summary, spot: &Spot<'_>) -> HashMap<&'a str, bool> {
    let mut out = HashMap::new();
    let here = |failure: &&FailureSummary| {
        failure.workload == spot.workload.name && failure.point == spot.point
    };
    for failure in summary.failures.iter().filter(here) {
        *out.entry(failure.path.as_str()).or_insert(true) &= failure.is_unproved;
    }
    out
}
