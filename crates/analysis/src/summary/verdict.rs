//! The verdict of a comparison, and what became of a bound on it.

use hopbench_model::SubjectChanges;
use serde::Serialize;

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// More of what has no direction.
    More,
    /// Less of what has no direction.
    Less,
    /// The same as the baseline, within what is of interest.
    Same,
    /// Neither a difference nor sameness is sure.
    NotDecided,
    /// A difference, but no larger than what the same thing measured twice differed by: withheld.
    /// Only of figures without a ratio.
    NoiseFloor,
    /// A difference, but a smaller one than what is of interest. Only of figures without a ratio,
    /// and of loads that a search found.
    MinimumEffect,
    /// Nothing can be said with so few rounds.
    TooFewRounds,
    /// The generator was the limit: the figure is not the path's, so nothing is said.
    Generator,
    /// Here or in the baseline the path is saturated: it did not carry the rate that was asked for.
    /// Its latency says how long the trial was, so it is not compared.
    Saturated,
    /// The two loads were found in different sessions of a run.
    OtherSession,
    /// There is no ratio: a side has no value, or not above 0; or both searches ended at the same
    /// end of their range.
    NoRatio,
}

/// The direction that is good, and its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is faster.
    Higher,
    /// Less is faster.
    Lower,
    /// Less is cheaper.
    Cheaper,
    /// A difference has no word.
    Neither,
}

/// A comparison, in a word and a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// In short, by which comparisons are counted: `slower`.
    #[serde(skip)]
    pub word: &'static str,
    /// In words: `slower by 18 % [15, 21]`.
    pub text: String,
    /// If both are the same, within which share of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// If nothing is decided, the rounds that would about decide it; absent where nobody can say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_rounds: Option<u64>,
    /// The time that these take, s; absent where nobody can say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_s: Option<f64>,
    /// The ratio of all rounds together, where the verdict looks at it.
    #[serde(skip)]
    pub together: Option<f64>,
    /// What its comparison notes of it, where all rounds together oppose it: `over all rounds
    /// -12 %`; empty where they do not.
    #[serde(skip)]
    pub note: String,
}

impl Better {
    /// Whether less is better.
    pub fn is_less(self) -> bool {
        matches!(self, Self::Lower | Self::Cheaper)
    }
}

impl Outcome {
    /// Whether a difference is called.
    pub fn is_called(self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::More | Self::Less)
    }

    /// Whether the comparison was judged: it says something that can be wrong by chance.
    pub fn is_judged(self) -> bool {
        !matches!(
            self,
            Self::Generator
                | Self::TooFewRounds
                | Self::Saturated
                | Self::OtherSession
                | Self::NoRatio
        )
    }

    /// Whether it says how both compare: they differ, are the same, or a path is saturated.
    pub fn is_decided(self) -> bool {
        self.is_called() || matches!(self, Self::Same | Self::MinimumEffect | Self::Saturated)
    }

    /// Whether a difference could not be said, for a reason that is not its size.
    pub fn is_withheld(self) -> bool {
        !self.is_called() && !matches!(self, Self::Same | Self::NotDecided)
    }
}

/// A subject of a run: what it had, and what became of its bounds.
#[derive(Debug, Clone, Serialize)]
pub struct SubjectSummary {
    /// Its name.
    pub name: String,
    /// The changes that it makes.
    pub changes: SubjectChanges,
    /// What trials on its paths read back of all that subjects change, in words: `mtu 1500, envoy
    /// 1.40.0 at /usr/bin/envoy (sha256 0123456789abcdef)`. Absent: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<String>,
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
