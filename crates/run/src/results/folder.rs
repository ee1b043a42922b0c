//! Writing a results folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use hopbench_model::{
    Failure, Fault, FaultKind, Nanos, PROFILES, Record, RecordLines, RunFile, SECOND, SearchStep,
    SharedParts,
};
use hopbench_sys::{clock, file};
use serde_json::Value;
use time::OffsetDateTime;

use super::disk::{refused, replace, sync_dir, unreadable};
use super::lines::Lines;
use super::reading::{LineState, judge, run_file};
use super::{AGENTS_LOG, RECORDS, RUN_FILE, SUPERSEDED, TRIALS_LOG, TrialId};

/// A results folder that this process, and no other, writes to.
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    /// Holds the lock; the kernel lets go of it when the process ends, however it ends.
    _lock: Option<File>,
    records: File,
    /// Length of the records that are whole, bytes.
    length: u64,
    /// What the records share, which `run.json` has before a record refers to it.
    lines: RecordLines,
    run: RunFile,
    /// So many of the run's failures, the first ones, are of earlier sessions.
    earlier: usize,
    /// When `run.json` was written last, and whether there is more to write.
    written_at: Nanos,
    stale: bool,
}

/// A failure is on the disk after this, or with the next trial that ends after it, ns. With many
/// failures at once, writing all of them again for each takes longer than measuring.
const WRITE_EVERY: Nanos = SECOND;

/// What a resumed folder holds already.
#[derive(Debug, Default)]
pub struct Resumed {
    /// Trials with a complete record that is no error.
    pub done: BTreeSet<TrialId>,
    /// Those of them that searches asked for, in the order in which they were measured.
    pub searched: Vec<Searched>,
    /// What was found and done about it.
    pub notes: Vec<String>,
}

/// A trial that a search asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// Which: its point has the load.
    pub trial: TrialId,
    /// What it was for, and what it showed.
    pub step: SearchStep,
    /// What each client did, as its record has it: a step says only the last of the loads that a
    /// search has found.
    pub job: Value,
}

/// The name of a new folder: `results/20260131T235959Z-NAME`, with a number at its end where that
/// is taken.
pub fn fresh_name(name: &str) -> PathBuf {
    let now = OffsetDateTime::UNIX_EPOCH + clock::wall();
    let stamp = format!(
        "{:04}{:02}{:02}T{:02}{:02}{:02}Z-{name}",
        now.year(),
        u8::from(now.month()),
        now.day(),
        now.hour(),
        now.minute(),
        now.second()
    );
    let results = Path::new("results");
    let numbered = (2..1000).map(|n| results.join(format!("{stamp}-{n}")));
    let all = std::iter::once(results.join(&stamp)).chain(numbered);
    all.into_iter().find(|dir| !dir.exists()).unwrap_or_else(|| results.join(&stamp))
}

/// Refuses a folder for a new run in which something is. One that does not exist yet is welcome,
/// and so is one whose run was killed before its first file was whole. Changes nothing.
///
/// # Errors
/// A folder with something in it (input), or one that cannot be looked into.
pub fn vacant(dir: &Path) -> Result<(), Fault> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(refused("read", dir, &error)),
    };
    let unfinished = format!("{RUN_FILE}.tmp");
    let counts = |entry: std::io::Result<fs::DirEntry>| {
        entry.map_or(true, |entry| *entry.file_name() != *unfinished)
    };
    if !entries.into_iter().any(counts) {
        return Ok(());
    }
    Err(Fault::input(format!(
        "--output: {0} is not empty; go on with the run in it with --resume {0}, or take another \
         folder",
        dir.display()
    )))
}

