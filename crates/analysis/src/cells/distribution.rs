//! Latency distributions, for as many cells as fit in a picture.

use std::collections::BTreeMap;

use hopbench_stats::{Histogram, PooledRounds, pooled_mean};

use super::batches::fewest_samples;
use crate::summary::PooledSummary;

/// More paths than this are not told apart in one picture.
const MOST_PATHS: usize = 12;
/// The texts of the histograms of a round take some KiB each: this many bound the memory to some
/// MiB.
const MOST_CELLS: usize = 96;
/// Points of a curve from one nine to the next.
const STEPS_A_NINE: u32 = 8;
/// The last percentile of a curve, nines; more samples than that has no trial.
const MOST_NINES: u32 = 10;
/// Resamples behind the interval of a percentile.
const RESAMPLES: usize = 500;
/// The mean among them.
const MEAN: &str = "mean";
/// The percentiles of all rounds together, each as far as enough samples lie beyond it.
const POOLED: [(&str, f64); 4] = [("p50", 50.0), ("p90", 90.0), ("p99", 99.0), ("p999", 99.9)];

/// The distributions of chosen cells by round: rounds of a cell measure one thing, and merged they
/// have all that was seen. (Columns of percentiles show the median over the rounds instead, and
/// those of the 99th percentile the median over batches of rounds.)
#[derive(Debug, Clone, Default)]
pub(crate) struct Distributions(BTreeMap<(usize, usize), BTreeMap<u32, String>>);

/// The distribution of a cell.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// Nines and ns, as far as there are samples, and at its end the largest.
    pub(crate) curve: Vec<(f64, u64)>,
    /// The mean and the percentiles of all rounds together; empty with one round.
    pub(crate) pooled: Vec<PooledSummary>,
}

impl Distributions {
    /// Room for these cells (path, point), in the order of their importance.
    pub(crate) fn of(cells: impl Iterator<Item = (usize, usize)>) -> Self {
        let shown = cells.filter(|(path, _)| *path < MOST_PATHS).take(MOST_CELLS);
        Self(shown.map(|cell| (cell, BTreeMap::new())).collect())
    }

    /// Takes what a trial of the cell saw in a round, if its distribution is shown; what was known
    /// of that round is replaced.
    pub(crate) fn add(&mut self, cell: (usize, usize), round: u32, hdr: &str) {
        if let Some(rounds) = self.0.get_mut(&cell) {
            rounds.insert(round, hdr.to_owned());
        }
    }

    /// The distribution of a cell over these rounds; `None` where nothing was kept of them.
    pub(crate) fn over(
        &self,
        cell: (usize, usize),
        rounds: &[u32],
        seed: u64,
    ) -> Option<Distribution> {
        let kept = self.0.get(&cell)?.iter().filter(|(round, _)| rounds.contains(round));
        let read = kept.filter_map(|(_, hdr)| Histogram::from_base64(hdr).ok());
        let (mut all, mut means) = (Histogram::new(), Vec::new());
        let seen = read.filter(|one| !one.is_empty()).map(|one| {
            all.merge(&one);
            means.push((one.count(), one.mean()));
            vec![one]
        });
        let rounds = PooledRounds::of(seen);
        (!all.is_empty()).then(|| Distribution {
            curve: curve(&all),
            pooled: pooled(&rounds, &means, all.count(), seed),
        })
    }
}

fn curve(histogram: &Histogram) -> Vec<(f64, u64)> {
    let count = histogram.count() as f64;
    (0..=STEPS_A_NINE * MOST_NINES)
        .map(|step| f64::from(step) / f64::from(STEPS_A_NINE))
        // A percentile beyond the last sample is the last sample again.
        .take_while(|nines| count * 10f64.powf(-nines) >= 1.0)
        .map(|nines| (nines, histogram.percentile(100.0 * (1.0 - 10f64.powf(-nines)))))
        // All samples are at or below the largest, which has no place on an axis of nines. It
        // stands in the middle of the share that the last sample is.
        .chain([((2.0 * count).log10(), histogram.max())])
        .collect()
}

