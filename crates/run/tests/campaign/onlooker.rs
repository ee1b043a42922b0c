//! Who looks on in tests, and runs campaigns.

use std::path::Path;

use hopbench_agent::hello;
use hopbench_model::{Fault, Plan, Record, RunFile, Tick};
use hopbench_run::results::{Folder, TrialId, read};
use hopbench_run::{Campaign, Ended, Event, Observer, new_run};
use hopbench_wire::Role;

use crate::bed::Bed;

/// Writes down what happens; interrupts after so many ticks.
#[derive(Debug, Default)]
pub(crate) struct Onlooker {
    pub(crate) started: Vec<TrialId>,
    pub(crate) notes: Vec<String>,
    pub(crate) given_up: Vec<(String, u32, usize)>,
    pub(crate) failed: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) left: usize,
    pub(crate) done: usize,
    pub(crate) ticks: usize,
    pub(crate) enough_after_ticks: Option<usize>,
}

impl Observer for Onlooker {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { left, .. } => self.left = *left,
            Event::Note(note) => self.notes.push((*note).to_owned()),
            Event::CellSkipped(cell) => self.skipped.push(format!("{}: {}", cell.path, cell.reason)),
            Event::TrialStarted { trial, .. } => self.started.push((*trial).clone()),
            Event::TrialDone(_) => self.done += 1,
            Event::TrialFailed(failure) => self.failed.push(failure.reason.clone()),
            Event::PathGivenUp { path, round, trials } => self.given_up.push(((*path).to_owned(), *round, *trials)),
            Event::RunDone { .. } => {}
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
pub(crate) fn run(plan: Plan, dir: &Path, bed: &mut Bed, onlooker: &mut Onlooker) -> Result<Ended, Fault> {
    let ours = hello();
    let folder = Folder::create(dir, new_run(plan, "name: test\n".to_owned(), &ours)?)?;
    Campaign::new(folder, ours).run(bed, onlooker).map(|(_, ended)| ended)
}

/// Goes on with the run in a folder.
pub(crate) fn resume(dir: &Path, bed: &mut Bed, onlooker: &mut Onlooker) -> Result<Ended, Fault> {
    let (folder, resumed) = Folder::resume(dir)?;
    Campaign::resume(folder, resumed, hello()).run(bed, onlooker).map(|(_, ended)| ended)
}

/// What is in a folder.
pub(crate) fn contents(dir: &Path) -> (RunFile, Vec<Record>) {
    let (run, records, notes) = read(dir).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    (run, records)
}
