//! The result of a bound on what may have become worse.

use serde::Serialize;

/// A subject of a run, and what became of its bounds.
#[derive(Debug, Clone, Serialize)]
pub struct SubjectSummary {
    /// Its name.
    pub name: String,
    /// What it changes, in words: `mtu 1400`; `nothing`.
    pub changes: String,
    /// Its bounds, which its paths are held to beside those of the first subject.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<BoundSummary>,
}

/// The result of a bound.
#[derive(Debug, Clone, Serialize)]
pub struct BoundSummary {
    /// As it was written: `p99_response>5%`.
    pub bound: String,
    /// The share.
    pub share: f64,
    /// The cells that it is about.
    pub cases: Vec<Case>,
}

/// A bound in one cell.
#[derive(Debug, Clone, Serialize)]
pub struct Case {
    /// The cell: path, workload and point.
    pub cell: String,
    /// The name of the figure, with the unit.
    pub metric: String,
    /// Whether it was kept.
    pub state: CaseState,
    /// The verdict in words.
    pub text: String,
}

/// Whether a bound was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// It was, as far as these rounds could see.
    Kept,
    /// It was not: worse by more than the bound, and called so, or the candidate has no usable
    /// trial where the baseline has.
    Broken,
    /// A worsening of the size of the bound could have been overlooked.
    Unseen,
    /// Nothing could be said of the figure at all.
    Unjudged,
}

impl CaseState {
    /// Whether these rounds could tell: the bound was found broken, or a worsening of its size
    /// would have been seen.
    pub fn is_judged(self) -> bool {
        matches!(self, Self::Kept | Self::Broken)
    }
}

impl BoundSummary {
    /// In how many cells it was found broken or kept.
    pub fn judged(&self) -> usize {
        self.cases.iter().filter(|case| case.state.is_judged()).count()
    }

    /// The cases of this state.
    pub fn cases_of(&self, state: CaseState) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| case.state == state)
    }
}
