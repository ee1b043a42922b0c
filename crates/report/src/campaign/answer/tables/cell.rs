//! A place in a table of the answer.

use hopbench_analysis::{Outcome, RatioSummary};

use super::super::text::{effect, effect_within};
use crate::number::percentage;

/// The mark of a figure that the notes say more about.
pub(crate) const DOUBTFUL: &str = "!";

/// The least share that has digits.
const LEAST_SHOWN: f64 = 1e-4;
/// The word for no difference that matters.
pub(super) const SAME: &str = "same";

/// What stands in a place of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A figure with its unit.
    Figure(String),
    /// A difference to the baseline, with its sign.
    Effect {
        /// `+16 ±2 %`.
        text: String,
        /// The same without its interval: `+16 %`.
        brief: String,
        /// Whether it is a gain.
        is_better: bool,
    },
    /// No difference that matters: the verdict says so, mostly with a bound, `same ±2 %`.
    Same(String),
    /// Nothing is decided.
    NotDecided,
    /// The load generator was the limit, so there is no verdict.
    Late,
    /// There is nothing to divide, or by which.
    NoRatio,
    /// The path did not carry the rate that was asked for: `saturated at 3909/s`.
    Saturated(String),
    /// It was not measured.
    Absent,
    /// No trial left a figure.
    Failed,
    /// No trial left a proof that its traffic took the path.
    Unproved,
}

/// A place of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// What stands there.
    pub(crate) value: Value,
    /// Whether the notes say more about it: trials failed, or the load generator was late.
    pub(crate) is_doubtful: bool,
}

impl Value {
    /// The verdict of a comparison in short.
    pub(in super::super) fn of(ratio: &RatioSummary) -> Self {
        let outcome = ratio.verdict.as_ref().map(|verdict| verdict.outcome);
        let change = || ratio.spread.map_or_else(String::new, |spread| effect(spread.median));
        match outcome {
            Some(Outcome::Better | Outcome::Worse) => Self::Effect {
                text: ratio.spread.map_or_else(String::new, effect_within),
                brief: change(),
                is_better: outcome == Some(Outcome::Better),
            },
            Some(Outcome::Same | Outcome::MinimumEffect) => {
                let within = ratio.verdict.as_ref().and_then(|verdict| verdict.within);
                Self::Same(within.map_or_else(
                    || SAME.to_owned(),
                    |share| format!("{SAME} ±{} %", percentage(share.max(LEAST_SHOWN))),
                ))
            }
            // What has no direction is neither a gain nor a loss.
            Some(Outcome::More | Outcome::Less) => Self::Figure(change()),
            Some(Outcome::NotDecided | Outcome::NoiseFloor | Outcome::TooFewRounds) => {
                Self::NotDecided
            }
            Some(Outcome::Generator) => Self::Late,
            Some(Outcome::Saturated | Outcome::OtherSession | Outcome::NoRatio) | None => {
                Self::NoRatio
            }
        }
    }

    /// As text, without the mark.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Figure(text)
            | Self::Effect { text, .. }
            | Self::Same(text)
            | Self::Saturated(text) => text,
            Self::NotDecided => "?",
            Self::Late => "late",
            Self::NoRatio => "no ratio",
            Self::Absent => ".",
            Self::Failed => "error",
            Self::Unproved => "unproved",
        }
    }

    /// The same without its interval.
    pub(crate) fn brief(&self) -> &str {
        match self {
            Self::Effect { brief, .. } => brief,
            Self::Same(_) => SAME,
            other => other.text(),
        }
    }
}

impl Cell {
    /// One about which there is nothing more to say.
    pub(super) fn plain(value: Value) -> Self {
        Self { value, is_doubtful: false }
    }

    /// The mark behind it; empty where it has none.
    pub(crate) fn mark(&self) -> &'static str {
        if self.is_doubtful { DOUBTFUL } else { "" }
    }
}