impl Folder {
    /// Makes a new results folder at `dir`, which may exist if nothing is in it.
    ///
    /// # Errors
    /// A folder with something in it (input); one that cannot be made or written, or that another
    /// process uses.
    pub fn create(dir: &Path, run: RunFile) -> Result<Self, Fault> {
        fs::create_dir_all(dir).map_err(|e| refused("make", dir, &e))?;
        let lock = lock(dir)?;
        vacant(dir)?;
        // First what makes it a results folder: from then on it can be resumed.
        write_run(dir, &run)?;
        let records = append_to(&dir.join(RECORDS))?;
        let folder = Self::holding(dir, lock, records, 0, run);
        if let Some(parent) = dir.parent().filter(|p| !p.as_os_str().is_empty()) {
            sync_dir(parent)?;
        }
        Ok(folder)
    }

    /// Takes up a folder whose run did not end. A last line that was cut is dropped. Records of
    /// trials that were cut short or contradict themselves are moved to `superseded.jsonl`: they
    /// will be measured again. What failed before keeps its reason until it is tried again. The
    /// run's next session begins.
    ///
    /// # Errors
    /// No results folder, one of another version, one with damaged records; one that cannot be
    /// written, or that another process uses. Nothing was changed then.
    pub fn resume(dir: &Path) -> Result<(Self, Resumed), Fault> {
        // The lock first: who still writes would be read in the middle.
        let lock = lock(dir).map_err(|fault| if dir.is_dir() { fault } else { missing(dir) })?;
        let mut run = run_file(dir)?;
        let path = dir.join(RECORDS);
        let found = survey(&path, &run.run_id, &run.shared)?;
        let mut resumed =
            Resumed { done: found.done, searched: found.searched, notes: found.notes };
        run.session = run.session.saturating_add(1);
        // It was measured since, and the end of that session was lost in a crash.
        run.failures.retain(|failure| !resumed.done.contains(&TrialId::of_failure(failure)));
        if let Some(whole) = found.cut_at {
            let records = file::append(&path).map_err(|e| refused("write", &path, &e))?;
            records
                .set_len(whole)
                .and_then(|()| records.sync_all())
                .map_err(|e| refused("shorten", &path, &e))?;
        }
        if !found.again.is_empty() {
            set_aside(dir, &found.again.keys().copied().collect())?;
            // A search tries again at once: what it measured since is not measured once more.
            let again = found.again.values().filter(|trial| !resumed.done.contains(trial)).count();
            if again > 0 {
                resumed.notes.push(format!(
                    "{again} trials without usable figures are measured again; their records are \
                     now in {SUPERSEDED}"
                ));
            }
        }
        let records = append_to(&path)?;
        let length = records.metadata().map_err(|e| refused("read", &path, &e))?.len();
        Ok((Self::holding(dir, lock, records, length, run), resumed))
    }

