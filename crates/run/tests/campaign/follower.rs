//! An observer for tests, and the running of campaigns.

use std::path::Path;

use hopbench_agent::hello;
use hopbench_model::{Fault, Plan, Record, RunFile, SearchStep, Tick};
use hopbench_run::results::{Folder, TrialId, read};
use hopbench_run::{Campaign, CellsEnded, Ended, Event, Finished, Observer, new_run};
use hopbench_testbed::Testbed;
use hopbench_wire::Role;

/// Writes down what happens; interrupts after so many ticks.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    pub(crate) started: Vec<TrialId>,
    pub(crate) notes: Vec<String>,
    pub(crate) given_up: Vec<(String, u32, usize)>,
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) left: usize,
    pub(crate) done: usize,
    pub(crate) ticks: usize,
    /// Of each trial its number, and how many there were to be.
    pub(crate) numbers: Vec<(usize, usize)>,
    /// Rounds of a stop rule: number, cells in it, widest interval.
    pub(crate) rounds: Vec<(u32, usize, Option<f64>)>,
    pub(crate) cells_ended: Option<CellsEnded>,
    pub(crate) enough_after_ticks: Option<usize>,
    /// Searches of the run, and those that were left.
    pub(crate) searches: (usize, usize),
    /// Trials of searches, by path.
    pub(crate) searched: Vec<(String, SearchStep)>,
    /// What was found, with the figure there.
    pub(crate) found: Vec<(String, SearchStep, Option<f64>)>,
    /// What the last event said of the fault; `None`: it was not the last event of a run.
    pub(crate) over: Option<Option<String>>,
}

impl Observer for Follower {
    fn event(&mut self, event: &Event<'_>) {
        self.over = None;
        match event {
            Event::RunStarted { left, .. } => self.left = *left,
            Event::Note(note) => self.notes.push((*note).to_owned()),
            Event::CellSkipped(cell) => {
                self.skipped.push(format!("{}: {}", cell.path, cell.reason));
            }
            Event::RoundStarted { round, open, widest_share, .. } => {
                self.rounds.push((*round, *open, *widest_share));
            }
            Event::RoundsDone { ended, .. } => self.cells_ended = Some(*ended),
            Event::TrialStarted { trial, number, trials, .. } => {
                self.started.push((*trial).clone());
                self.numbers.push((*number, *trials));
            }
            Event::TrialDone(_) => self.done += 1,
            Event::TrialFailed(failure) => self.failed.push(failure.reason.clone()),
            Event::SearchesStarted { searches, left } => self.searches = (*searches, *left),
            Event::SearchTrialStarted { .. } => {}
            Event::SearchStep { path, step, .. } => {
                self.searched.push(((*path).to_owned(), (*step).clone()));
            }
            Event::SearchDone { path, step, value, .. } => {
                self.found.push(((*path).to_owned(), (*step).clone(), *value));
            }
            Event::PathGivenUp { path, round, trials } => {
                self.given_up.push(((*path).to_owned(), *round, *trials));
            }
            Event::RunDone { fault, .. } => self.over = Some(fault.map(|fault| fault.text.clone())),
        }
    }

    fn tick(&mut self, _: Role, _: usize, _: &Tick) {
        self.ticks += 1;
    }

    fn interrupted(&self) -> bool {
        self.enough_after_ticks.is_some_and(|most| self.ticks >= most)
    }
}

/// Runs a plan into a new folder.
pub(crate) fn run(
    plan: Plan,
    dir: &Path,
    bed: &mut dyn Testbed,
    follower: &mut Follower,
) -> Result<Ended, Fault> {
    let ours = hello();
    let folder = Folder::create(dir, new_run(plan, "name: test\n".to_owned(), &ours)?)?;
    over(Campaign::new(folder, ours).run(bed, follower), follower)
}

/// Goes on with the run in a folder.
pub(crate) fn resume(
    dir: &Path,
    bed: &mut dyn Testbed,
    follower: &mut Follower,
) -> Result<Ended, Fault> {
    let (folder, resumed) = Folder::resume(dir)?;
    over(Campaign::resume(folder, resumed, hello()).run(bed, follower), follower)
}

/// How it went; whoever looked on heard the same, last of all.
fn over(finished: Finished, follower: &Follower) -> Result<Ended, Fault> {
    let Finished { ended, fault, .. } = finished;
    assert_eq!(follower.over, Some(fault.as_ref().map(|fault| fault.text.clone())));
    fault.map_or(Ok(ended), Err)
}

/// What is in a folder.
pub(crate) fn contents(dir: &Path) -> (RunFile, Vec<Record>) {
    let (run, records, notes) = read(dir).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    (run, records)
}
