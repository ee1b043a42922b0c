//! The results folder: `run.json`, `records.jsonl`, `agents.log`, `trials.log`, profiles, and what
//! the reports add.
//!
//! A crash loses nothing that was written. `run.json` is replaced as a whole. A record is on the
//! disk before the next trial starts. If a line was cut in the middle, only that line is dropped. A
//! folder is used by one process at a time.
//!
//! - [`Folder`]: writing, by the process that runs the campaign;
//! - [`open`], [`read`]: reading, for reports; [`profiles()`]: the profiles.

mod disk;
mod folder;
mod lines;
mod names;
mod profiles;
mod reading;

pub use folder::{Folder, Resumed, Searched, fresh_name, vacant};
pub(crate) use names::CellName;
pub use names::TrialId;
pub(crate) use profiles::{PROFILE_FILE, folded_name};
pub use profiles::{profile_file, profiles};
pub use reading::{Records, open, read};

/// What a folder holds of its run.
const RUN_FILE: &str = "run.json";
/// One record a line.
const RECORDS: &str = "records.jsonl";
/// Records of trials that were cut short or contradict themselves, once `--resume` measured them
/// again.
const SUPERSEDED: &str = "superseded.jsonl";
/// What the agents wrote to their standard error.
const AGENTS_LOG: &str = "agents.log";
/// What was told of each trial.
pub const TRIALS_LOG: &str = "trials.log";
/// The files of a folder that cannot be made again; reports can.
pub const ORIGINALS: &[&str] = &[RUN_FILE, RECORDS, SUPERSEDED, AGENTS_LOG, TRIALS_LOG];
