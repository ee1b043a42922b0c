//! The verdict of a comparison with the baseline.

use serde::Serialize;

/// The outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// No difference was seen.
    Same,
    /// A difference, but no larger than what the baseline measured twice differed by: withheld.
    NoiseFloor,
    /// A difference, but a smaller one than what is of interest.
    MinimumEffect,
    /// Nothing can be said with so few rounds.
    TooFewRounds,
    /// The generator was the limit: the figure is not the path's, so nothing is said.
    Generator,
}

/// A comparison with the baseline, in a word and a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// In words: `slower by 18 % [15, 21]`.
    pub text: String,
    /// Where no difference was seen: the smallest that would have been called with a probability of 80 %, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_have_seen: Option<f64>,
}

impl Outcome {
    /// Whether a difference is named.
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }

    /// Whether the comparison was judged: it says something that can be wrong by chance.
    pub fn is_judged(self) -> bool {
        !matches!(self, Self::Generator | Self::TooFewRounds)
    }
}
