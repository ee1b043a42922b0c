//! The interim summary of a run in progress.

use std::path::{Path, PathBuf};

use hopbench_model::RunFile;
use hopbench_report::campaign::{RateUnit, RunData, Summary};
use hopbench_run::{Event, results};

use crate::cmd::arguments::in_unit;

/// The records of a run so far, those of earlier sessions among them.
#[derive(Debug)]
pub(super) struct Known {
    /// The results folder.
    dir: PathBuf,
    /// Absent before the run has started.
    data: Option<RunData>,
    /// The unit of throughput that was asked for.
    unit: Option<RateUnit>,
}

impl Known {
    /// Of the run in this folder, with throughput in this unit.
    pub(super) fn new(dir: &Path, unit: Option<RateUnit>) -> Self {
        Self { dir: dir.to_owned(), data: None, unit }
    }

    /// Takes what an event says of the figures.
    pub(super) fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::RunStarted { run, .. } => self.data = Some(self.begun(run)),
            Event::TrialDone(record) => {
                if let Some(data) = &mut self.data {
                    data.add(record);
                }
            }
            _ => {}
        }
    }

    fn begun(&self, run: &RunFile) -> RunData {
        let mut data = RunData::new(run).without_distributions();
        if run.session > 1
            && let Ok((_, records)) = results::open(&self.dir)
        {
            records.map_while(Result::ok).for_each(|record| data.add(&record));
        }
        data
    }

    /// The summary so far, as a report of the folder would have it. `run`: what `run.json` says
    /// now, if it may be something new.
    pub(super) fn summary(&mut self, run: Option<&RunFile>) -> Option<Summary> {
        let data = self.data.as_mut()?;
        if let Some(run) = run {
            data.update(run);
        }
        Some(in_unit(data.clone().into_summary(), self.unit))
    }
}
