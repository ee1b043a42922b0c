//! The profiles of a run, and what paths differ by in them.

use serde::Serialize;

/// The profiles of a run. They are of extra trials, which are in no figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfilesSummary {
    /// What a reader should know of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The cells that were profiled.
    pub cells: Vec<ProfileSummary>,
    /// Paths against the baseline: first those that the rounds tell apart from it by the main
    /// figure, then by another one alone. Within each group, the one whose CPU differs most comes
    /// first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<ProfileDifference>,
}

/// The profile of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileSummary {
    /// The path's name.
    pub path: String,
    /// The workload's name.
    pub workload: String,
    /// The point as reports write it.
    pub point: String,
    /// The flame graph, from the results folder on; absent: there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<String>,
    /// Why there is no profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Samples of the ends, the proxies and softirqs.
    pub samples: u64,
    /// Samples that were lost: they found no room.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub lost_samples: u64,
    /// What is missing from the profile, and what to do about it; absent: nothing that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The unit of the values below, and of differences.
    pub unit: ProfileUnit,
    /// The value of each owner of stacks: `client`, `server`, a proxy, `softirq`.
    pub owners: Vec<ProfileOwner>,
}

/// An owner of stacks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileOwner {
    /// Its name.
    pub name: String,
    /// Its samples.
    pub samples: u64,
    /// The same in the unit.
    pub value: f64,
}

/// The unit of a profile's values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileUnit {
    /// CPU time in microseconds for each of these: `request`, `packet`, `KiB` ...
    CpuUsPer(String),
    /// The share of all samples: nothing was counted that profiles could be compared by.
    Share,
}

/// The profile of a path against that of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileDifference {
    /// The workload's name.
    pub workload: String,
    /// The point as reports write it.
    pub point: String,
    /// The path that the other is compared with.
    pub base: String,
    /// The path.
    pub path: String,
    /// The difference as a flame graph, from the results folder on.
    pub graph: String,
    /// The unit of all values.
    pub unit: ProfileUnit,
    /// All of the base's.
    pub base_value: f64,
    /// All of the path's.
    pub path_value: f64,
    /// The verdict on the main figure, in words, where the rounds call no figure of the two
    /// different. `grew` is empty then: a profile is one trial, and trials differ by more than
    /// samples scatter. Absent: the rounds tell them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_told_apart: Option<String>,
    /// The frames whose own value grew, the surest first: by the growth as a multiple of its
    /// error. Own means without what they call. A frame is left out where its growth is not larger
    /// than its error.
    pub grew: Vec<FrameGrowth>,
    /// Every stack with the base's value and the path's.
    #[serde(skip)]
    pub stacks: Vec<(String, [f64; 2])>,
}

/// A frame below its owner, and by what its own value grew.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameGrowth {
    /// The owner of the stacks.
    pub owner: String,
    /// The function; the kernel's end in `_[k]`.
    pub frame: String,
    /// The file of the library that it is in; absent: it is in the program itself or in the kernel,
    /// or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The base's value.
    pub base_value: f64,
    /// The path's.
    pub path_value: f64,
    /// The path's without the base's.
    pub growth: f64,
    /// Twice the standard error of the growth, as far as it follows from the number of samples.
    pub error: f64,
}
