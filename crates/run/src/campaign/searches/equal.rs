//! The comparison at equal loads: every path at the loads that were found on the others.

use hopbench_model::{EQUAL_LOAD, Fault, SearchStep};
use hopbench_sys::clock;

use super::attempt::{AT_EQUAL_LOADS, Go, TIME_ENDED, Tried, Try};
use super::earlier_trial::EarlierTrial;
use super::load::Load;
use super::search_driver::{MOST_FAILURES, SearchDriver};
use crate::campaign::event::Event;
use crate::campaign::rounds::order::shuffled;
use crate::campaign::{Around, Campaign};
use crate::results::CellName;

/// A path is measured so often at each load, or as often as the plan has rounds, where that is
/// less.
const MOST_VISITS: u32 = 3;

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

impl Campaign {
    /// Measures what the searches ask for beyond themselves.
    pub(super) fn equal_loads(
        &mut self,
        drivers: &mut [SearchDriver<'_>],
        visits: &[EarlierTrial],
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let most = around.plan.rounds.min(MOST_VISITS);
        let mut items = items(drivers, visits);
        for note in fruitless(drivers, &items) {
            around.observer.event(&Event::Note(&note));
            if !self.folder.run().notes.contains(&note) {
                self.folder.update(|run| run.notes.push(note))?;
            }
        }
        let is_open = |item: &Item<'_>| item.done < most && item.failures < MOST_FAILURES;
        for item in items.iter_mut().filter(|item| is_open(item)) {
            if let Some(reason) = &drivers[item.at].gone {
                let reason = format!("it cannot be measured any more: {reason}");
                self.miss(item, &mut drivers[item.at], reason, around)?;
            }
        }
        let mut pass =
            items.iter().filter(|item| is_open(item)).map(|item| item.done).min().unwrap_or(0);
        while items.iter().any(is_open) {
            if !self.budget.begins(clock::now(), 0) {
                for item in items.iter_mut().filter(|item| is_open(item)) {
                    self.miss(item, &mut drivers[item.at], TIME_ENDED.to_owned(), around)?;
                }
                return Ok(Go::TimeEnded);
            }
            pass += 1;
            for (place, index) in
                (1..).zip(shuffled(around.plan, AT_EQUAL_LOADS, pass, items.len()))
            {
                let count = items.len();
                let item = &mut items[index];
                if is_open(item) && item.done < pass {
                    let driver = &mut drivers[item.at];
                    if self.visit(item, driver, (pass, place, count), around)? == Go::Stop {
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
        driver: &mut SearchDriver<'_>,
        reason: String,
        around: &mut Around<'_>,
    ) -> Result<(), Fault> {
        (item.failures, driver.steps) = (MOST_FAILURES, driver.steps + 1);
        let trial = driver.trial(Some(item.load), driver.steps);
        self.fail(trial, reason, false, around.observer)
    }

    fn visit(
        &mut self,
        item: &mut Item<'_>,
        driver: &mut SearchDriver<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let (step, load) = (driver.steps + 1, item.load);
        let at = match driver.at(&item.loads, step) {
            Ok(at) => at,
            Err(reason) => return self.miss(item, driver, reason, around).map(|()| Go::On),
        };
        let trial = driver.trial(Some(load), step);
        let nothing =
            SearchStep { goal: EQUAL_LOAD.to_owned(), ..driver.step(load, step, item.found_on) };
        let one = Try { driver, point: &at, step, trial: trial.clone(), nothing };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen, broken) => {
                let value = Some(seen.value).filter(|value| value.is_finite());
                let told = SearchStep { value, within: seen.within, broken, ..one.nothing };
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                (driver.steps, item.done, item.failures) = (step, item.done + 1, 0);
                let (CellName { path, workload, point }, goal) =
                    (&driver.name(), &driver.spec.goal);
                around.observer.event(&Event::SearchStep {
                    path,
                    workload,
                    point,
                    goal,
                    step: &told,
                    next: None,
                });
                Ok(Go::On)
            }
            Tried::Failed(reason, record) => {
                item.failures += 1;
                let is_over = item.failures >= MOST_FAILURES;
                // Another path may have the same load: the next trial is none of this one, which
                // has failed for good.
                driver.steps = if is_over { step } else { driver.steps };
                self.failed_try(trial, &reason, record, is_over, around)?;
                Ok(Go::On)
            }
            Tried::Stop(record) => self.stopped(record, around),
        }
    }
}

/// Each cell at each load that was found for its workload point, the path that it was found on
/// among them. A load is found at one time and compared at another.
fn items<'p>(drivers: &[SearchDriver<'p>], visits: &[EarlierTrial]) -> Vec<Item<'p>> {
    let mut out = Vec::new();
    for from in drivers.iter().filter(|driver| driver.spec.equal_load) {
        let loads = from.found();
        let Some(load) = loads.last().copied() else { continue };
        // Those that are gone have points of another plan, with the same names.
        let together = |driver: &SearchDriver<'_>| {
            (&driver.point.workload, &driver.point.point)
                == (&from.point.workload, &from.point.point)
        };
        if drivers.iter().filter(|driver| together(driver)).count() < 2 {
            continue;
        }
        let found_on = from.path.name.as_str();
        for (at, driver) in drivers.iter().enumerate().filter(|(_, driver)| together(driver)) {
            let is_this = |visit: &&EarlierTrial| {
                let past = &visit.past;
                visit.at == at && past.step.why == found_on && driver.was_at(past, &loads)
            };
            let done = u32::try_from(visits.iter().filter(is_this).count()).unwrap_or(u32::MAX);
            out.push(Item { at, found_on, loads: loads.clone(), load, done, failures: 0 });
        }
    }
    out
}

/// The workload points for which equal loads were asked for and none was found, a sentence each.
fn fruitless(drivers: &[SearchDriver<'_>], items: &[Item<'_>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for driver in drivers.iter().filter(|driver| driver.spec.equal_load) {
        let name = driver.name();
        let is_same = |item: &Item<'_>| {
            let other = drivers[item.at].name();
            (&other.workload, &other.point) == (&name.workload, &name.point)
        };
        let cell = format!("{} {}", name.workload, name.point);
        let note = format!(
            "equal-load of {}: no search found a load, so no path is measured at another's",
            cell.trim_end()
        );
        if !items.iter().any(is_same) && !out.contains(&note) {
            out.push(note);
        }
    }
    out
}

#[cfg(test)]
mod tests;
