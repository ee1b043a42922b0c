//! The trials of a cell of a run that is compared with another, as far as they are needed.

use std::collections::BTreeMap;

use crate::cells::Samples;
use crate::figures::is_mostly_late;

/// The trials of a cell.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// By round.
    pub(crate) rounds: BTreeMap<u32, Round>,
}

#[derive(Debug)]
pub(crate) struct Round {
    pub(super) session: u32,
    /// Whether the generator was its limit.
    pub(super) late: bool,
    /// The rate at which the path was saturated, a second, if it was.
    pub(super) saturated_per_s: Option<f64>,
    /// In the order of the measures; not a number where absent.
    pub(super) figures: Box<[f64]>,
    /// In the same order, of far percentiles only.
    pub(super) samples: Box<[Option<Samples>]>,
}

impl Kept {
    /// Whether the generator was the limit of most of its trials.
    pub(crate) fn is_generator_limited(&self) -> bool {
        is_mostly_late(self.rounds.values().map(|round| round.late))
    }

    /// Of each of its trials the rate at which the path was saturated, if it was.
    pub(crate) fn saturated(&self) -> impl Iterator<Item = Option<f64>> {
        self.rounds.values().map(|round| round.saturated_per_s)
    }

    /// The values of a figure over the rounds that have it.
    pub(super) fn values(&self, measure: usize) -> Vec<f64> {
        self.having(measure).map(|round| round.figures[measure]).collect()
    }

    /// The rounds that have a figure.
    pub(super) fn having(&self, measure: usize) -> impl Iterator<Item = &Round> {
        self.having_at(measure).map(|(_, round)| round)
    }

    /// The same with their numbers.
    pub(super) fn having_at(&self, measure: usize) -> impl Iterator<Item = (u32, &Round)> {
        let has = move |(_, round): &(u32, &Round)| round.figures[measure].is_finite();
        self.rounds.iter().map(|(number, round)| (*number, round)).filter(has)
    }
}
