//! Reading a results folder.

use std::fs::File;
use std::io::{self, BufReader, Read as _};
use std::path::{Path, PathBuf};

use hopbench_model::{
    Fault, LineError, PLAN_SCHEMA, RECORD_SCHEMA, RECORD_SCHEMAS, ROUNDS, RUN_SCHEMA, Record,
    RunFile, SharedParts, record_of_line,
};
use hopbench_sys::file;
use serde_json::Value;

use super::disk::unreadable;
use super::lines::{Line, Lines};
use super::{RECORDS, RUN_FILE, TrialId};

/// Bytes that `run.json` may have: no run's comes near.
const MOST_RUN_FILE: usize = 64 << 20;

/// The records of a folder in the order they were written, read one at a time.
///
/// What comes is a record, or the fault that ends the reading: a line that is damaged although
/// others follow it. A last line that was cut is left out, and [`Records::notes`] says so.
#[derive(Debug)]
pub struct Records {
    lines: Option<Lines<BufReader<File>>>,
    path: PathBuf,
    run_id: String,
    /// What the records share, as `run.json` had it when it was read.
    shared: SharedParts,
    notes: Vec<String>,
}

impl Records {
    /// Notes for a reader of the folder; complete when the last record was taken.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn record(&mut self, line: io::Result<Line>) -> Option<Result<Record, Fault>> {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(unreadable(&self.path, &error))),
        };
        let mut state = judge(&line, &self.run_id, &self.shared, &self.path);
        if let LineState::Lost(_) = state {
            // A run that goes on may have written both since `run.json` was read.
            let run = self.path.parent().map(run_file);
            if let Some(Ok(run)) = run {
                self.shared = run.shared;
                state = judge(&line, &self.run_id, &self.shared, &self.path);
            }
        }
        match state {
            LineState::Good(record) => Some(Ok(*record)),
            LineState::Cut(note) => {
                self.notes.push(note);
                None
            }
            LineState::Damaged(fault) | LineState::Lost(fault) => Some(Err(fault)),
        }
    }
}

impl Iterator for Records {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.as_mut()?.next()?;
        let record = self.record(line);
        if !matches!(record, Some(Ok(_))) {
            self.lines = None;
        }
        record
    }
}

/// What a line of `records.jsonl` is.
pub(super) enum LineState {
    Good(Box<Record>),
    /// The last line, not whole: the trial under way when the program or the machine died.
    Cut(String),
    Damaged(Fault),
    /// What it shares with other records is not in `run.json`.
    Lost(Fault),
}

/// Judges one line of a run's records.
pub(super) fn judge(line: &Line, run_id: &str, shared: &SharedParts, path: &Path) -> LineState {
    let place = format!("{} line {}", path.display(), line.number);
    let cut = |why: &str| {
        LineState::Cut(format!(
            "{place} is not whole ({why}): the trial under way at a crash; it is left out"
        ))
    };
    if !line.is_whole() {
        return cut("its end was never written");
    }
    let record = match record_of_line(&line.bytes, shared) {
        Ok(record) => record,
        Err(error @ LineError::Missing { .. }) => {
            return LineState::Lost(Fault::input(format!(
                "{place}: {error}, expected that key in `shared` of {RUN_FILE}; put back the \
                 {RUN_FILE} that the run wrote, or move that line to another file, and --resume \
                 measures its trial again"
            )));
        }
        // Blocks that a crash kept from the disk read as zeros.
        Err(_) if line.last && line.bytes.contains(&0) => {
            return cut("part of it never reached the disk");
        }
        Err(error) => {
            return LineState::Damaged(Fault::input(format!(
                "{place} is damaged: {error}. Nothing was changed; move that line to another file, \
                 and --resume measures its trial again"
            )));
        }
    };
    if !RECORD_SCHEMAS.contains(&record.schema.as_str()) {
        return LineState::Damaged(Fault::input(format!(
            "{place}: found schema `{}`, expected `{RECORD_SCHEMA}`; use the hopbench that wrote \
             it",
            record.schema
        )));
    }
    if record.run_id != run_id {
        return LineState::Damaged(Fault::input(format!(
            "{place} is of run {}, the folder is of run {run_id}; move the records of other runs \
             elsewhere",
            record.run_id
        )));
    }
    if record.round > *ROUNDS.end() {
        return LineState::Damaged(Fault::input(format!(
            "{place}: found round {}, expected at most {}; move that line to another file",
            record.round,
            ROUNDS.end()
        )));
    }
    LineState::Good(Box::new(record))
}

