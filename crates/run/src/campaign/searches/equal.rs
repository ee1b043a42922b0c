//! Every path at the loads that were found on the others: the same load, so that what they make of it compares.

use hopbench_model::{Cell, EQUAL_LOAD, Fault, Plan, SearchStep, point_label};

use super::hunt::{Hunt, MOST_FAILURES};
use super::load::Load;
use super::{AT_EQUAL_LOADS, Go, Tried, Try, id};
use crate::campaign::event::Event;
use crate::campaign::order::shuffled;
use crate::campaign::{Around, Campaign};

/// A path is measured so often at each load, or as often as the plan has rounds, where that is less.
const MOST_VISITS: u32 = 3;

/// A trial of a cell at the load that was found on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    /// The cell that was measured.
    cell: Cell,
    /// The path that the load was found on, as an index of the plan.
    found_on: usize,
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

/// The visit that a record of an earlier session is of.
pub(super) fn visited(plan: &Plan, cell: Cell, step: &SearchStep) -> Option<Visit> {
    let found_on = plan.paths.iter().position(|path| path.name == step.why);
    found_on.filter(|_| step.goal == EQUAL_LOAD).map(|found_on| Visit { cell, found_on })
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
                item.failures = MOST_FAILURES;
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
                self.failed_try(trial, &reason, record, item.failures >= MOST_FAILURES, around)?;
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
            let visit = Visit { cell: hunt.cell, found_on: from.cell.path };
            let done = visits.iter().filter(|past| **past == visit).count();
            let done = u32::try_from(done).unwrap_or(u32::MAX);
            out.push(Item { at, found_on: from.cell.path, loads: from.found(), done, failures: 0 });
        }
    }
    out
}
