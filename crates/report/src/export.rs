//! The trials of a run in formats of other tools. These formats take the records one by one.
//!
//! - [`TRIAL_FORMATS`]: every such format; [`TrialPrinter`] says what one must provide;
//! - [`Export`]: a run's records, on their way to one of them.
//!
//! To add one: one file in `export/formats/` and one line in [`TRIAL_FORMATS`].

mod formats;
mod label;
mod trial;

use std::collections::HashMap;

use hopbench_analysis::unusable;
use hopbench_model::{Path, Point, Record, RunFile};

pub use self::formats::{TRIAL_FORMATS, trial_format};
pub use self::trial::Trial;

use self::label::Labels;
use crate::format::Format;

/// Prints trials, one by one.
pub type TrialFormat = Format<TrialPrinter>;

/// How a format prints one trial after the other.
#[derive(Debug, Clone, Copy)]
pub struct TrialPrinter {
    /// The text before the first trial; empty, or ends with a line feed.
    pub head: &'static str,
    /// Prints a trial, with a line feed at the end.
    pub trial: fn(&Trial<'_>) -> String,
    /// The name of a trial's own file, where tools read a file a trial; at most 96 characters
    /// besides its extension.
    pub file: Option<fn(&Trial<'_>) -> TrialFile>,
}

/// The name of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialFile {
    /// Before the point.
    pub stem: String,
    /// After it.
    pub extension: &'static str,
}

/// A trial in the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The text; ends with a line feed.
    pub text: String,
    /// The file that it may have for itself, which no other trial of the run has; `None` where the
    /// format is one file.
    pub file: Option<String>,
}

/// The records of a run on their way to a format.
#[derive(Debug)]
pub struct Export<'a> {
    format: &'static TrialFormat,
    run: &'a RunFile,
    labels: Labels,
    files: HashMap<String, u32>,
    /// Records that are of neither HTTP nor gRPC trials.
    other: u64,
    /// Records that are in no figure.
    unusable: u64,
}

impl<'a> Export<'a> {
    /// No records yet.
    pub fn new(format: &'static TrialFormat, run: &'a RunFile) -> Self {
        Self { format, run, labels: Labels::of(run), files: HashMap::new(), other: 0, unusable: 0 }
    }

    /// The text before the first trial.
    pub fn head(&self) -> &'static str {
        self.format.render.head
    }

    /// A record in the format; `None` for one that is counted in [`Self::notes`] instead.
    pub fn add(&mut self, record: &Record) -> Option<Exported> {
        let Some((path, point)) = self.cell(record) else {
            self.unusable += 1;
            return None;
        };
        if !point.job.kind().is_http() {
            self.other += 1;
            return None;
        }
        let trial =
            Trial { run: self.run, record, path, point, label: self.labels.text(path, point) };
        let usable = record.run_id == self.run.run_id && unusable(record).is_none();
        if !usable || trial.calls() == 0 || trial.histogram().is_none() {
            self.unusable += 1;
            return None;
        }
        let file = self.format.render.file.map(|file| self.unique(file(&trial)));
        Some(Exported { text: (self.format.render.trial)(&trial), file })
    }

    /// Notes for the reader on what was left out.
    pub fn notes(&self) -> Vec<String> {
        let trials = |n| crate::number::counted(n, "trial", "trials");
        let mut out = Vec::new();
        if self.other > 0 {
            out.push(format!(
                "{} left out: {} is for HTTP and gRPC only",
                trials(self.other),
                self.format.name
            ));
        }
        if self.unusable > 0 {
            let why = if self.run.plan.is_imported() {
                "other tools state no distribution of a latency"
            } else {
                "in no figure, or without an answer; `hopbench report` says why"
            };
            out.push(format!("{} left out: {why}", trials(self.unusable)));
        }
        out
    }

    fn cell(&self, record: &Record) -> Option<(&'a Path, &'a Point)> {
        let plan = &self.run.plan;
        let path = plan.paths.iter().find(|path| path.name == record.path)?;
        let of_it =
            |point: &&Point| point.workload == record.workload && point.point == record.point;
        Some((path, plan.points.iter().find(of_it)?))
    }

    fn unique(&mut self, file: TrialFile) -> String {
        let TrialFile { stem, extension } = file;
        let seen = self.files.entry(stem.clone()).or_default();
        *seen += 1;
        match *seen {
            1 => format!("{stem}.{extension}"),
            n => format!("{stem}_{n}.{extension}"),
        }
    }
}
