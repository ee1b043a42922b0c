//! Every path at the loads that were found on the others: the same load, so that what they make of it compares.

use hopbench_model::{EQUAL_LOAD, Fault, SearchStep};
use hopbench_sys::clock;

use super::hunt::{Hunt, MOST_FAILURES};
use super::load::Load;
use super::{AT_EQUAL_LOADS, Go, TIME_ENDED, Tried, Try};
use crate::campaign::event::Event;
use crate::campaign::order::shuffled;
use crate::campaign::{Around, Campaign};
use crate::results::{CellName, Searched};

/// A path is measured so often at each load, or as often as the plan has rounds, where that is less.
const MOST_VISITS: u32 = 3;

/// A trial of an earlier session at the load that was found on a path.
#[derive(Debug)]
pub(super) struct Visit {
    /// The search of the cell that was measured.
    pub(super) at: usize,
    pub(super) past: Searched,
}

/// A cell to be measured at a load.
struct Item<'p> {
    /// The search of the cell that is measured.
    at: usize,
    /// The path that the load was found on.
    found_on: &'p str,
    /// What was found of every parameter, the load last.
    loads: Vec<Load>,
    load: Load,
    done: u32,
    failures: u32,
}

/// Whether a trial of an earlier session is a visit; the others are of searches.
pub(super) fn is_visit(past: &Searched) -> bool {
    past.step.goal == EQUAL_LOAD
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
        for note in fruitless(hunts, &items) {
            around.observer.event(&Event::Note(&note));
            if !self.folder.run().notes.contains(&note) {
                self.folder.update(|run| run.notes.push(note))?;
            }
        }
        let is_open = |item: &Item<'_>| item.done < most && item.failures < MOST_FAILURES;
        for item in items.iter_mut().filter(|item| is_open(item)) {
            if let Some(reason) = &hunts[item.at].gone {
                let reason = format!("it cannot be measured any more: {reason}");
                self.miss(item, &mut hunts[item.at], reason, around)?;
            }
        }
        let mut pass = items.iter().filter(|item| is_open(item)).map(|item| item.done).min().unwrap_or(0);
        while items.iter().any(is_open) {
            if !self.budget.begins(clock::now()) {
                for item in items.iter_mut().filter(|item| is_open(item)) {
                    self.miss(item, &mut hunts[item.at], TIME_ENDED.to_owned(), around)?;
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

    /// A cell that is not measured at a load, for a reason.
    fn miss(
        &mut self,
        item: &mut Item<'_>,
        hunt: &mut Hunt<'_>,
        reason: String,
        around: &mut Around<'_>,
    ) -> Result<(), Fault> {
        (item.failures, hunt.steps) = (MOST_FAILURES, hunt.steps + 1);
        let trial = hunt.trial(Some(item.load), hunt.steps);
        self.fail(trial, reason, false, around.observer)
    }

    fn visit(
        &mut self,
        item: &mut Item<'_>,
        hunt: &mut Hunt<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let (step, load) = (hunt.steps + 1, item.load);
        let at = match hunt.at(&item.loads, step) {
            Ok(at) => at,
            Err(reason) => return self.miss(item, hunt, reason, around).map(|()| Go::On),
        };
        let trial = hunt.trial(Some(load), step);
        let told = |value: f64, within: bool| SearchStep {
            goal: EQUAL_LOAD.to_owned(),
            step,
            parameter: load.parameter.name().to_owned(),
            load: load.value,
            why: item.found_on.to_owned(),
            figure: super::seen::figure(&hunt.spec.goal, &at.job),
            value: Some(value).filter(|value| value.is_finite()),
            within,
            found: None,
            outcome: None,
        };
        let one = Try { hunt, point: &at, step, trial: trial.clone(), nothing: told(f64::NAN, false) };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen, beyond) => {
                let told = told(seen.value, seen.within);
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                (hunt.steps, item.done, item.failures) = (step, item.done + 1, 0);
                let (CellName { path, workload, point }, goal) = (&hunt.name(), &hunt.spec.goal);
                let (step, beyond) = (&told, beyond.as_deref());
                around.observer.event(&Event::SearchStep { path, workload, point, goal, step, beyond, next: None });
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
fn items<'p>(hunts: &[Hunt<'p>], visits: &[Visit]) -> Vec<Item<'p>> {
    let mut out = Vec::new();
    for from in hunts.iter().filter(|hunt| hunt.spec.equal_load) {
        let loads = from.found();
        let Some(load) = loads.last().copied() else { continue };
        // Those that are gone have points of another plan, with the same names.
        let together =
            |hunt: &Hunt<'_>| (&hunt.point.workload, &hunt.point.point) == (&from.point.workload, &from.point.point);
        if hunts.iter().filter(|hunt| together(hunt)).count() < 2 {
            continue;
        }
        let found_on = from.path.name.as_str();
        for (at, hunt) in hunts.iter().enumerate().filter(|(_, hunt)| together(hunt)) {
            let is_this = |v: &&Visit| v.at == at && v.past.step.why == found_on && hunt.was_at(&v.past, &loads);
            let done = u32::try_from(visits.iter().filter(is_this).count()).unwrap_or(u32::MAX);
            out.push(Item { at, found_on, loads: loads.clone(), load, done, failures: 0 });
        }
    }
    out
}

/// The workload points for which equal loads were asked for and none was found, a sentence each.
fn fruitless(hunts: &[Hunt<'_>], items: &[Item<'_>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for hunt in hunts.iter().filter(|hunt| hunt.spec.equal_load) {
        let name = hunt.name();
        let is_same = |item: &Item<'_>| {
            let other = hunts[item.at].name();
            (&other.workload, &other.point) == (&name.workload, &name.point)
        };
        let cell = format!("{} {}", name.workload, name.point);
        let note =
            format!("equal-load of {}: no search found a load, so no path is measured at another's", cell.trim_end());
        if !items.iter().any(is_same) && !out.contains(&note) {
            out.push(note);
        }
    }
    out
}

#[cfg(test)]
mod tests;
