//! The campaign: every cell of a plan in rounds, then the searches, on a testbed.

mod advice;
mod budget;
mod event;
mod meters;
mod profiles;
mod rounds;
mod searches;
mod sessions;
mod start;
mod stopping;
mod supported;
mod trial;

use std::collections::BTreeSet;

use hopbench_model::secret::Secrets;
use hopbench_model::{
    Bounds, Cell, Fault, Job, Nanos, Path, Plan, Point, Record, RunFile, RunStatus, SECOND,
    TestbedSpec, Tick,
};
use hopbench_sys::clock;
use hopbench_testbed::Testbed;
use hopbench_wire::{Hello, Role};

use crate::conduct::Watcher;
use crate::results::{CellName, Folder, Resumed, Searched, TrialId};
use budget::Budget;
pub use event::{Ended, Event, Observer};
use meters::Meters;
pub use profiles::choice::{MOST_PROFILES, Profiling};
pub use rounds::order::order;
use searches::{SearchDriver, bounds};
use sessions::Sessions;
pub use start::{new_run, same_build};
pub use stopping::{CellsEnded, looked_at_instead};
pub use supported::{measurable, uncompared};
use trial::{CellTrial, Done, Measured};

/// A trial in whose time the testbed changed is measured again, so often at most.
const MOST_REPEATS: usize = 2;
/// Between two tries of a trial whose clients were not let in, while the testbed settles, ns.
const SETTLING: Nanos = SECOND;
/// An estimate of what a trial takes beyond its warm-up and window, ns, until some were measured.
/// On clusters orders travel, and nodes are asked for their counters before and after.
pub fn trial_overhead_ns(testbed: &TestbedSpec) -> Nanos {
    match testbed {
        TestbedSpec::Lab(_) | TestbedSpec::Hosts(_) => SECOND * 6 / 100,
        TestbedSpec::Kubernetes(_) => SECOND * 95 / 1000,
    }
}

/// A plan, the folder of its results, and what was measured of it before.
#[derive(Debug)]
pub struct Campaign {
    folder: Folder,
    ours: Hello,
    done: BTreeSet<TrialId>,
    /// Trials of searches that were measured before.
    searched: Vec<Searched>,
    notes: Vec<String>,
    secrets: Secrets,
    ended: Ended,
    budget: Budget,
    /// Time for the rounds alone, where the plan says it.
    rounds_budget: Option<Budget>,
    /// What trials took beyond warm-up and window, summed, ns, and how many there were. Visits need
    /// a shorter warm-up than planned: it may be less than nothing.
    overhead: (i64, u64),
    /// The cells that are profiled when all is measured.
    profiling: Option<Profiling>,
}

/// A campaign that is over.
#[derive(Debug)]
pub struct Finished {
    /// The folder of its results.
    pub folder: Folder,
    /// Its result.
    pub ended: Ended,
    /// What ended it before its time: a testbed that cannot be built, a folder that cannot be
    /// written any more. What was measured until then is in the folder.
    pub fault: Option<Fault>,
}

/// What and who a trial needs.
struct Around<'a> {
    plan: &'a Plan,
    testbed: &'a mut dyn Testbed,
    sessions: &'a mut Sessions,
    meters: &'a mut Meters,
    observer: &'a mut dyn Observer,
    /// The largest jobs of the plan.
    bounds: Bounds,
}

/// What comes after a trial.
enum Next {
    /// It left this record, whole; it may be an error all the same.
    Good(Box<Record>),
    Failed,
    /// The user had enough.
    Stop {
        /// Whether it left a whole record before.
        made: bool,
    },
}

impl Campaign {
    /// A campaign that starts from nothing, in a new folder.
    pub fn new(folder: Folder, ours: Hello) -> Self {
        Self::resume(folder, Resumed::default(), ours)
    }

    /// A campaign that goes on where its folder's run ended.
    pub fn resume(folder: Folder, resumed: Resumed, ours: Hello) -> Self {
        let Resumed { done, searched, mut notes } = resumed;
        notes.extend(start::differences(folder.run(), &ours));
        let budget = Budget::of(&folder.run().plan);
        let rounds_budget = Budget::of_rounds(folder.run());
        let secrets = Secrets::default();
        Self {
            folder,
            ours,
            done,
            searched,
            notes,
            secrets,
            ended: Ended::default(),
            budget,
            rounds_budget,
            overhead: (0, 0),
            profiling: None,
        }
    }

