//! A run of hopbench, and the verdict that each of its first rounds would have given.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use hopbench_analysis::text::seconds_between;
use hopbench_analysis::{Outcome, RatioSummary, RunData, Summary};
use hopbench_model::{Record, RunFile, record_of_line};

use crate::process::Invocation;

/// What a run may take beyond its length.
const SLACK: Duration = Duration::from_secs(120);
/// The most prefixes of a run that are judged.
const LOOKS: usize = 60;

/// Starts runs.
#[derive(Debug)]
pub(super) struct Runner {
    hopbench: PathBuf,
    scratch: tempfile::TempDir,
}

/// The results of a run.
#[derive(Debug)]
pub(super) struct Folder {
    run: RunFile,
    records: Vec<Record>,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Called {
    /// A difference; whether it is an increase.
    Different(bool),
    /// The same within this share.
    Same(f64),
    /// Neither.
    Open,
}

/// The verdict of a run's first rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    /// From the start of the run to the end of the last of these rounds, s.
    pub(super) at_s: f64,
    pub(super) called: Called,
}

impl Runner {
    /// Runs of this binary.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub(super) fn new(hopbench: PathBuf) -> Result<Self> {
        Ok(Self { hopbench, scratch: tempfile::tempdir().context("temporary directory")? })
    }

    /// A folder for files that are not needed afterwards.
    pub(super) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs a scenario that takes about so long, with these words behind it.
    ///
    /// # Errors
    /// When the run fails.
    pub(super) fn run(&self, scenario: &str, words: &[&str], takes: Duration) -> Result<Folder> {
        let folder = tempfile::tempdir_in(self.scratch()).context("temporary directory")?;
        let out = folder.path().join("run").display().to_string();
        let words = [&["run", scenario, "--out", &out], words].concat();
        Invocation::new("machine", &self.hopbench, &words)
            .run(self.scratch(), takes * 2 + SLACK)?;
        Folder::read(Path::new(&out))
    }

    /// The same with a scenario as text.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn run_text(&self, scenario: &str, takes: Duration) -> Result<Folder> {
        let file = self.scratch().join("scenario.yaml");
        std::fs::write(&file, scenario).with_context(|| file.display().to_string())?;
        self.run(&file.display().to_string(), &[], takes)
    }
}

impl Folder {
    fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let file = folder.join(name);
            std::fs::read_to_string(&file).with_context(|| file.display().to_string())
        };
        let run: RunFile = serde_json::from_str(&text("run.json")?).context("run.json")?;
        let lines = text("records.jsonl")?;
        let records = lines.lines().map(|line| record_of_line(line.as_bytes(), &run.shared));
        let records: Vec<Record> = records.collect::<Result<_, _>>().context("records.jsonl")?;
        Ok(Self { run, records })
    }

    /// The summary of the whole run.
    pub(super) fn summary(&self) -> Summary {
        self.first(u32::MAX)
    }

    /// The summary of the rounds up to this one.
    fn first(&self, rounds: u32) -> Summary {
        let mut data = RunData::new(&self.run);
        let within = |record: &&Record| record.round <= rounds;
        self.records.iter().filter(within).for_each(|record| data.add(record));
        data.into_summary()
    }

    /// The ratio of a figure of the path `other` to the baseline, after all rounds.
    pub(super) fn ratio(&self, figure: &str) -> Option<f64> {
        ratio_of(&self.summary(), figure)?.spread.as_ref().map(|spread| spread.median)
    }

    /// A figure of each round on a path.
    pub(super) fn values(&self, path: &str, of: impl Fn(&Record) -> Option<f64>) -> Vec<f64> {
        let on_path = |record: &&Record| record.path == path && record.error.is_none();
        self.records.iter().filter(on_path).filter_map(of).collect()
    }

    /// The verdicts on a figure of the path `other` after the first rounds of the run, the last
    /// after all of them.
    ///
    /// # Errors
    /// When the run has no such rounds.
    pub(super) fn looks(&self, figure: &str) -> Result<Vec<Look>> {
        let last = self.records.iter().map(|record| record.round).max();
        let last = last.context("the run has no rounds")?;
        let step = (last as usize).div_ceil(LOOKS).max(1);
        let ends = (1..last).step_by(step).chain([last]);
        ends.map(|rounds| {
            // A round ends where the next begins.
            let mut later = self.records.iter().filter(|record| record.round > rounds);
            let next = later.next().map(|record| record.started_at.as_str());
            let end = next.or(self.run.ended_at.as_deref()).context("the run has no end")?;
            let at_s = elapsed_s(&self.run.started_at, end)
                .with_context(|| format!("time from {} to {end}", self.run.started_at))?;
            Ok(Look { at_s, called: called(&self.first(rounds), figure) })
        })
        .collect()
    }
}

/// The ratio of a figure on the path `other` to the baseline's, from a summary.
fn ratio_of<'a>(summary: &'a Summary, figure: &str) -> Option<&'a RatioSummary> {
    let cells = summary.workloads.iter().flat_map(|workload| &workload.cells);
    cells.filter(|cell| cell.path == "other").find_map(|cell| cell.figure(figure)?.ratio.as_ref())
}

/// The verdict of a summary on a figure of the path `other`.
fn called(summary: &Summary, figure: &str) -> Called {
    let ratio = ratio_of(summary, figure);
    let Some((ratio, verdict)) = ratio.and_then(|ratio| Some((ratio, ratio.verdict.as_ref()?)))
    else {
        return Called::Open;
    };
    match verdict.outcome {
        Outcome::Same => verdict.within.map_or(Called::Open, Called::Same),
        outcome if outcome.is_called() => {
            Called::Different(ratio.spread.as_ref().is_some_and(|spread| spread.median > 1.0))
        }
        _ => Called::Open,
    }
}

/// The time between two moments, s.
fn elapsed_s(start: &str, end: &str) -> Option<f64> {
    // `seconds_between` cuts fractions off, and has no negative result.
    let part = |text: &str| {
        let (_, part) = text.split_once('.')?;
        format!("0.{}", part.trim_end_matches('Z')).parse::<f64>().ok()
    };
    let whole = seconds_between(start, end)? as f64;
    Some(whole + part(end).unwrap_or(0.0) - part(start).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{RecordLines, SharedParts};

    use super::*;

    /// A folder whose records share parts, as runs write them.
    #[test]
    fn records_that_share_parts_are_read() {
        let seed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/results/some");
        let seed = std::fs::read_to_string(seed).unwrap();
        let (run, old) = seed.split_once("\n%\n").unwrap();
        let mut run: RunFile = serde_json::from_str(run).unwrap();
        let mut lines = RecordLines::default();
        let mut text = String::new();
        let mut records = Vec::new();
        for line in old.lines() {
            records.push(record_of_line(line.as_bytes(), &run.shared).unwrap());
            text += &lines.line(&records[records.len() - 1]).unwrap();
        }
        run.shared = lines.parts().clone();
        assert_ne!(run.shared, SharedParts::default());
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write("run.json", &serde_json::to_string(&run).unwrap()).unwrap();
        write("records.jsonl", &text).unwrap();
        assert_eq!(Folder::read(folder.path()).unwrap().records, records);
    }

    #[test]
    fn time_has_parts_of_seconds() {
        let of = |end| elapsed_s("2026-03-01T12:00:00.75Z", end);
        assert_eq!(of("2026-03-01T12:00:02.25Z"), Some(1.5));
        assert_eq!(of("2026-03-01T12:01:00Z"), Some(59.25));
        assert_eq!(of("2025-03-01T12:01:00Z"), None);
    }
}
