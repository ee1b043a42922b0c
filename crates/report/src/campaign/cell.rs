//! What is kept of the trials of one cell.

use hopbench_model::{Record, WarningKind};

use super::Limit;
use super::kind::Kind;

/// The trials of one cell, as far as their figures need them.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    /// The figures of each round, in the order of the kind's figures; not a number where absent.
    pub(crate) rounds: Vec<(u32, Box<[f64]>)>,
    /// What limited the trials, and how many of them, with the numbers of the last.
    pub(crate) limits: Vec<Limit>,
    /// Caveats over all trials.
    pub(crate) warnings: u32,
    /// Whether the generator was the limit of a trial: then the figure is not the path's.
    pub(crate) generator_limited: bool,
}

impl Cell {
    /// Takes the figures of a trial. A round that came before is replaced: the later record is the valid one.
    pub(crate) fn add(&mut self, record: &Record, kind: &Kind, link_bits_per_s: Option<u64>) {
        let figures = kind.figures.iter().map(|f| f.of(record, link_bits_per_s).unwrap_or(f64::NAN)).collect();
        match self.rounds.iter_mut().find(|(round, _)| *round == record.round) {
            Some(known) => known.1 = figures,
            None => self.rounds.push((record.round, figures)),
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
        self.rounds.iter().map(|(_, figures)| figures[figure]).filter(|value| value.is_finite()).collect()
    }

    /// The values of a figure here and in the baseline's cell, of the rounds that have both.
    pub(crate) fn pairs(&self, baseline: &Self, figure: usize) -> Vec<(f64, f64)> {
        let pair = |(round, figures): &(u32, Box<[f64]>)| {
            let other = baseline.rounds.iter().find(|(other, _)| other == round)?;
            Some((figures[figure], other.1[figure]))
        };
        self.rounds.iter().filter_map(pair).filter(|(a, b)| a.is_finite() && b.is_finite()).collect()
    }
}
