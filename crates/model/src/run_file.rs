//! `run.json`, the description of a results folder, and what else describes it.

mod folded;
mod profile;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Nanos, Plan, SharedParts, Stopped};

pub use folded::{Folded, KERNEL_MARK};
pub use profile::{PROFILE_SCHEMA, PROFILES, ProfileFile, ProfiledCell, ProfiledCount, Profiles};

/// The version of [`RunFile`]; a field is never repurposed, this number grows instead.
pub const RUN_SCHEMA: &str = "hopbench.run/1";

/// The contents of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`RUN_SCHEMA`].
    pub schema: String,
    /// The run's own identity, in every record.
    pub run_id: String,
    /// How far it came.
    pub status: RunStatus,
    /// The session that measures, or measured last, from 1; each `--resume` begins the next. Absent
    /// in old files: 1.
    #[serde(default = "first")]
    pub session: u32,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// UTC, RFC 3339; absent while it runs, and after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The scenario as it was resolved.
    pub plan: Plan,
    /// The scenario as it was written.
    pub scenario: String,
    /// Facts about the machine and the tool, by name.
    pub environment: BTreeMap<String, String>,
    /// Facts about the testbed, by name: addresses, CPU sets, what is shared.
    pub testbed: BTreeMap<String, String>,
    /// Trials that failed and left no record, not even an incomplete one; each at most once, in the
    /// order in which they failed. One that `--resume` tries again stands here until it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// Cells that the testbed cannot measure; they have no records and are not missing. Of a cell
    /// that only a later session cannot measure, what is missing stands in `failures`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Cells whose rounds have ended under a stop rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Stopped>,
    /// Time that the rounds of all sessions took, ns, where the plan has a budget for them.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub spent_ns: Nanos,
    /// Trials of the rounds so far that were not made, since their comparisons are clear or out of
    /// reach: see the budget in docs/method.md.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub spared_trials: u64,
    /// What a reader should know of the run as a whole, in order. Examples are a baseline that
    /// cannot be measured, and what had changed when the run was resumed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What many records share, by key; absent in old files, whose records have all of it.
    #[serde(default, skip_serializing_if = "SharedParts::is_empty")]
    pub shared: SharedParts,
}

fn first() -> u32 {
    1
}

/// How far a run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It runs, or died without a word.
    Running,
    /// Every cell has a record of every round that it needs, and every search has ended.
    Complete,
    /// It ended before that; `run --resume` goes on.
    Incomplete,
}

/// A trial without figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as the reports write it: `size=64`.
    pub point: String,
    /// The round, from 1; of a search the number of its trial.
    pub round: u32,
    /// Why.
    pub reason: String,
}

/// A cell that is not measured in any round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as the reports write it: `size=64`.
    pub point: String,
    /// Why.
    pub reason: String,
}