    fn holding(dir: &Path, lock: Option<File>, records: File, length: u64, run: RunFile) -> Self {
        let (earlier, written_at) = (run.failures.len(), clock::now());
        Self {
            dir: dir.to_owned(),
            _lock: lock,
            records,
            length,
            lines: RecordLines::new(run.shared.clone()),
            run,
            earlier,
            written_at,
            stale: false,
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The content of `run.json`.
    pub fn run(&self) -> &RunFile {
        &self.run
    }

    /// Changes `run.json`.
    ///
    /// # Errors
    /// What the file system refuses (measuring); the old file is still there, and the change is
    /// made with the next that succeeds.
    pub fn update(&mut self, change: impl FnOnce(&mut RunFile)) -> Result<(), Fault> {
        change(&mut self.run);
        self.stale = true;
        self.write()
    }

    /// Gives the rounds more time than they had, ns: on top of what is left of their budget.
    ///
    /// # Errors
    /// As [`Folder::update`].
    pub fn allow_more(&mut self, ns: Nanos) -> Result<(), Fault> {
        self.update(|run| {
            let had = run.plan.budget_ns.unwrap_or(0).max(run.spent_ns);
            run.plan.budget_ns = Some(had.saturating_add(ns));
        })
    }

    /// Adds a failure, instead of what an earlier session said of that trial. It is on the disk
    /// with the next [`Folder::update`], or with the next failure or record a second later.
    ///
    /// # Errors
    /// As [`Folder::update`].
    pub fn fail(&mut self, failure: Failure) -> Result<(), Fault> {
        self.forget(&TrialId::of_failure(&failure));
        self.run.failures.push(failure);
        self.stale = true;
        self.write_when_due()
    }

    /// Drops the failure of a trial in an earlier session. In one session a trial that is tried
    /// again fails once, when it is given up.
    fn forget(&mut self, trial: &TrialId) {
        let earlier = &self.run.failures[..self.earlier];
        if let Some(index) = earlier.iter().position(|failure| trial.is_of(failure)) {
            self.run.failures.remove(index);
            self.earlier -= 1;
            self.stale = true;
        }
    }

    /// Drops those of the failures of earlier sessions that are tried again now.
    pub(crate) fn forget_if(&mut self, is_again: impl Fn(&Failure) -> bool) {
        let now = self.run.failures.split_off(self.earlier);
        self.run.failures.retain(|failure| !is_again(failure));
        self.stale |= self.run.failures.len() < self.earlier;
        self.earlier = self.run.failures.len();
        self.run.failures.extend(now);
    }

    fn write_when_due(&mut self) -> Result<(), Fault> {
        if self.stale && clock::now() - self.written_at >= WRITE_EVERY {
            self.write()
        } else {
            Ok(())
        }
    }

    fn write(&mut self) -> Result<(), Fault> {
        write_run(&self.dir, &self.run)
            .map_err(|fault| Fault { kind: FaultKind::Measuring, ..fault })?;
        self.written_at = clock::now();
        self.stale = false;
        Ok(())
    }

    /// Adds a record; when this returns it is on the disk, and so is what it shares with others.
    /// What an earlier session said of that trial's failure is dropped.
    ///
    /// # Errors
    /// What the file system refuses (measuring); the records before it are as they were.
    pub fn append(&mut self, record: &Record) -> Result<(), Fault> {
        self.write_when_due()?;
        let no_json = |e| Fault::measuring(format!("a record cannot be written as JSON: {e}"));
        let mut line = self.lines.line(record).map_err(no_json)?;
        if self.share().is_err() {
            // It refers to nothing then. Whoever writes `run.json` when it is due says why.
            line = serde_json::to_string(record).map_err(no_json)? + "\n";
        }
        let written =
            self.records.write_all(line.as_bytes()).and_then(|()| self.records.sync_data());
        match written {
            Ok(()) => {
                self.length += line.len() as u64;
                self.forget(&TrialId::of(record));
                Ok(())
            }
            Err(error) => {
                // Half a line would be taken for a crash.
                let _ = self.records.set_len(self.length);
                let fault = refused("write a record to", &self.dir.join(RECORDS), &error);
                Err(Fault { kind: FaultKind::Measuring, ..fault })
            }
        }
    }

    /// Brings what the records share to the disk, if it has grown.
    fn share(&mut self) -> Result<(), Fault> {
        if self.lines.parts().len() == self.run.shared.len() {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.run.shared, self.lines.parts().clone());
        // The next record tries again where that fails.
        self.write().inspect_err(|_| self.run.shared = before)
    }

    /// The file for what agents write to their standard error, to be appended to.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn agents_log(&self) -> Result<File, Fault> {
        append_to(&self.dir.join(AGENTS_LOG))
    }

    /// The file for what is told of each trial, to be appended to.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn trials_log(&self) -> Result<File, Fault> {
        append_to(&self.dir.join(TRIALS_LOG))
    }

    /// Writes a report into the folder, as a whole; one of that name is replaced. Its path.
    ///
    /// # Errors
    /// What the file system refuses; an older report of that name is still there.
    pub fn add(&self, name: &str, contents: &[u8]) -> Result<PathBuf, Fault> {
        replace(&self.dir, name, contents)?;
        Ok(self.dir.join(name))
    }