/// Opens a results folder for reading; a run that goes on in it may be writing meanwhile.
///
/// # Errors
/// No results folder, one of another version of hopbench, one that cannot be read.
pub fn open(dir: &Path) -> Result<(RunFile, Records), Fault> {
    let run = run_file(dir)?;
    let path = dir.join(RECORDS);
    let lines = match file::regular(&path) {
        Ok(file) => Some(Lines::new(BufReader::with_capacity(1 << 16, file))),
        // A run that ended before its first record.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let (run_id, shared) = (run.run_id.clone(), run.shared.clone());
    let records = Records { lines, path, run_id, shared, notes: Vec::new() };
    Ok((run, records))
}

/// Reads a whole results folder: of each trial the last record.
///
/// # Errors
/// As [`open`]; a record that is damaged.
pub fn read(dir: &Path) -> Result<(RunFile, Vec<Record>, Vec<String>), Fault> {
    let (run, mut records) = open(dir)?;
    let mut all = std::collections::BTreeMap::new();
    for (number, record) in records.by_ref().enumerate() {
        let record = record?;
        all.insert(TrialId::of(&record), (number, record));
    }
    let mut all: Vec<(usize, Record)> = all.into_values().collect();
    all.sort_by_key(|(number, _)| *number);
    Ok((run, all.into_iter().map(|(_, record)| record).collect(), records.notes))
}

/// All bytes of `run.json`.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file::regular(path)?.take(MOST_RUN_FILE as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MOST_RUN_FILE {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "found more than 64 MiB, expected less",
        ));
    }
    Ok(bytes)
}

/// Reads `run.json`.
pub(super) fn run_file(dir: &Path) -> Result<RunFile, Fault> {
    let path = dir.join(RUN_FILE);
    let text = whole(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if !dir.exists() => Fault::input(format!(
            "{} does not exist; expected a results folder, as `hopbench run` leaves it",
            dir.display()
        )),
        io::ErrorKind::NotADirectory => Fault::input(format!(
            "{} is a file; expected a results folder, as `hopbench run` leaves it",
            dir.display()
        )),
        io::ErrorKind::NotFound => Fault::input(format!(
            "{} is no results folder: there is no {RUN_FILE} in it",
            dir.display()
        )),
        _ => unreadable(&path, &error),
    })?;
    let damaged = |error: serde_json::Error| {
        Fault::input(format!(
            "{} is damaged: {error}; without it the folder's records have no plan",
            path.display()
        ))
    };
    let value: Value = serde_json::from_slice(&text).map_err(damaged)?;
    for (what, at, expected) in
        [("schema", "/schema", RUN_SCHEMA), ("plan", "/plan/schema", PLAN_SCHEMA)]
    {
        let found = value.pointer(at).and_then(Value::as_str).unwrap_or("nothing");
        if found != expected {
            return Err(Fault::input(format!(
                "{}: {what}: found `{found}`, expected `{expected}`; use the hopbench that wrote \
                 it",
                path.display()
            )));
        }
    }
    let run: RunFile = serde_json::from_value(value).map_err(damaged)?;
    match run.plan.contradiction() {
        None => Ok(run),
        Some(why) => Err(Fault::input(format!(
            "{} is damaged: {why}; without its plan the folder's records mean nothing",
            path.display()
        ))),
    }
}
