//! What a campaign tells whoever looks on.

use hopbench_model::{Failure, Fault, Job, Nanos, Record, RunFile, Skipped, Tick};
use hopbench_wire::Role;

use crate::results::TrialId;

/// Something that happened in a campaign, in the order of happening.
#[derive(Debug)]
pub enum Event<'a> {
    /// The testbed stands; trials follow.
    RunStarted {
        /// What `run.json` says.
        run: &'a RunFile,
        /// Trials of the whole run.
        trials: usize,
        /// Those that are left: all, but for a run that was resumed.
        left: usize,
    },
    /// Something that a person should know.
    Note(&'a str),
    /// A cell that is not measured in any round.
    CellSkipped(&'a Skipped),
    /// A trial begins.
    TrialStarted {
        /// Which.
        trial: &'a TrialId,
        /// Its place among all trials of the run, from 1.
        number: usize,
        /// Trials of the whole run.
        trials: usize,
        /// Its place in its round, from 1.
        cell: usize,
        /// Cells of a round.
        cells: usize,
        /// Rounds of the run.
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
    /// The campaign is over, and all it measured is on the disk. Comes last, and always.
    RunDone {
        /// What `run.json` says.
        run: &'a RunFile,
        /// How it went.
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
    /// The user ended it.
    pub interrupted: bool,
}

/// Who looks on.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);

    /// The state of one end, number `end` of its side, at the end of an interval.
    fn tick(&mut self, role: Role, end: usize, tick: &Tick);

    /// Whether the user wants the campaign to end now.
    fn interrupted(&self) -> bool;
}
