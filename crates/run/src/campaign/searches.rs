//! Searches for a load: one trial of each that is not over, in one pass after the other, so that what drifts hits all alike.

mod bounds;
mod equal;
mod hunt;
mod load;
mod seen;

use hopbench_model::{Cell, Fault, Plan, Point, Record, SearchStep};
use hopbench_stats::Seen;
use hopbench_sys::clock;

use super::event::Event;
use super::order::shuffled;
use super::trial::Done;
use super::{Around, Campaign};
use crate::results::{CellName, Searched, TrialId};
pub(super) use bounds::bounds;
use equal::Visit;
pub(super) use hunt::Hunt;

/// The passes of searches, and those at equal loads, which follow: each sort has orders of its own.
const SEARCHING: u8 = 1;
const AT_EQUAL_LOADS: u8 = 2;

/// Why a search is not finished when the time of the session is over.
const TIME_ENDED: &str = "the time (`budget`) ended; `--resume` goes on";

/// Whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    /// The user had enough.
    Stop,
    /// The time of the session is over.
    TimeEnded,
}

/// What came of a try of a trial.
enum Tried {
    /// A record with figures, what they show, and the bound that it broke; it is not on the disk yet.
    Measured(Box<Record>, Seen, Option<String>),
    /// Why there are none; the record, if there is one, is not on the disk yet either.
    Failed(String, Option<Box<Record>>),
    /// The user had enough; what was measured until then may be something.
    Stop(Option<Box<Record>>),
}

/// One trial of a search.
struct Try<'a> {
    hunt: &'a Hunt<'a>,
    point: &'a Point,
    step: u32,
    trial: TrialId,
    /// What its record says of it where it shows nothing.
    nothing: SearchStep,
}

impl Campaign {
    /// Makes all searches of the plan, and what follows from them. What is missing of those that are gone has failed.
    pub(super) fn search(&mut self, around: &mut Around<'_>, gone: Vec<Hunt<'_>>) -> Result<(), Fault> {
        let plan = around.plan;
        let here = plan.cells.iter().filter_map(|cell| Hunt::new(plan, *cell));
        let mut hunts: Vec<Hunt<'_>> = here.chain(gone).collect();
        if hunts.is_empty() || self.ended.interrupted {
            return Ok(());
        }
        let visits = self.replay(&mut hunts, around);
        // They are tried again, or fail again.
        self.folder.forget_if(|failure| {
            hunts.iter().any(|hunt| hunt.path.name == failure.path && hunt.point.workload == failure.workload)
        });
        for hunt in hunts.iter().filter(|hunt| hunt.next().is_some()) {
            if let Some(reason) = &hunt.gone {
                let reason = format!("the search is not finished: {reason}");
                self.fail(hunt.trial(None, hunt.steps + 1), reason, false, around.observer)?;
            }
        }
        let left = hunts.iter().filter(|hunt| hunt.is_open()).count();
        around.observer.event(&Event::SearchesStarted { searches: hunts.len(), left });
        let mut go = self.passes(&mut hunts, around)?;
        if go == Go::On {
            go = self.equal_loads(&mut hunts, &visits, around)?;
        }
        self.ended.interrupted |= go == Go::Stop;
        Ok(())
    }

