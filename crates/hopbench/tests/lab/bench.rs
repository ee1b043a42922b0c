//! `hopbench run` on scenarios of a test, and what it leaves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use hopbench_model::{Record, RunFile, record_of_line};

use super::program::{Finished, Running, binary};
use super::user::User;

/// The files of a run that went to its end.
pub(crate) const FILES: [&str; 6] =
    ["agents.log", "records.jsonl", "report.html", "run.json", "summary.csv", "trials.log"];

/// A folder with a scenario, where a user runs the binary.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) user: User,
    binary: PathBuf,
    /// The binary, the scenario and `tmp`, the folder for what is temporary.
    home: tempfile::TempDir,
    /// The working directory, for the results alone.
    work: tempfile::TempDir,
}

impl Bench {
    /// With this scenario.
    pub(crate) fn new(user: User, scenario: &str) -> Self {
        Self::with(user, scenario, &binary())
    }

    /// With a binary that is somewhere else.
    pub(crate) fn with(user: User, scenario: &str, binary: &Path) -> Self {
        let (home, work) = (user.folder(), user.folder());
        let binary = user.binary(binary, home.path());
        std::fs::write(home.path().join("scenario.yaml"), scenario).expect("a scenario");
        Self { user, binary, home, work }
    }

    /// The scenario's file.
    pub(crate) fn scenario(&self) -> String {
        self.home.path().join("scenario.yaml").to_string_lossy().into_owned()
    }

    /// Where the results go that [`Bench::start`] asks for.
    pub(crate) fn out(&self) -> PathBuf {
        self.work.path().join("out")
    }

    /// The working directory.
    pub(crate) fn work(&self) -> &Path {
        self.work.path()
    }

    /// The binary with these arguments.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.user.command(&self.binary);
        command.args(arguments).current_dir(self.work.path());
        command.env_remove("HOME").env_remove("HOPBENCH_TOKEN").env("TMPDIR", self.home.path());
        command.env("PATH", super::namespace::path());
        command
    }

    /// `hopbench run` on the scenario, with its results in [`Bench::out`].
    pub(crate) fn start(&self, more: &[&str]) -> Running {
        let (scenario, out) = (self.scenario(), self.out());
        let arguments = ["run", &scenario, "--out", &out.to_string_lossy()];
        Running::start(&mut self.command(&[&arguments, more].concat()))
    }

    /// The same to its end.
    pub(crate) fn run(&self, more: &[&str]) -> Finished {
        self.start(more).finish()
    }

    /// `hopbench run --resume` on the results.
    pub(crate) fn start_resume(&self, more: &[&str]) -> Running {
        let out = self.out();
        let arguments = ["run", "--resume", &out.to_string_lossy()];
        Running::start(&mut self.command(&[&arguments, more].concat()))
    }

    /// The same to its end.
    pub(crate) fn resume(&self, more: &[&str]) -> Finished {
        self.start_resume(more).finish()
    }

    /// What the run left.
    pub(crate) fn results(&self) -> Results {
        Results::read(&self.out())
    }
}

/// A results folder.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) run: RunFile,
    pub(crate) records: Vec<Record>,
    /// The records as they were written.
    pub(crate) lines: Vec<String>,
    /// Bytes after the last whole line.
    pub(crate) cut: usize,
    /// The names of its files.
    pub(crate) files: BTreeSet<String>,
}

/// What no two complete records share: path, workload, point, round.
pub(crate) type Trial = (String, String, String, u32);

impl Results {
    /// Reads a folder in which nobody writes any more; every whole line is a record.
    pub(crate) fn read(folder: &Path) -> Self {
        let text = std::fs::read(folder.join("run.json"))
            .unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let run: RunFile = serde_json::from_slice(&text).expect("a whole run.json");
        let text = std::fs::read_to_string(folder.join("records.jsonl")).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let lines: Vec<String> = text[..whole].lines().map(str::to_owned).collect();
        let parse = |line: &String| {
            record_of_line(line.as_bytes(), &run.shared)
                .unwrap_or_else(|e| panic!("not a record: {e}: {line}"))
        };
        let names = std::fs::read_dir(folder).expect("a folder").flatten();
        let records = lines.iter().map(parse).collect();
        Self {
            run,
            records,
            lines,
            cut: text.len() - whole,
            files: names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
        }
    }

    /// How often each trial has a record.
    pub(crate) fn trials(&self) -> BTreeMap<Trial, usize> {
        let mut out = BTreeMap::new();
        for record in &self.records {
            *out.entry(trial(record)).or_default() += 1;
        }
        out
    }

    /// The trials that the plan asks for, once each, but for the cells that are skipped.
    pub(crate) fn planned(&self) -> BTreeMap<Trial, usize> {
        let plan = &self.run.plan;
        let skipped: BTreeSet<(&str, &str)> = self
            .run
            .skipped
            .iter()
            .map(|cell| (cell.path.as_str(), cell.workload.as_str()))
            .collect();
        let cells = plan.cells.iter().map(|cell| plan.at(*cell));
        let cells = cells.filter(|(path, point)| !skipped.contains(&(&path.name, &point.workload)));
        let point_text = |point: &BTreeMap<_, _>| serde_json::to_string(point).expect("JSON");
        cells
            .flat_map(|(path, point)| {
                let cell = (path.name.clone(), point.workload.clone(), point_text(&point.point));
                (1..=plan.rounds)
                    .map(move |round| ((cell.0.clone(), cell.1.clone(), cell.2.clone(), round), 1))
            })
            .collect()
    }

    /// Every trial of the plan has one record, and nothing in any of them is wrong.
    pub(crate) fn whole(&self) {
        assert_eq!(self.trials(), self.planned());
        for record in &self.records {
            good(record);
        }
    }
}

/// The trial of a record.
pub(crate) fn trial(record: &Record) -> Trial {
    let point = serde_json::to_string(&record.point).expect("JSON");
    (record.path.clone(), record.workload.clone(), point, record.round)
}

/// Nothing in a record is wrong: it is complete, took its path, and does not contradict itself.
pub(crate) fn good(record: &Record) {
    let name = format!("{} {} round {}", record.path, record.workload, record.round);
    assert_eq!((&record.incomplete, &record.error), (&None, &None), "{name}");
    assert!(record.proof.len() >= 3 && record.invariants.len() >= 2, "{name}: {:?}", record.proof);
    let unproven: Vec<_> = record.proof.iter().filter(|proof| !proof.ok).collect();
    let broken: Vec<_> = record.invariants.iter().filter(|invariant| !invariant.ok).collect();
    assert!(unproven.is_empty() && broken.is_empty(), "{name}: {unproven:?} {broken:?}");
}
