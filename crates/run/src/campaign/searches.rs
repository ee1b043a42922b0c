//! The searches for a load, in passes. A pass has one trial of each search that goes on, so that
//! drift hits all alike.

mod attempt;
mod bounds;
mod earlier_trial;
mod equal;
mod load;
mod observation;
pub(super) mod search_driver;

use hopbench_model::Fault;
use hopbench_sys::clock;

use super::event::Event;
use super::rounds::order::shuffled;
use super::{Around, Campaign};
use crate::results::CellName;
use attempt::{Go, SEARCHING, TIME_ENDED, Tried, Try};
pub(super) use bounds::bounds;
use earlier_trial::{EarlierTrial, is_at_equal_load};
pub(super) use search_driver::SearchDriver;

impl Campaign {
    /// Makes all searches of the plan, and what follows from them. What is missing of those that
    /// are gone has failed.
    pub(super) fn search(
        &mut self,
        around: &mut Around<'_>,
        gone: Vec<SearchDriver<'_>>,
    ) -> Result<(), Fault> {
        let plan = around.plan;
        let here = plan.cells.iter().filter_map(|cell| SearchDriver::new(plan, *cell));
        let mut drivers: Vec<SearchDriver<'_>> = here.chain(gone).collect();
        if drivers.is_empty() || self.ended.interrupted {
            return Ok(());
        }
        let visits = self.replay(&mut drivers, around);
        // They are tried again, or fail again.
        self.folder.forget_if(|failure| {
            drivers.iter().any(|driver| {
                driver.path.name == failure.path && driver.point.workload == failure.workload
            })
        });
        for driver in drivers.iter().filter(|driver| driver.next().is_some()) {
            if let Some(reason) = &driver.gone {
                let reason = format!("the search is not finished: {reason}");
                self.fail(driver.trial(None, driver.steps + 1), reason, false, around.observer)?;
            }
        }
        let left = drivers.iter().filter(|driver| driver.is_open()).count();
        around.observer.event(&Event::SearchesStarted { searches: drivers.len(), left });
        let mut go = self.passes(&mut drivers, around)?;
        if go == Go::On {
            go = self.equal_loads(&mut drivers, &visits, around)?;
        }
        self.ended.interrupted |= go == Go::Stop;
        Ok(())
    }

    /// Tells the searches what was measured in earlier sessions; the visits at equal loads that
    /// were made.
    fn replay(
        &mut self,
        drivers: &mut [SearchDriver<'_>],
        around: &mut Around<'_>,
    ) -> Vec<EarlierTrial> {
        let (mut visits, mut strange) = (Vec::new(), 0);
        for past in std::mem::take(&mut self.searched) {
            let Some(at) = drivers.iter().position(|driver| driver.has_made(&past)) else {
                continue;
            };
            if is_at_equal_load(&past) {
                drivers[at].steps = drivers[at].steps.max(past.step.step);
                visits.push(EarlierTrial { at, past });
            } else if !drivers[at].replay(&past) && drivers[at].gone.is_none() {
                strange += 1;
            }
        }
        if strange > 0 {
            around.observer.event(&Event::Note(&format!(
                "{strange} trials of searches were made otherwise than this hopbench would: it \
                 measures anew what they show"
            )));
        }
        visits
    }

    /// One trial of each search that is not over, until all are.
    fn passes(
        &mut self,
        drivers: &mut [SearchDriver<'_>],
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let open = |drivers: &[SearchDriver<'_>]| {
            drivers.iter().filter(|driver| driver.is_open()).map(|driver| driver.steps).min()
        };
        let mut pass = open(drivers).unwrap_or(0);
        while open(drivers).is_some() {
            if !self.budget.begins(clock::now(), 0) {
                for driver in drivers.iter().filter(|driver| driver.is_open()) {
                    let trial = driver.trial(driver.next(), driver.steps + 1);
                    self.fail(trial, TIME_ENDED.to_owned(), false, around.observer)?;
                }
                return Ok(Go::TimeEnded);
            }
            pass += 1;
            for (place, at) in (1..).zip(shuffled(around.plan, SEARCHING, pass, drivers.len())) {
                // Those that a resumed run finds further have had their trial of this pass.
                if !drivers[at].is_open() || drivers[at].steps >= pass {
                    continue;
                }
                let place = (pass, place, drivers.len());
                if self.one_step(&mut drivers[at], place, around)? == Go::Stop {
                    return Ok(Go::Stop);
                }
            }
        }
        Ok(Go::On)
    }

    /// One trial of a search.
    fn one_step(
        &mut self,
        driver: &mut SearchDriver<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let Some(next) = driver.next() else { return Ok(Go::On) };
        let step = driver.steps + 1;
        let trial = driver.trial(Some(next), step);
        let at = match driver.next_point(step) {
            Ok(at) => at,
            Err(reason) => {
                driver.give_up();
                self.fail(trial, reason, false, around.observer)?;
                return Ok(Go::On);
            }
        };
        let nothing = driver.step(next, step, "failed");
        let one = Try { driver, point: &at, step, trial: trial.clone(), nothing };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen, broken) => {
                let Some((mut told, ended)) = driver.observe(step, seen) else { return Ok(Go::On) };
                told.broken = broken;
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                let next = driver.next().filter(|_| ended.is_none()).map(|next| next.value);
                let (CellName { path, workload, point }, goal) =
                    (&driver.name(), &driver.spec.goal);
                around.observer.event(&Event::SearchStep {
                    path,
                    workload,
                    point,
                    goal,
                    step: &told,
                    next,
                });
                if let Some(ended) = ended {
                    let (outcome, value) = (ended.outcome, ended.value);
                    around.observer.event(&Event::SearchDone {
                        path,
                        workload,
                        point,
                        step: &told,
                        outcome,
                        value,
                    });
                }
                Ok(Go::On)
            }
            Tried::Failed(reason, record) => {
                let is_over = driver.failed();
                self.failed_try(trial, &reason, record, is_over, around)?;
                Ok(Go::On)
            }
            Tried::Stop(record) => self.stopped(record, around),
        }
    }
}
