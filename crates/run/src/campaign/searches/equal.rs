//! Every path at the loads that were found on the others: the same load, so that what they make of it compares.

use hopbench_model::{Cell, EQUAL_LOAD, Fault, SearchStep, point_label};

use super::hunt::{Hunt, MOST_FAILURES};
use super::load::Load;
use super::{AT_EQUAL_LOADS, Go, Tried, Try, id};
use crate::campaign::event::Event;
use crate::campaign::order::shuffled;
use crate::campaign::{Around, Campaign};

/// A path is measured so often at each load, or as often as the plan has rounds, where that is less.
const MOST_VISITS: u32 = 3;

/// A trial of a cell at the load that was found on a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Visit {
    /// The cell that was measured.
    cell: Cell,
    /// The path that the load was found on.
    found_on: String,
    /// What was varied, and its value: a search that goes on may come to another than before.
    parameter: String,
    load: f64,
}

/// A cell to be measured at a load.
struct Item {
    /// The search of the cell that is measured.
    at: usize,
    /// The path that the load was found on, as an index of the plan, and the load.
    found_on: usize,
    loads: Vec<Load>,
    done: u32,
    failures: u32,
}

/// The visit that a record of an earlier session is of; `None`: it is of a search.
pub(super) fn visited(cell: Cell, step: &SearchStep) -> Option<Visit> {
    let SearchStep { why, parameter, load, .. } = step;
    let visit = || Visit { cell, found_on: why.clone(), parameter: parameter.clone(), load: *load };
    (step.goal == EQUAL_LOAD).then(visit)
}

impl Visit {
    /// Whether it is one of a cell, at a load that was found on a path.
    fn is_at(&self, cell: Cell, found_on: &str, load: Load) -> bool {
        let is_load = self.parameter == load.parameter.name() && (self.load / load.value - 1.0).abs() < 1e-9;
        self.cell == cell && self.found_on == found_on && is_load
    }
}

impl Campaign {
    /// Measures what the searches ask for beyond themselves.
    pub(super) fn equal_loads(
        &mut self,
        hunts: &mut [Hunt<'_>],
        visits: &[Visit],
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let most = around.plan.rounds.min(MOST_VISITS);
        let mut items = items(hunts, visits);
        let is_open = |item: &Item| item.done < most && item.failures < MOST_FAILURES;
        let mut pass = items.iter().filter(|item| is_open(item)).map(|item| item.done).min().unwrap_or(0);
        while items.iter().any(is_open) {
            if self.time_is_over(around.plan) {
                for item in items.iter().filter(|item| is_open(item)) {
                    let hunt = &mut hunts[item.at];
                    hunt.steps += 1;
                    let trial = super::failing(hunt, item.loads.last().copied(), hunt.steps);
                    self.fail(trial, super::TIME_ENDED.to_owned(), false, around.observer)?;
                }
                return Ok(Go::TimeEnded);
            }
            pass += 1;
            for (place, index) in (1..).zip(shuffled(around.plan, AT_EQUAL_LOADS, pass, items.len())) {
                let count = items.len();
                let item = &mut items[index];
                if is_open(item) && item.done < pass {
                    let hunt = &mut hunts[item.at];
                    if self.visit(item, hunt, (pass, place, count), around)? == Go::Stop {
                        return Ok(Go::Stop);
                    }
                }
            }
        }
        Ok(Go::On)
    }

    fn visit(
        &mut self,
        item: &mut Item,
        hunt: &mut Hunt<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let step = hunt.steps + 1;
        let Some(load) = item.loads.last().copied() else { return Ok(Go::On) };
        let at = match super::load::at(hunt.point, hunt.path.clients, &item.loads, step) {
            Ok(at) => at,
            Err(reason) => {
                (item.failures, hunt.steps) = (MOST_FAILURES, step);
                self.fail(super::failing(hunt, Some(load), step), reason, false, around.observer)?;
                return Ok(Go::On);
            }
        };
        let trial = id(hunt, &at, step);
        let why = around.plan.paths[item.found_on].name.clone();
        let told = |value: f64, within: bool| SearchStep {
            goal: EQUAL_LOAD.to_owned(),
            step,
            parameter: load.parameter.name().to_owned(),
            load: load.value,
            why: why.clone(),
            figure: super::seen::figure(&hunt.spec.goal, &at.job),
            value: Some(value).filter(|value| value.is_finite()),
            within,
            outcome: None,
        };
        let one = Try { hunt, point: &at, step, trial: trial.clone(), nothing: told(f64::NAN, false) };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen) => {
                let told = told(seen.value, seen.within);
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                (hunt.steps, item.done, item.failures) = (step, item.done + 1, 0);
                let (path, workload, point) = (&hunt.path.name, &hunt.point.workload, &point_label(&hunt.point.point));
                let goal = &hunt.spec.goal;
                around.observer.event(&Event::SearchStep { path, workload, point, goal, step: &told, next: None });
                Ok(Go::On)
            }
            Tried::Failed(reason, record) => {
                item.failures += 1;
                let is_over = item.failures >= MOST_FAILURES;
                // Another path may have the same load: the next trial is none of this one, which has failed for good.
                hunt.steps = if is_over { step } else { hunt.steps };
                self.failed_try(trial, &reason, record, is_over, around)?;
                Ok(Go::On)
            }
            Tried::Stop(record) => self.stopped(record, around),
        }
    }
}

/// Each cell at each load that was found for its workload point, the path that it was found on among them: a load is found
/// at one time and compared at another.
fn items(hunts: &[Hunt<'_>], visits: &[Visit]) -> Vec<Item> {
    let mut out = Vec::new();
    for from in hunts.iter().filter(|hunt| hunt.spec.equal_load && !hunt.found().is_empty()) {
        let together = |hunt: &Hunt<'_>| hunt.cell.point == from.cell.point;
        if hunts.iter().filter(|hunt| together(hunt)).count() < 2 {
            continue;
        }
        for (at, hunt) in hunts.iter().enumerate().filter(|(_, hunt)| together(hunt)) {
            let loads = from.found();
            let is_this =
                |past: &&Visit| loads.last().is_some_and(|load| past.is_at(hunt.cell, &from.path.name, *load));
            let done = u32::try_from(visits.iter().filter(is_this).count()).unwrap_or(u32::MAX);
            out.push(Item { at, found_on: from.cell.path, loads, done, failures: 0 });
        }
    }
    out
}

#[cfg(test)]
mod tests;
