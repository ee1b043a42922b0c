//! Latency distributions, for as many cells as fit in a picture.

use std::collections::BTreeMap;

use hopbench_stats::Histogram;

/// More paths than this are not told apart in one picture.
const MOST_PATHS: usize = 12;
/// A histogram takes 264 KiB: this many bound the memory to 25 MiB.
const MOST_CELLS: usize = 96;
/// Points of a curve from one nine to the next.
const STEPS_A_NINE: u32 = 8;
/// The last percentile of a curve, nines; more samples than that has no trial.
const MOST_NINES: u32 = 10;

/// The distributions of chosen cells, merged over rounds: rounds of a cell measure one thing, and a merged histogram
/// has all that they saw. (Columns of percentiles show the median over rounds of each round's percentile instead: that
/// has an interval.)
#[derive(Debug, Default)]
pub(crate) struct Distributions(BTreeMap<(usize, usize), Histogram>);

impl Distributions {
    /// Room for these cells (path, point), in the order of their importance.
    pub(crate) fn of(cells: impl Iterator<Item = (usize, usize)>) -> Self {
        let shown = cells.filter(|(path, _)| *path < MOST_PATHS).take(MOST_CELLS);
        Self(shown.map(|cell| (cell, Histogram::new())).collect())
    }

    /// Merges what a trial of the cell saw, if its distribution is shown.
    pub(crate) fn add(&mut self, cell: (usize, usize), hdr: &str) {
        if let Some(total) = self.0.get_mut(&cell)
            && let Ok(histogram) = Histogram::from_base64(hdr)
        {
            total.merge(&histogram);
        }
    }

    /// The curve of a cell: nines and ns, as far as there are samples, and at its end the largest; empty where nothing was
    /// kept.
    pub(crate) fn curve(&self, cell: (usize, usize)) -> Vec<(f64, u64)> {
        let Some(histogram) = self.0.get(&cell).filter(|histogram| !histogram.is_empty()) else {
            return Vec::new();
        };
        let count = histogram.count() as f64;
        (0..=STEPS_A_NINE * MOST_NINES)
            .map(|step| f64::from(step) / f64::from(STEPS_A_NINE))
            // A percentile beyond the last sample is the last sample again.
            .take_while(|nines| count * 10f64.powf(-nines) >= 1.0)
            .map(|nines| (nines, histogram.percentile(100.0 * (1.0 - 10f64.powf(-nines)))))
            // All samples are at or below the largest, which has no place on an axis of nines: it stands in the middle of
            // the share that the last sample is.
            .chain([((2.0 * count).log10(), histogram.max())])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_merged_and_the_curve_ends_with_the_samples() {
        let mut kept = Distributions::of([(0, 3), (40, 3)].into_iter());
        for start in [1u64, 501] {
            let mut round = Histogram::new();
            (start..start + 500).for_each(|ns| round.record(ns));
            kept.add((0, 3), &round.to_base64());
            kept.add((40, 3), &round.to_base64());
        }
        let curve = kept.curve((0, 3));
        assert_eq!(curve.first(), Some(&(0.0, 1)));
        assert_eq!(curve.iter().find(|(nines, _)| *nines == 2.0), Some(&(2.0, 990)));
        let [.., before, last] = curve[..] else { panic!("{curve:?}") };
        assert_eq!(before, (3.0, 999), "1000 samples know three nines");
        assert!(last.0 > 3.3 && last.0 < 3.31 && last.1 == 1000, "the largest is the end: {last:?}");
        assert!(kept.curve((40, 3)).is_empty(), "the 41st path is not shown");
    }
}
