//! Far percentiles of cells that are compared: read from the samples of several rounds together, as
//! in the report of a run. Else the 99th percentile of 30 answers would be the slowest of them.

use std::collections::BTreeMap;

use hopbench_stats::Histogram;

use super::super::measure::Measure;
use super::kept::{Kept, Round};
use crate::cells::batches::{divided, fewest_samples};

/// How a far percentile of a cell is read: from batches of rounds, which are of one size in all
/// runs of both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Far {
    /// Index of the measure.
    measure: usize,
    percentile: f64,
    /// Rounds of a batch; the last of a session may have more.
    rounds: usize,
}

impl Far {
    /// `None` where the rounds of each run have enough samples on average, where the samples of a
    /// round are not known, and if the measure is no far percentile.
    pub(crate) fn of(runs: &[&Kept], index: usize, measure: &Measure) -> Option<Self> {
        let percentile = measure.far_percentile()?;
        let fewest = fewest_samples(percentile);
        let (mut size, mut longest, mut is_short) = (1, 1, false);
        for kept in runs {
            let (mut seen, mut rounds) = (0, 0);
            for round in kept.having(index) {
                seen += round.samples[index].as_ref()?.count;
                rounds += 1;
            }
            longest = longest.max(rounds as usize);
            if seen >= fewest {
                size = size.max((fewest * rounds).div_ceil(seen) as usize);
            } else {
                is_short |= rounds > 0;
            }
        }
        let is_single = size <= 1 && !is_short;
        // A run that is short has one value, whatever the size: it is as long as any.
        let rounds = if is_short { longest } else { size };
        (!is_single).then_some(Self { measure: index, percentile, rounds })
    }

    /// The percentile in each batch of a run.
    fn of_batches(self, kept: &Kept) -> Vec<f64> {
        let batches = batches(kept.having_at(self.measure), self.rounds);
        batches.iter().filter_map(|batch| self.read(kept, batch)).collect()
    }

    /// The percentile in two cells of a run, in each batch of the rounds that both have.
    pub(super) fn pairs(self, here: &Kept, there: &Kept) -> Vec<(f64, f64)> {
        let both = here.having_at(self.measure).filter(|(number, round)| {
            let other = there.rounds.get(number);
            other.is_some_and(|other| {
                other.session == round.session && other.figures[self.measure].is_finite()
            })
        });
        let read = |batch: &Vec<u32>| Some((self.read(here, batch)?, self.read(there, batch)?));
        batches(both, self.rounds).iter().filter_map(read).collect()
    }

    fn read(self, kept: &Kept, batch: &[u32]) -> Option<f64> {
        let mut all = Histogram::new();
        let rounds = batch.iter().filter_map(|number| kept.rounds.get(number));
        let samples = rounds.filter_map(|round| round.samples[self.measure].as_ref());
        samples.for_each(|one| one.add_to(&mut all));
        (!all.is_empty()).then(|| all.percentile(self.percentile) as f64)
    }
}

/// The values of a figure over the rounds of a run that have it, or over batches of them.
pub(crate) fn values(kept: &Kept, measure: usize, far: Option<Far>) -> Vec<f64> {
    far.map_or_else(|| kept.values(measure), |far| far.of_batches(kept))
}

/// Numbers of rounds in batches of this size, session by session.
fn batches<'a>(rounds: impl Iterator<Item = (u32, &'a Round)>, size: usize) -> Vec<Vec<u32>> {
    let mut sessions: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, round) in rounds {
        sessions.entry(round.session).or_default().push(number);
    }
    sessions.values().flat_map(|rounds| divided(rounds, size)).collect()
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Record, fixture};

    use super::*;
    use crate::figures::{Intent, kinds};

    fn p99() -> Measure {
        Measure::named("p99", kinds::of("rr", Intent::Most))
    }

    /// A cell whose round `n` saw `count` answers of n us.
    fn cell(counts: &[u64]) -> Kept {
        let measure = p99();
        let round = |(number, count): (u32, &u64)| {
            let mut seen = Histogram::new();
            (0..*count).for_each(|_| seen.record(u64::from(number) * 1000));
            let mut record = Record { round: number, ..fixture::record(&[]) };
            record.latency.insert("service_ns".to_owned(), seen.summary());
            let (figure, samples) = (measure.of(&record, false), measure.samples(&record));
            let figures = [figure].into();
            (
                number,
                Round {
                    session: 1,
                    late: false,
                    saturated_per_s: None,
                    figures,
                    samples: [samples].into(),
                },
            )
        };
        Kept { rounds: (1..).zip(counts).map(round).collect() }
    }

    fn us(values: &[f64]) -> Vec<u64> {
        values.iter().map(|ns| (ns / 1000.0).round() as u64).collect()
    }

    fn far(runs: &[&Kept]) -> Option<Far> {
        Far::of(runs, 0, &p99())
    }

    #[test]
    fn rounds_with_enough_samples_stay_as_they_are() {
        let (a, b) = (cell(&[1000, 1200]), cell(&[5000]));
        assert_eq!(far(&[&a, &b]), None);
        assert_eq!(us(&values(&a, 0, None)), [1, 2]);
    }

    #[test]
    fn all_runs_have_batches_of_the_size_that_the_poorest_needs() {
        let (a, b) = (cell(&[400; 7]), cell(&[5000; 6]));
        let far = far(&[&a, &b]);
        assert_eq!(us(&values(&a, 0, far)), [3, 7], "the seventh goes to the second batch");
        assert_eq!(us(&values(&b, 0, far)), [3, 6]);
        let pairs = far.unwrap().pairs(&a, &b);
        assert_eq!(
            pairs.iter().map(|(a, b)| (us(&[*a])[0], us(&[*b])[0])).collect::<Vec<_>>(),
            [(3, 3), (6, 6)]
        );
    }

    #[test]
    fn a_run_that_is_short_has_one_value_and_so_have_the_others() {
        let (a, b) = (cell(&[30; 4]), cell(&[5000; 9]));
        let far = far(&[&a, &b]);
        assert_eq!((us(&values(&a, 0, far)), us(&values(&b, 0, far))), (vec![4], vec![9]));
    }

    #[test]
    fn sessions_are_not_mixed_and_what_is_not_known_stays_single() {
        let mut one = cell(&[500; 6]);
        for number in 4..=6 {
            one.rounds.get_mut(&number).unwrap().session = 2;
        }
        assert_eq!(us(&values(&one, 0, far(&[&one]))), [3, 6]);
        one.rounds.get_mut(&2).unwrap().samples = [None].into();
        assert_eq!(far(&[&one]), None);
        assert_eq!(
            Far::of(&[&cell(&[10])], 0, &Measure::named("p50", kinds::of("rr", Intent::Most))),
            None
        );
    }
}
