//! The events of a campaign, for an observer.

use hopbench_model::{
    Failure, Fault, Job, Nanos, Record, RunFile, SearchGoal, SearchOutcome, SearchStep, Skipped,
    Tick,
};
use hopbench_wire::Role;

use super::stopping::CellsEnded;
use crate::results::TrialId;

/// Something that happened in a campaign, in the order of happening.
#[derive(Debug)]
pub enum Event<'a> {
    /// The testbed stands; trials follow.
    RunStarted {
        /// What `run.json` says.
        run: &'a RunFile,
        /// Trials of the whole run; with a stop rule as many as the values so far let expect, and
        /// the fewest without any.
        trials: usize,
        /// Those that are left: all, but for a run that was resumed.
        left: usize,
    },
    /// Something that a person should know.
    Note(&'a str),
    /// A cell that is not measured in any round.
    CellSkipped(&'a Skipped),
    /// A round of cells that a stop rule lets go on begins.
    RoundStarted {
        /// The round, from 1.
        round: u32,
        /// Cells in it.
        open: usize,
        /// Cells that have rounds at all.
        cells: usize,
        /// Half the width of the widest interval of the cells in it, as a share; absent: none has
        /// one yet.
        widest_share: Option<f64>,
        /// Half the width that is narrow enough, as a share.
        goal_share: f64,
    },
    /// The rounds are over, or were ended, where a stop rule ends them.
    RoundsDone {
        /// Why they ended.
        ended: CellsEnded,
        /// The most rounds that the plan allows.
        rounds: u32,
    },
    /// A trial begins; nothing is under load yet.
    TrialStarted {
        /// What `run.json` says now.
        run: &'a RunFile,
        /// Which.
        trial: &'a TrialId,
        /// Its place among all trials of the run, from 1.
        number: usize,
        /// Trials of the whole run; an estimate where a stop rule ends the rounds.
        trials: usize,
        /// Its place in its round, from 1.
        cell: usize,
        /// Cells of its round.
        cells: usize,
        /// Rounds of the run, at most.
        rounds: u32,
        /// What each client does.
        job: &'a Job,
        /// Time that this trial and those after it take, as the ones before suggest, ns.
        left_ns: Nanos,
    },
    /// A trial left a record; it may be incomplete, or an error.
    TrialDone(&'a Record),
    /// A trial failed. Where something was measured before, its record came first.
    TrialFailed(&'a Failure),
    /// The rest of a path's trials in this round are not tried.
    PathGivenUp {
        /// The path's name.
        path: &'a str,
        /// The round, from 1.
        round: u32,
        /// Trials that are not tried.
        trials: usize,
    },
    /// The rounds are over; searches follow.
    SearchesStarted {
        /// Searches of the whole run.
        searches: usize,
        /// Those that are not over and can go on: all, but for a run that was resumed.
        left: usize,
    },
    /// A trial of a search begins, or one at a load that was found on another path.
    SearchTrialStarted {
        /// Which; its point has the load.
        trial: &'a TrialId,
        /// The pass, from 1: in each, every search that is not over has a trial.
        pass: u32,
        /// Its place in the pass, from 1; places of those that are over stay empty.
        place: usize,
        /// Places in a pass.
        of: usize,
        /// What each client does.
        job: &'a Job,
    },
    /// A trial of a search showed something; its record came first.
    SearchStep {
        /// The path's name.
        path: &'a str,
        /// The workload's name.
        workload: &'a str,
        /// The point, as reports write it, without the load.
        point: &'a str,
        /// What the search is for.
        goal: &'a SearchGoal,
        /// The trial.
        step: &'a SearchStep,
        /// The load that comes next; absent: none does.
        next: Option<f64>,
    },
    /// A search over a parameter is over.
    SearchDone {
        /// The path's name.
        path: &'a str,
        /// The workload's name.
        workload: &'a str,
        /// The point, as reports write it, without the load.
        point: &'a str,
        /// Its last trial.
        step: &'a SearchStep,
        /// What it came to.
        outcome: SearchOutcome,
        /// The figure at the load that was found; absent: none was, or it lies between loads that
        /// were measured.
        value: Option<f64>,
    },
    /// The campaign is over, and all it measured is on the disk. Comes last, and always.
    RunDone {
        /// What `run.json` says.
        run: &'a RunFile,
        /// Its result.
        ended: &'a Ended,
        /// What ended it before its time.
        fault: Option<&'a Fault>,
    },
}

/// How a campaign went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ended {
    /// Records that were written now, with figures that can be used.
    pub good: usize,
    /// Records that were written now and are errors: a proof or an invariant does not hold.
    pub errors: usize,
    /// Trials that failed now, or were not tried because those before them failed.
    pub failures: usize,
    /// The user ended it before all was measured. Rounds that have a budget are simply fewer then.
    pub interrupted: bool,
}

/// An observer of a campaign.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);

    /// The state of one end, number `end` of its side, at the end of an interval.
    fn tick(&mut self, role: Role, end: usize, tick: &Tick);

    /// Whether the user wants the campaign to end now.
    fn interrupted(&self) -> bool;
}