    /// The same with the secrets of the plan, which no file has.
    #[must_use]
    pub fn with_secrets(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// The same with profiles of some cells, when all else is measured.
    #[must_use]
    pub fn with_profiles(self, profiling: Option<Profiling>) -> Self {
        Self { profiling, ..self }
    }

    /// Runs what is left of the plan. The testbed is up while it runs and down afterwards, however
    /// it ends.
    ///
    /// A trial that fails does not end the campaign; it stands in `run.json`, or as an incomplete
    /// record. What the user interrupts keeps what was measured.
    pub fn run(mut self, testbed: &mut dyn Testbed, observer: &mut dyn Observer) -> Finished {
        let result = self.on(testbed, observer);
        testbed.down();
        let ended = self.ended;
        let whole =
            result.is_ok() && ended.failures == 0 && ended.errors == 0 && !ended.interrupted;
        let closed = self.folder.update(|run| {
            run.status = if whole { RunStatus::Complete } else { RunStatus::Incomplete };
            run.ended_at = Some(start::now());
        });
        let fault = result.and(closed).err();
        observer.event(&Event::RunDone {
            run: self.folder.run(),
            ended: &ended,
            fault: fault.as_ref(),
        });
        Finished { folder: self.folder, ended, fault }
    }

    fn on(&mut self, testbed: &mut dyn Testbed, observer: &mut dyn Observer) -> Result<(), Fault> {
        let mut whole = self.folder.run().plan.clone();
        whole.rounds = whole.most_rounds();
        let (plan, unmeasurable) = supported::supported(&whole, testbed)?;
        let (skipped, lost) =
            supported::lost(unmeasurable, self.folder.run(), &self.done, &self.searched);
        testbed.up(&plan)?;
        let facts = testbed.facts();
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(start::rebuilt(&self.folder.run().testbed, &facts));
        notes.extend(supported::without_them(&whole, &lost.cells));
        let uncompared = uncompared(&whole, &skipped);
        self.folder.update(|run| {
            run.status = RunStatus::Running;
            run.ended_at = None;
            run.testbed = facts;
            run.skipped.clone_from(&skipped);
            note(run, &notes, &uncompared);
        })?;
        notes.iter().chain(&uncompared).for_each(|note| observer.event(&Event::Note(note)));
        skipped.iter().for_each(|cell| observer.event(&Event::CellSkipped(cell)));
        let mut sessions = Sessions::new(self.ours.clone());
        let mut meters = Meters::default();
        let bounds = bounds(&plan);
        let mut around = Around {
            plan: &plan,
            testbed,
            sessions: &mut sessions,
            meters: &mut meters,
            observer,
            bounds,
        };
        let gone = lost
            .searches
            .into_iter()
            .filter_map(|(cell, reason)| SearchDriver::gone(&whole, cell, reason))
            .collect();
        let walked =
            self.walk(&mut around, lost.trials).and_then(|()| self.search(&mut around, gone));
        if walked.is_ok() {
            self.profile(&mut around);
        }
        sessions.close();
        walked
    }

    /// One trial, to its record or its failure on the disk.
    fn one(&mut self, cell: Cell, round: u32, around: &mut Around<'_>) -> Result<Next, Fault> {
        let (path, point) = around.plan.at(cell);
        let trial = CellName::of(around.plan, cell).trial(round);
        let measured = self.attempt(path, point, round, &trial, around);
        let observer = &mut *around.observer;
        let interrupted = observer.interrupted();
        let mut recorded = false;
        let reason = match measured {
            // Nothing was measured yet when the user had enough.
            Err(_) if interrupted => return Ok(Next::Stop { made: false }),
            Err(fault) => fault.text,
            Ok(done) => {
                let record = &done.record;
                let made = record.incomplete.is_none();
                // A round of a budget that the user cut is only shorter: nothing is missing.
                if interrupted && !made && around.plan.budget_ns.is_some() {
                    return Ok(Next::Stop { made });
                }
                if record.window_s > 0.0 {
                    self.folder.append(record)?;
                    recorded = true;
                    self.ended.good += usize::from(record.is_usable());
                    self.ended.errors += usize::from(record.error.is_some());
                    observer.event(&Event::TrialDone(record));
                }
                match done.failure() {
                    _ if interrupted => return Ok(Next::Stop { made }),
                    None => return Ok(Next::Good(Box::new(done.record))),
                    Some(why) => why,
                }
            }
        };
        self.fail(trial, reason, recorded, observer)?;
        Ok(Next::Failed)
    }

    /// Measures once; again where the testbed changed meanwhile, or nobody was let in yet.
    fn attempt(
        &self,
        path: &Path,
        point: &Point,
        round: u32,
        trial: &TrialId,
        around: &mut Around<'_>,
    ) -> Result<Done, Fault> {
        let Around { testbed, sessions, meters, observer, bounds, .. } = around;
        let RunFile { run_id, session, plan, .. } = self.folder.run();
        let (session, bounds, stays) = (*session, *bounds, plan.stay_connected);
        let secrets = &self.secrets;
        let trial_of = CellTrial { run_id, session, path, point, round, stays, bounds, secrets };
        let mut disturbed: Vec<String> = Vec::new();
        loop {
            let Measured { result, changes, barred } =
                trial_of.measure(&mut **testbed, sessions, meters, &mut Looker(&mut **observer));
            if barred && testbed.is_settling() && !observer.interrupted() {
                clock::sleep_until(clock::now() + SETTLING);
                continue;
            }
            if changes.is_empty() || disturbed.len() >= MOST_REPEATS || observer.interrupted() {
                let mut told = trial::changes::told(result, &changes, &disturbed);
                if let Ok(done) = &mut told {
                    advice::suit(&mut done.record, point.search.as_ref());
                }
                return told;
            }
            let what = changes.join("; ");
            observer.event(&Event::Note(&format!(
                "{} {} {}: measured again, as the testbed changed: {what}",
                trial.path, trial.workload, trial.point
            )));
            disturbed.push(what);
        }
    }

    /// A trial failed. One that left a record is not written down twice: the record says why.
    fn fail(
        &mut self,
        trial: TrialId,
        reason: String,
        recorded: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), Fault> {
        let failure = trial.failed(reason);
        self.ended.failures += 1;
        if !recorded {
            self.folder.fail(failure.clone())?;
        }
        observer.event(&Event::TrialFailed(&failure));
        Ok(())
    }

    /// Time that a trial will take.
    fn trial_ns(&self, job: &Job) -> Nanos {
        let (sum, count) = self.overhead;
        let mean = i64::try_from(count).ok().and_then(|count| sum.checked_div(count));
        let mean = mean
            .unwrap_or_else(|| trial_overhead_ns(&self.folder.run().plan.testbed).cast_signed());
        least_ns(job).saturating_add_signed(mean).max(1)
    }

    /// Notes what a trial took beyond its warm-up and window, with the pause before it.
    fn learn(&mut self, job: &Job, began: Nanos, ended_at: &mut Option<Nanos>, good: bool) {
        let now = clock::now();
        let since = ended_at.replace(now).unwrap_or(began);
        if good {
            let took = (now - since).cast_signed();
            self.overhead.0 += took.saturating_sub_unsigned(least_ns(job));
            self.overhead.1 += 1;
        }
    }
}

/// Adds what is to be known of this session to what is known of those before.
fn note(run: &mut RunFile, notes: &[String], uncompared: &[String]) {
    let session = run.session;
    run.notes.extend(notes.iter().map(|note| format!("session {session}: {note}")));
    // The same in every session.
    for note in uncompared {
        if !run.notes.contains(note) {
            run.notes.push(note.clone());
        }
    }
}

fn least_ns(job: &Job) -> Nanos {
    job.timing.warmup_ns.saturating_add(job.timing.window_ns)
}

/// Looks at one trial for whoever looks at the campaign.
struct Looker<'a>(&'a mut dyn Observer);

impl Watcher for Looker<'_> {
    fn tick(&mut self, role: Role, end: usize, tick: &Tick) {
        self.0.tick(role, end, tick);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