/// `means`: the samples of each round, and their mean, ns; `count`: all samples.
fn pooled(
    rounds: &PooledRounds,
    means: &[(u64, f64)],
    count: u64,
    seed: u64,
) -> Vec<PooledSummary> {
    if means.len() < 2 {
        return Vec::new();
    }
    let one = |(name, percentile): &(&'static str, f64)| {
        let found = rounds.percentile(*percentile, RESAMPLES, seed)?;
        let interval = found.interval?;
        Some(PooledSummary {
            percentile: name,
            value_ns: found.value_ns,
            low_ns: interval.low,
            high_ns: interval.high,
            rounds: found.rounds,
        })
    };
    let known = POOLED.iter().filter(|(_, percentile)| count >= fewest_samples(*percentile));
    mean(means).into_iter().chain(known.filter_map(one)).collect()
}

/// The mean of all samples.
fn mean(rounds: &[(u64, f64)]) -> Option<PooledSummary> {
    let (mean, interval) = pooled_mean(rounds)?;
    Some(PooledSummary {
        percentile: MEAN,
        value_ns: mean.round() as u64,
        low_ns: interval.low,
        high_ns: interval.high,
        rounds: rounds.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(start: u64) -> String {
        let mut round = Histogram::new();
        (start..start + 500).for_each(|ns| round.record(ns));
        round.to_base64()
    }

    #[test]
    fn rounds_are_merged_and_the_curve_ends_with_the_samples() {
        let mut kept = Distributions::of([(0, 3), (40, 3)].into_iter());
        kept.add((0, 3), 1, &round(7_000_000));
        for (number, start) in [(1, 1), (2, 501)] {
            kept.add((0, 3), number, &round(start));
            kept.add((40, 3), number, &round(start));
        }
        kept.add((0, 3), 3, &round(8_000_000));
        let found = kept.over((0, 3), &[1, 2], 1).unwrap();
        assert_eq!(
            found.curve.first(),
            Some(&(0.0, 1)),
            "a round that was repeated counts once, one left out not at all"
        );
        assert_eq!(found.curve.iter().find(|(nines, _)| *nines == 2.0), Some(&(2.0, 990)));
        let [.., before, last] = found.curve[..] else { panic!("{found:?}") };
        assert_eq!(before, (3.0, 999), "1000 samples know three nines");
        assert!(
            last.0 > 3.3 && last.0 < 3.31 && last.1 == 1000,
            "the largest is the end: {last:?}"
        );
        assert!(kept.over((40, 3), &[1, 2], 1).is_none(), "the 41st path is not shown");
    }

    #[test]
    fn percentiles_of_all_rounds_have_intervals_from_two_rounds_on() {
        let mut kept = Distributions::of([(0, 0)].into_iter());
        (1..=5).for_each(|number| kept.add((0, 0), number, &round(1000 + 10 * u64::from(number))));
        assert!(kept.over((0, 0), &[1], 1).unwrap().pooled.is_empty());
        let found = kept.over((0, 0), &[1, 2, 3, 4, 5], 1).unwrap().pooled;
        assert_eq!(
            found.iter().map(|one| one.percentile).collect::<Vec<_>>(),
            ["mean", "p50", "p90", "p99"],
            "of 2500 samples 2.5 lie beyond the 99.9th percentile"
        );
        let [mean, p50, ..] = &found[..] else { panic!("{found:?}") };
        // The samples are 1010 ... 1549.
        assert!((1275..=1285).contains(&mean.value_ns) && mean.rounds == 5, "{mean:?}");
        // The means of the rounds are 10 ns apart: 1279.5, and 2.776 times 15.8 / sqrt(5).
        assert!((1259.0..1261.0).contains(&mean.low_ns), "{mean:?}");
        assert!((1298.5..1300.5).contains(&mean.high_ns), "{mean:?}");
        // The samples are 1010 ... 1549; half of them are at or below 1279.
        assert!((1275..=1284).contains(&p50.value_ns) && p50.rounds == 5, "{p50:?}");
        assert!(p50.low_ns < p50.value_ns as f64 && (p50.value_ns as f64) < p50.high_ns, "{p50:?}");
        assert!(
            p50.low_ns > 1240.0 && p50.high_ns < 1320.0,
            "rounds differ by 10 ns each: {p50:?}"
        );
        (6..=20).for_each(|number| kept.add((0, 0), number, &round(1000)));
        let rounds: Vec<u32> = (1..=20).collect();
        let all = kept.over((0, 0), &rounds, 1).unwrap().pooled;
        assert_eq!(all.last().map(|one| one.percentile), Some("p999"), "10 of 10000 do");
        let again = kept.over((0, 0), &[1, 2, 3, 4, 5], 1).unwrap().pooled;
        assert_eq!(found, again, "the same seed, the same interval");
    }
}
