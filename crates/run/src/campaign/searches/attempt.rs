//! The attempt at a trial of a search, and its result.

use hopbench_model::{BrokenBound, Fault, Point, Record, SearchStep};
use hopbench_stats::Measurement;

use super::observation;
use super::search_driver::{MOST_FAILURES, SearchDriver};
use crate::campaign::event::Event;
use crate::campaign::{Around, Campaign};
use crate::results::TrialId;

/// The passes of searches, and those at equal loads, which follow: each sort has orders of its own.
pub(super) const SEARCHING: u8 = 1;
pub(super) const AT_EQUAL_LOADS: u8 = 2;

/// Why a search is not finished when the time of the session is over.
pub(super) const TIME_ENDED: &str = "the time (`budget`) ended; `--resume` goes on";

/// Whether the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    On,
    /// The user had enough.
    Stop,
    /// The time of the session is over.
    TimeEnded,
}

/// The result of an attempt at a trial.
pub(super) enum Tried {
    /// A record with figures, what they show, and the bounds that it broke; it is not on the disk
    /// yet.
    Measured(Box<Record>, Measurement, Vec<BrokenBound>),
    /// Why there are none; the record, if there is one, is not on the disk yet either.
    Failed(String, Option<Box<Record>>),
    /// The user had enough; what was measured until then may be something.
    Stop(Option<Box<Record>>),
}

/// One trial of a search.
pub(super) struct Try<'a> {
    pub(super) driver: &'a SearchDriver<'a>,
    pub(super) point: &'a Point,
    pub(super) step: u32,
    pub(super) trial: TrialId,
    /// What its record says of it where it shows nothing.
    pub(super) nothing: SearchStep,
}

impl Campaign {
    /// Measures, and says what that shows. Its record has a step without a value wherever it
    /// failed.
    pub(super) fn attempt_step(
        &mut self,
        one: &Try<'_>,
        place: (u32, usize, usize),
        around: &mut Around<'_>,
    ) -> Tried {
        let Try { driver, point, step, trial, nothing } = one;
        let (pass, place, of) = place;
        if around.observer.interrupted() {
            return Tried::Stop(None);
        }
        around.observer.event(&Event::SearchTrialStarted {
            trial,
            pass,
            place,
            of,
            job: &point.job,
        });
        let measured = self.attempt(driver.path, point, *step, trial, around);
        let interrupted = around.observer.interrupted();
        let done = match measured {
            Err(_) if interrupted => return Tried::Stop(None),
            Err(fault) => return Tried::Failed(fault.text, None),
            Ok(done) => done,
        };
        let failed = done.failure().or_else(|| done.record.error.clone());
        let mut record = Box::new(done.record);
        match (failed, observation::seen(driver.spec, &point.job, &record)) {
            (None, Ok((seen, broken))) => Tried::Measured(record, seen, broken),
            (Some(reason), _) | (None, Err(reason)) => {
                // A record without its figure is nothing that a search could be resumed with.
                record.error = record
                    .error
                    .take()
                    .or_else(|| Some(reason.clone()).filter(|_| record.incomplete.is_none()));
                record.search = Some(nothing.clone());
                let record = Some(record).filter(|record| record.window_s > 0.0);
                if interrupted { Tried::Stop(record) } else { Tried::Failed(reason, record) }
            }
        }
    }

    /// A try without figures: it is made again, or the search is over.
    pub(super) fn failed_try(
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
            let reason = format!("{reason}; tried {} times", MOST_FAILURES);
            return self.fail(trial, reason, false, around.observer);
        }
        let TrialId { path, workload, point, .. } = &trial;
        around
            .observer
            .event(&Event::Note(&format!("{path} {workload} {point}: tried again: {reason}")));
        Ok(())
    }

    /// The run ends in the middle of a trial.
    pub(super) fn stopped(
        &mut self,
        record: Option<Box<Record>>,
        around: &mut Around<'_>,
    ) -> Result<Go, Fault> {
        if let Some(record) = record {
            self.keep(&record, around)?;
        }
        Ok(Go::Stop)
    }

    /// Puts a record on the disk, and tells of it.
    pub(super) fn keep(&mut self, record: &Record, around: &mut Around<'_>) -> Result<(), Fault> {
        self.folder.append(record)?;
        self.ended.good += usize::from(record.is_usable());
        around.observer.event(&Event::TrialDone(record));
        Ok(())
    }
}