    /// Writes a file of the profiles, as [`Folder::add`] does.
    ///
    /// # Errors
    /// As [`Folder::add`].
    pub fn add_profile(&self, name: &str, contents: &[u8]) -> Result<PathBuf, Fault> {
        let dir = self.dir.join(PROFILES);
        if fs::symlink_metadata(&dir).is_ok_and(|found| !found.is_dir()) {
            let found = format!("{}: found a link or a file, expected a folder", dir.display());
            return Err(Fault::input(found));
        }
        fs::create_dir_all(&dir).map_err(|error| refused("make", &dir, &error))?;
        replace(&dir, name, contents)?;
        Ok(dir.join(name))
    }
}

fn write_run(dir: &Path, run: &RunFile) -> Result<(), Fault> {
    let mut text = serde_json::to_vec_pretty(run)
        .map_err(|e| Fault::measuring(format!("run.json cannot be written as JSON: {e}")))?;
    text.push(b'\n');
    replace(dir, RUN_FILE, &text)
}

fn missing(dir: &Path) -> Fault {
    Fault::input(format!("--resume: there is no folder {}", dir.display()))
}

fn append_to(path: &Path) -> Result<File, Fault> {
    file::append(path).map_err(|e| refused("write", path, &e))
}

/// Locks the folder itself; nothing is left behind by it. File systems without such locks go
/// without.
fn lock(dir: &Path) -> Result<Option<File>, Fault> {
    let file = File::open(dir).map_err(|e| refused("open", dir, &e))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(Fault::input(format!(
            "another hopbench is writing to {}; wait for it, or take another folder with --output",
            dir.display()
        ))),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// What stands in a file of records.
#[derive(Default)]
struct Survey {
    done: BTreeSet<TrialId>,
    searched: Vec<Searched>,
    /// Lines whose trials have to be measured again, by number.
    again: BTreeMap<u64, TrialId>,
    /// The end of the whole lines, if something follows them.
    cut_at: Option<u64>,
    notes: Vec<String>,
}

fn survey(path: &Path, run_id: &str, shared: &SharedParts) -> Result<Survey, Fault> {
    let mut out = Survey::default();
    let file = match file::regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(out),
        Err(error) => return Err(unreadable(path, &error)),
    };
    for line in Lines::new(BufReader::new(file)) {
        let line = line.map_err(|e| unreadable(path, &e))?;
        match judge(&line, run_id, shared, path) {
            LineState::Good(record) if record.is_usable() => {
                let trial = TrialId::of(&record);
                let Record { search, job, .. } = *record;
                out.searched.extend(search.map(|step| Searched {
                    trial: trial.clone(),
                    step,
                    job,
                }));
                out.done.insert(trial);
            }
            LineState::Good(record) => drop(out.again.insert(line.number, TrialId::of(&record))),
            LineState::Cut(note) => {
                out.cut_at = Some(line.start);
                out.notes.push(note);
            }
            LineState::Damaged(fault) | LineState::Lost(fault) => return Err(fault),
        }
    }
    Ok(out)
}

/// Moves lines of the records elsewhere: first they are there, then they are no longer here.
fn set_aside(dir: &Path, numbers: &BTreeSet<u64>) -> Result<(), Fault> {
    let path = dir.join(RECORDS);
    let mut aside = append_to(&dir.join(SUPERSEDED))?;
    let temporary = dir.join(format!("{RECORDS}.tmp"));
    let written = (|| {
        let mut kept = std::io::BufWriter::new(file::fresh(&temporary)?);
        for line in Lines::new(BufReader::new(file::regular(&path)?)) {
            let line = line?;
            if numbers.contains(&line.number) {
                aside.write_all(&line.bytes)?;
            } else {
                kept.write_all(&line.bytes)?;
            }
        }
        aside.sync_all()?;
        kept.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&temporary, &path)
    })();
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(refused("rewrite", &path, &error));
    }
    sync_dir(dir)
}
