//! What is kept of the trials of one cell.

use hopbench_model::{Record, WarningKind};

use super::Limit;
use super::kind::Kind;

/// The trials of one cell, as far as their figures need them.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// The trials, one a round.
    pub(crate) rounds: Vec<Round>,
    /// What limited the trials, and how many of them, with the numbers of the last.
    pub(crate) limits: Vec<Limit>,
    /// Caveats over all trials.
    pub(crate) warnings: u32,
    /// Whether the generator was the limit of a trial: then the figure is not the path's.
    pub(crate) generator_limited: bool,
}

/// The trial of one round.
#[derive(Debug)]
pub(crate) struct Round {
    /// The round, from 1.
    round: u32,
    /// In which part of the run it was measured; `--resume` begins another.
    session: u32,
    /// In the order of the kind's figures; not a number where absent.
    figures: Box<[f64]>,
}

/// A figure here and in the baseline's cell.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Pairs {
    /// Rounds that have both, measured in one session.
    pub(crate) rounds: Vec<u32>,
    /// (here, baseline) of each of these rounds.
    pub(crate) values: Vec<(f64, f64)>,
    /// Rounds that have both, but measured in different sessions: what changed in between would look like a difference.
    pub(crate) apart: usize,
}

impl Cell {
    /// Takes the figures of a trial. A round that came before is replaced: the later record is the valid one.
    pub(crate) fn add(&mut self, record: &Record, kind: &Kind) {
        let figures = kind.figures.iter().map(|f| f.of(record).unwrap_or(f64::NAN)).collect();
        let taken = Round { round: record.round, session: record.session, figures };
        match self.rounds.iter_mut().find(|known| known.round == record.round) {
            Some(known) => *known = taken,
            None => self.rounds.push(taken),
        }
        match self.limits.iter_mut().find(|known| known.limit == record.limited_by) {
            Some(known) => {
                known.trials += 1;
                known.because.clone_from(&record.limited_because);
            }
            None => self.limits.push(Limit {
                limit: record.limited_by.clone(),
                trials: 1,
                because: record.limited_because.clone(),
            }),
        }
        self.warnings = self.warnings.saturating_add(u32::try_from(record.warnings.len()).unwrap_or(u32::MAX));
        self.generator_limited |= record.limited_by == "generator"
            || record.warnings.iter().any(|warning| warning.kind == WarningKind::GeneratorLimited);
    }

    /// The values of a figure over the rounds that have it.
    pub(crate) fn values(&self, figure: usize) -> Vec<f64> {
        self.rounds.iter().map(|round| round.figures[figure]).filter(|value| value.is_finite()).collect()
    }

    /// Rounds that were measured here and in the baseline's cell, but not in one session.
    pub(crate) fn apart(&self, baseline: &Self) -> usize {
        let apart = |here: &&Round| baseline.of_round(here.round).is_some_and(|there| there.session != here.session);
        self.rounds.iter().filter(apart).count()
    }

    fn of_round(&self, round: u32) -> Option<&Round> {
        self.rounds.iter().find(|known| known.round == round)
    }

    /// The values of a figure here and in the baseline's cell, of the rounds that have both.
    pub(crate) fn pairs(&self, baseline: &Self, figure: usize) -> Pairs {
        let mut out = Pairs::default();
        for here in &self.rounds {
            let Some(there) = baseline.of_round(here.round) else {
                continue;
            };
            let pair = (here.figures[figure], there.figures[figure]);
            if !pair.0.is_finite() || !pair.1.is_finite() {
                continue;
            }
            if here.session == there.session {
                out.rounds.push(here.round);
                out.values.push(pair);
            } else {
                out.apart += 1;
            }
        }
        out
    }
}
