//! A load that a search found: its bracket, and its comparison with the baseline's.

use hopbench_model::number::percentage;
use serde::{Serialize, Serializer};

use super::cell::ComponentSummary;
use super::spread::Spread;
use super::verdict::Outcome;
use crate::text::load_text::load;

/// The last digits of a load: a share of it.
const CLOSE: f64 = 1e-4;

/// How a load, or what was seen there, compares with the baseline's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadComparison {
    /// What it says. As JSON: `standing`, which is `higher`, `lower`, `same`, `not_decided`,
    /// `minimum_effect` or, where nothing is said, `withheld`.
    #[serde(rename = "standing", serialize_with = "standing")]
    pub outcome: Outcome,
    /// It divided by the baseline's; absent where one of them was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The least that the ratio can be. Of several searches it is their interval, of levels the
    /// lower end here and the upper one there. Absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The most that it can be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The p-value; absent where nothing was tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The same corrected for the number of comparisons of searches in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<f64>,
    /// In words: `higher by 25 % [20, 31]`.
    pub text: String,
}

/// A comparison of two levels on which a knee rests, though its interval holds the least growth
/// that counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undecided {
    /// The earlier level.
    pub from: f64,
    /// The later one.
    pub to: f64,
    /// How much more throughput it gives, as a share: 0.31 is 31 %.
    pub growth: f64,
    /// Lower end of its interval of 90 %.
    pub low: f64,
    /// Upper end; absent where it is infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Trials at the level that has fewer.
    pub trials: usize,
}

/// The mark of a load that rests on such a step.
pub const UNDECIDED_MARK: &str = "? ";

/// `not decided after 9 trials: growth 31 % [-40, 187] from 4 to 16 connections`; empty where all
/// was decided.
pub fn undecided_text(undecided: &[Undecided], parameter: &str) -> String {
    let Some(trials) = undecided.iter().map(|step| step.trials).max() else { return String::new() };
    let one = |step: &Undecided| {
        let high = step.high.map_or_else(|| "?".to_owned(), percentage);
        let (growth, low) = (percentage(step.growth), percentage(step.low));
        format!(
            "growth {growth} % [{low}, {high}] from {:.0} to {}",
            step.from,
            load(parameter, step.to)
        )
    };
    let each: Vec<String> = undecided.iter().map(one).collect();
    format!("not decided after {trials} trials a level: {}", each.join(", "))
}

/// A figure of several trials at one load.
#[derive(Debug, Clone, Serialize)]
pub struct FoundFigure {
    /// Its name, with the unit.
    pub name: &'static str,
    /// Its label for people.
    pub label: &'static str,
    /// The figure over the trials.
    #[serde(flatten)]
    pub spread: Spread,
}

/// All paths at the load that was found on one of them.
#[derive(Debug, Clone, Serialize)]
pub struct EqualLoad {
    /// The path on which it was found.
    pub found_on: String,
    /// The load.
    pub load: f64,
    /// The load and what else was set for it, as reports write points: `connections=32 threads=2`.
    pub setting: String,
    /// The measurements there, in the scenario's order of paths.
    pub paths: Vec<EqualLoadPath>,
}

/// A path at a load that was found on a path.
#[derive(Debug, Clone, Serialize)]
pub struct EqualLoadPath {
    /// The path's name.
    pub path: String,
    /// Trials that can be used.
    pub trials: usize,
    /// The rate at which the path is saturated here, a second; absent where the rate was kept, and
    /// where none was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturated_per_s: Option<f64>,
    /// Their figures.
    pub figures: Vec<FoundFigure>,
    /// The cores of each component of the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<ComponentSummary>,
}

/// The bracket of a load: it lies between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bracket {
    /// 0 where nothing is known from below.
    pub(crate) low: f64,
    /// Infinite where nothing is known from above.
    pub(crate) high: f64,
}

impl Bracket {
    /// The range that either of the two leaves open.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether the two may be one load: they overlap or touch.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// Whether a load lies in it, ends included, but for its last digits.
    pub(crate) fn contains(self, load: f64) -> bool {
        (self.low * (1.0 - CLOSE)..=self.high * (1.0 + CLOSE)).contains(&load)
    }
}

/// The word of an outcome in the summary as JSON.
fn standing<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(match outcome {
        Outcome::More | Outcome::Better => "higher",
        Outcome::Less | Outcome::Worse => "lower",
        Outcome::Same => "same",
        Outcome::NotDecided => "not_decided",
        Outcome::MinimumEffect => "minimum_effect",
        _ => "withheld",
    })
}

impl EqualLoadPath {
    /// A figure of its trials.
    pub fn figure(&self, name: &str) -> Option<&FoundFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_has_its_old_word_as_json() {
        let comparison = |outcome| LoadComparison {
            outcome,
            ratio: None,
            low: None,
            high: None,
            p: None,
            q: None,
            text: String::new(),
        };
        for (outcome, word) in [
            (Outcome::More, "higher"),
            (Outcome::Less, "lower"),
            (Outcome::Same, "same"),
            (Outcome::NotDecided, "not_decided"),
            (Outcome::MinimumEffect, "minimum_effect"),
            (Outcome::Generator, "withheld"),
            (Outcome::OtherSession, "withheld"),
            (Outcome::TooFewRounds, "withheld"),
        ] {
            let found = serde_json::to_value(comparison(outcome)).unwrap();
            assert_eq!(found, serde_json::json!({"standing": word, "text": ""}), "{outcome:?}");
        }
    }

    #[test]
    fn what_was_not_decided_has_words() {
        let step =
            |from, to, growth, low, high| Undecided { from, to, growth, low, high, trials: 9 };
        let one = step(4.0, 16.0, 0.31, -0.4, Some(1.87));
        assert_eq!(
            undecided_text(std::slice::from_ref(&one), "connections"),
            "not decided after 9 trials a level: growth 31 % [-40, 187] from 4 to 16 connections"
        );
        let two = undecided_text(&[one, step(16.0, 64.0, -0.02, -0.9, Some(1e9))], "threads");
        assert!(two.ends_with(", growth -2.0 % [-90, > 999] from 16 to 64 threads"), "{two}");
        assert_eq!(undecided_text(&[], "threads"), "");
    }
}