    /// Tells the searches what was measured in earlier sessions; the visits at equal loads that were made.
    fn replay(&mut self, hunts: &mut [Hunt<'_>], around: &mut Around<'_>) -> Vec<Visit> {
        let (mut visits, mut strange) = (Vec::new(), 0);
        for past in std::mem::take(&mut self.searched) {
            let Some(at) = hunts.iter().position(|hunt| hunt.has_made(&past)) else { continue };
            if equal::is_visit(&past) {
                hunts[at].steps = hunts[at].steps.max(past.step.step);
                visits.push(Visit { at, past });
            } else if !hunts[at].replay(&past) && hunts[at].gone.is_none() {
                strange += 1;
            }
        }
        if strange > 0 {
            around.observer.event(&Event::Note(&format!(
                "{strange} trials of searches were made otherwise than this hopbench would: it measures anew what they show"
            )));
        }
        visits
    }

    /// One trial of each search that is not over, until all are.
    fn passes(&mut self, hunts: &mut [Hunt<'_>], around: &mut Around<'_>) -> Result<Go, Fault> {
        let open = |hunts: &[Hunt<'_>]| hunts.iter().filter(|hunt| hunt.is_open()).map(|hunt| hunt.steps).min();
        let mut pass = open(hunts).unwrap_or(0);
        while open(hunts).is_some() {
            if !self.budget.begins(clock::now()) {
                for hunt in hunts.iter().filter(|hunt| hunt.is_open()) {
                    let trial = hunt.trial(hunt.next(), hunt.steps + 1);
                    self.fail(trial, TIME_ENDED.to_owned(), false, around.observer)?;
                }
                return Ok(Go::TimeEnded);
            }
            pass += 1;
            for (place, at) in (1..).zip(shuffled(around.plan, SEARCHING, pass, hunts.len())) {
                // Those that a resumed run finds further have had their trial of this pass.
                if !hunts[at].is_open() || hunts[at].steps >= pass {
                    continue;
                }
                let place = (pass, place, hunts.len());
                if self.one_step(&mut hunts[at], place, around)? == Go::Stop {
                    return Ok(Go::Stop);
                }
            }
        }
        Ok(Go::On)
    }

    /// One trial of a search.
    fn one_step(
        &mut self,
        hunt: &mut Hunt<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let step = hunt.steps + 1;
        let trial = hunt.trial(hunt.next(), step);
        let at = match hunt.at(&hunt.loads(), step) {
            Ok(at) => at,
            Err(reason) => {
                hunt.give_up();
                self.fail(trial, reason, false, around.observer)?;
                return Ok(Go::On);
            }
        };
        let one = Try { hunt, point: &at, step, trial: trial.clone(), nothing: nothing(hunt, &at, step) };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen, beyond) => {
                let Some((told, ended)) = hunt.observe(step, seen) else { return Ok(Go::On) };
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                let next = hunt.next().filter(|_| ended.is_none()).map(|next| next.value);
                let (CellName { path, workload, point }, goal) = (&hunt.name(), &hunt.spec.goal);
                let (step, beyond) = (&told, beyond.as_deref());
                around.observer.event(&Event::SearchStep { path, workload, point, goal, step, beyond, next });
                if let Some(ended) = ended {
                    let (outcome, value) = (ended.outcome, ended.value);
                    around.observer.event(&Event::SearchDone { path, workload, point, step: &told, outcome, value });
                }
                Ok(Go::On)
            }
            Tried::Failed(reason, record) => {
                let is_over = hunt.failed();
                self.failed_try(trial, &reason, record, is_over, around)?;
                Ok(Go::On)
            }
            Tried::Stop(record) => self.stopped(record, around),
        }
    }

    /// Measures, and says what that shows. Its record has a step without a value wherever it failed.
    fn attempt_step(&mut self, one: &Try<'_>, place: (u32, usize, usize), around: &mut Around<'_>) -> Tried {
        let Try { hunt, point, step, trial, nothing } = one;
        let (pass, place, of) = place;
        if around.observer.interrupted() {
            return Tried::Stop(None);
        }
        around.observer.event(&Event::SearchTrialStarted { trial, pass, place, of, job: &point.job });
        let measured = self.attempt(hunt.path, point, *step, trial, around);
        let interrupted = around.observer.interrupted();
        let (mut record, fault) = match measured {
            Err(_) if interrupted => return Tried::Stop(None),
            Err(fault) => return Tried::Failed(fault.text, None),
            Ok(Done { record, fault }) => (Box::new(record), fault),
        };
        seen::forgive(&mut record);
        let seen = seen::seen(hunt.spec, &point.job, &record);
        let broken = match (&fault, &record.incomplete, &record.error) {
            (Some(fault), ..) => Some(fault.text.clone()),
            (None, Some(why), _) => Some(format!("it was cut short: {why}")),
            (None, None, Some(error)) => Some(error.clone()),
            (None, None, None) => None,
        };
        match (broken, seen) {
            (None, Ok(seen)) => {
                let beyond = seen::beyond(hunt.spec, &record);
                Tried::Measured(record, seen, beyond)
            }
            (Some(reason), _) | (None, Err(reason)) => {
                // A record without its figure is nothing that a search could be resumed with.
                record.error =
                    record.error.take().or_else(|| Some(reason.clone()).filter(|_| record.incomplete.is_none()));
                record.search = Some(nothing.clone());
                let record = Some(record).filter(|record| record.window_s > 0.0);
                if interrupted { Tried::Stop(record) } else { Tried::Failed(reason, record) }
            }
        }
    }

    /// A try without figures: it is made again, or the search is over.
    fn failed_try(
        &mut self,
        trial: TrialId,
        reason: &str,
        record: Option<Box<Record>>,
        is_over: bool,
        around: &mut Around<'_>,
    ) -> Result<(), Fault> {
        if let Some(record) = record {
            self.keep(&record, around)?;
        }
        if is_over {
            let reason = format!("{reason}; tried {} times", hunt::MOST_FAILURES);
            return self.fail(trial, reason, false, around.observer);
        }
        let TrialId { path, workload, point, .. } = &trial;
        around.observer.event(&Event::Note(&format!("{path} {workload} {point}: tried again: {reason}")));
        Ok(())
    }

    /// The run ends in the middle of a trial.
    fn stopped(&mut self, record: Option<Box<Record>>, around: &mut Around<'_>) -> Result<Go, Fault> {
        if let Some(record) = record {
            self.keep(&record, around)?;
        }
        Ok(Go::Stop)
    }

    /// Puts a record on the disk, and tells of it.
    fn keep(&mut self, record: &Record, around: &mut Around<'_>) -> Result<(), Fault> {
        self.folder.append(record)?;
        self.ended.good += usize::from(record.incomplete.is_none() && record.error.is_none());
        around.observer.event(&Event::TrialDone(record));
        Ok(())
    }
}

/// Whether a cell is searched, and an earlier session measured something of that.
pub(super) fn is_begun(plan: &Plan, cell: Cell, searched: &[Searched]) -> bool {
    Hunt::new(plan, cell).is_some_and(|hunt| searched.iter().any(|past| hunt.has_made(past)))
}

/// What a trial was for that showed nothing.
fn nothing(hunt: &Hunt<'_>, at: &Point, step: u32) -> SearchStep {
    let next = hunt.next();
    SearchStep {
        goal: hunt.spec.goal.name().to_owned(),
        step,
        parameter: next.map_or("", |next| next.parameter.name()).to_owned(),
        load: next.map_or(0.0, |next| next.value),
        why: "failed".to_owned(),
        figure: seen::figure(&hunt.spec.goal, &at.job),
        value: None,
        within: false,
        found: None,
        outcome: None,
    }
}
