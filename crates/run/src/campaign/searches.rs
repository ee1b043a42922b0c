//! Searches for a load: one trial of each that is not over, in one pass after the other, so that what drifts hits all alike.

mod equal;
mod hunt;
mod load;
mod seen;

use hopbench_model::{Cell, Fault, Plan, Point, Record, SearchStep, point_label};
use hopbench_stats::Seen;
use hopbench_sys::clock;

use super::event::Event;
use super::order::shuffled;
use super::trial::Done;
use super::{Around, Campaign};
use crate::results::{Searched, TrialId};
use equal::Visit;
use hunt::Hunt;
use load::Load;

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
    /// A record with figures, and what they show; it is not on the disk yet.
    Measured(Box<Record>, Seen),
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
    /// Makes all searches of the plan, and what follows from them.
    pub(super) fn search(&mut self, around: &mut Around<'_>) -> Result<(), Fault> {
        let plan = around.plan;
        let mut hunts: Vec<Hunt<'_>> = plan.cells.iter().filter_map(|cell| Hunt::new(plan, *cell)).collect();
        if hunts.is_empty() || self.ended.interrupted {
            return Ok(());
        }
        let visits = self.replay(&mut hunts, around);
        // They are tried again.
        self.folder.forget_if(|failure| {
            hunts.iter().any(|hunt| hunt.path.name == failure.path && hunt.point.workload == failure.workload)
        });
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
            let Some(at) = hunts.iter().position(|hunt| is_of(&past, hunt)) else { continue };
            if let Some(visit) = equal::visited(hunts[at].cell, &past.step) {
                visits.push(visit);
                hunts[at].steps = hunts[at].steps.max(past.step.step);
            } else if !hunts[at].replay(&past.step) {
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
            if self.time_is_over(around.plan) {
                for hunt in hunts.iter().filter(|hunt| hunt.is_open()) {
                    let trial = failing(hunt, hunt.next(), hunt.steps + 1);
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

    /// Whether no new pass may begin. A session makes a round or a pass in any case, as who goes on with little time comes
    /// forward.
    fn time_is_over(&mut self, plan: &Plan) -> bool {
        let budget_ns = plan.stop.as_ref().and_then(|rule| rule.budget_ns);
        let began = self.began.replace(self.began.unwrap_or_else(clock::now));
        began.zip(budget_ns).is_some_and(|(began, budget_ns)| clock::now() - began >= budget_ns)
    }

    /// One trial of a search.
    fn one_step(
        &mut self,
        hunt: &mut Hunt<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        let step = hunt.steps + 1;
        let loads = hunt.loads();
        let at = match load::at(hunt.point, hunt.path.clients, &loads, step) {
            Ok(at) => at,
            Err(reason) => {
                hunt.give_up();
                self.fail(failing(hunt, loads.last().copied(), step), reason, false, around.observer)?;
                return Ok(Go::On);
            }
        };
        let trial = id(hunt, &at, step);
        let one = Try { hunt, point: &at, step, trial: trial.clone(), nothing: nothing(hunt, &at, step) };
        match self.attempt_step(&one, place, around) {
            Tried::Measured(mut record, seen) => {
                let Some((told, ended)) = hunt.observe(step, seen) else { return Ok(Go::On) };
                record.search = Some(told.clone());
                self.keep(&record, around)?;
                let next = hunt.next().filter(|_| ended.is_none()).map(|next| next.value);
                let (path, workload, point) = (&hunt.path.name, &hunt.point.workload, &point_label(&hunt.point.point));
                let goal = &hunt.spec.goal;
                around.observer.event(&Event::SearchStep { path, workload, point, goal, step: &told, next });
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
            (None, Ok(seen)) => Tried::Measured(record, seen),
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

/// Whether a trial of an earlier session is one of this cell.
fn is_of(past: &Searched, hunt: &Hunt<'_>) -> bool {
    let mut point = hunt.point.point.clone();
    point.insert(past.step.parameter.clone(), load::shown(past.step.load));
    let TrialId { path, workload, point: label, .. } = &past.trial;
    hunt.path.name == *path && hunt.point.workload == *workload && point_label(&point) == *label
}

/// What an earlier session measured of the search of a cell: how many trials, and whether that was all of it. `None`: it is
/// not searched, or nothing was measured. Whether others were measured at the load that it found is not looked at.
pub(super) fn begun(plan: &Plan, cell: Cell, searched: &[Searched]) -> Option<(u32, bool)> {
    let mut hunt = Hunt::new(plan, cell)?;
    let of_it: Vec<_> = searched.iter().filter(|past| is_of(past, &hunt)).collect();
    for past in &of_it {
        if equal::visited(cell, &past.step).is_none() {
            hunt.replay(&past.step);
        }
    }
    let last = of_it.iter().map(|past| past.step.step).max()?;
    Some((last, !hunt.is_open()))
}

/// The trial of a search at a point with its load.
fn id(hunt: &Hunt<'_>, at: &Point, step: u32) -> TrialId {
    let (path, workload, point) = (hunt.path.name.clone(), at.workload.clone(), point_label(&at.point));
    TrialId { path, workload, point, round: step }
}

/// The trial that cannot even begin, as its load is none.
fn failing(hunt: &Hunt<'_>, load: Option<Load>, step: u32) -> TrialId {
    let mut point = hunt.point.point.clone();
    point.extend(load.map(|load| (load.parameter.name().to_owned(), load::shown(load.value))));
    let (path, workload) = (hunt.path.name.clone(), hunt.point.workload.clone());
    TrialId { path, workload, point: point_label(&point), round: step }
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
        outcome: None,
    }
}
