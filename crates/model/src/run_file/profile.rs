//! `profile/profile.json`: the profiles of a results folder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::folded::Folded;

/// The folder of the profiles in a results folder.
pub const PROFILES: &str = "profile";
/// The version of [`ProfileFile`]; a field is never repurposed, this number grows instead.
pub const PROFILE_SCHEMA: &str = "hopbench.profile/1";

/// The contents of `profile/profile.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfileFile {
    /// [`PROFILE_SCHEMA`].
    pub schema: String,
    /// The run's own identity.
    pub run_id: String,
    /// What a reader should know of all profiles: what the kernel forbids, for example.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The cells that were profiled, in the order of the plan.
    pub cells: Vec<ProfiledCell>,
}

/// The profile of a cell: an extra trial, which is in no figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfiledCell {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point, as the reports write it: `size=64`.
    pub point: String,
    /// The file of its folded stacks, beside this one; absent: there are none, see `problem`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<String>,
    /// Why there is no profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Samples of a second of CPU time.
    pub samples_per_cpu_s: u64,
    /// Length of the window, s.
    pub window_s: f64,
    /// Samples in the folded stacks.
    pub samples: u64,
    /// Samples of other programs and of the kernel's own threads, which are left out.
    pub other_samples: u64,
    /// Samples of idle CPUs, which are left out.
    pub idle_samples: u64,
    /// Samples of the window that were lost: they found no room.
    pub lost_samples: u64,
    /// Times in the window that the kernel took no samples for a moment: there were more than it
    /// allows. Absent in old files: not known.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub throttled: u64,
    /// The file of a function whose own time was seen, by the function's name. Functions of a
    /// process' own program, of the kernel and of several libraries have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
    /// What was counted in the window; absent: nothing that profiles can be compared by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<ProfiledCount>,
}

/// What the load of a profiled window is counted in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfiledCount {
    /// One of them: `request`, `connection`, `packet`, `message`, `echo`, `KiB`.
    pub unit: String,
    /// The number in the window.
    pub number: f64,
}

/// The profiles of a results folder with their stacks.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// What `profile.json` says.
    pub file: ProfileFile,
    /// The folded stacks by the names of their files.
    pub folded: BTreeMap<String, Folded>,
}

impl ProfiledCell {
    /// Whether it is of the same cell as another.
    pub fn is_of(&self, other: &Self) -> bool {
        let name = |cell: &Self| [cell.path.clone(), cell.workload.clone(), cell.point.clone()];
        name(self) == name(other)
    }

    /// The share of the window's samples that were lost, from 0 to 1.
    pub fn lost_share(&self) -> f64 {
        let all = [self.samples, self.other_samples, self.idle_samples, self.lost_samples];
        let all: f64 = all.map(|samples| samples as f64).iter().sum();
        self.lost_samples as f64 / all.max(1.0)
    }

    /// CPU time of one sample in microseconds.
    pub fn sample_us(&self) -> f64 {
        1e6 / self.samples_per_cpu_s.max(1) as f64
    }
}
