//! The test of aligned ranks: of rounds that measured a path once and its baseline twice.
//!
//! The signed-rank test takes differences as symmetric. A path less the mean of two measurements is
//! that only where noise is symmetric. Where one trial in ten is far slower, it would call the same
//! thing different in 9 % of cases with 60 rounds, and in 22 % with 200. What holds without a
//! difference is that the three figures of a round may change places.
//!
//! So each figure is aligned by its round's mean, and all figures of all rounds are ranked
//! together. The statistic is by how much the path's ranks exceed the means of their rounds (J. L.
//! Hodges and E. L. Lehmann, "Rank Methods for Combination of Independent Experiments in Analysis
//! of Variance", The Annals of Mathematical Statistics 33(2), 1962). Its variance is that over all
//! changes of places. Its distribution is close to the normal one from 8 rounds on, and has shorter
//! tails.
//!
//! The interval holds each shift of the path by which the test finds no difference any more. The
//! estimate is the shift that makes the statistic 0. A round whose baseline was measured once
//! counts with its two figures.

use super::ranks::RankTest;
use crate::interval::Interval;
use crate::student;
use crate::summary::median;

/// A shift is found to so many halvings of the range that holds it.
const HALVINGS: u32 = 22;
/// A range of shifts is no narrower than this.
const NARROWEST: f64 = 1e-6;
/// Ranks that differ by less than this are equal.
const EXACT: f64 = 1e-6;

/// A figure on logarithms, less the mean of its round.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    aligned: f64,
    /// By how much it falls when the path is shifted down by 1; below 0: it rises.
    falls: f64,
    /// The round.
    block: usize,
    is_path: bool,
}

/// Rounds whose baseline was measured twice, at least in some.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Aligned {
    /// The path less the mean of the baseline's, of each round.
    differences: Vec<f64>,
    /// Those that move alike stand together, in order: they are soon sorted again.
    figures: Vec<Figure>,
    /// Shifts below and above which all figures of the path lie on one side of all others; absent
    /// without rounds.
    range: Option<Interval>,
    /// The shift that makes the statistic 0.
    middle: Option<f64>,
}

impl Aligned {
    /// Of rounds: the path less the mean of the baseline's, and half of what those differ by.
    pub(super) fn of(rounds: &[(f64, Option<f64>)]) -> Self {
        let mut figures = Vec::with_capacity(3 * rounds.len());
        for (block, (difference, half)) in rounds.iter().enumerate() {
            let mut add = |aligned: f64, falls: f64| {
                figures.push(Figure { aligned, falls, block, is_path: falls > 0.0 });
            };
            match half {
                Some(half) => {
                    add(2.0 * difference / 3.0, 2.0 / 3.0);
                    add(half - difference / 3.0, -1.0 / 3.0);
                    add(-half - difference / 3.0, -1.0 / 3.0);
                }
                None => {
                    add(difference / 2.0, 1.0 / 2.0);
                    add(-difference / 2.0, -1.0 / 2.0);
                }
            }
        }
        let order = |a: &Figure, b: &Figure| {
            a.falls.total_cmp(&b.falls).then(a.aligned.total_cmp(&b.aligned))
        };
        figures.sort_unstable_by(order);
        let differences: Vec<f64> = rounds.iter().map(|(difference, _)| *difference).collect();
        let range = median(&differences).map(|middle| {
            let far = rounds.iter().map(|(difference, half)| {
                (difference - middle).abs() + half.unwrap_or_default().abs()
            });
            let reach = 6.0 * far.fold(NARROWEST, f64::max);
            Interval { low: middle - reach, high: middle + reach }
        });
        let mut out = Self { differences, figures, range, middle: None };
        out.middle = range.map(|Interval { low, high }| {
            let above = last(low, high, |shift| out.statistic(shift) > 0.0);
            let below = last(high, low, |shift| out.statistic(shift) < 0.0);
            f64::midpoint(above, below)
        });
        out
    }

    /// The path less the mean of the baseline's, of each round.
    pub(super) fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// The statistic with the path shifted down, in standard deviations; 0 where no figure differs.
    fn statistic(&self, shift: f64) -> f64 {
        let moved = |figure: &Figure| (figure.aligned - figure.falls * shift, *figure);
        let mut figures: Vec<(f64, Figure)> = self.figures.iter().map(moved).collect();
        figures.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ranked = vec![RankedBlock::default(); self.differences.len()];
        let mut first = 0;
        while first < figures.len() {
            // Those that are equal share the mean of their ranks.
            let equal = figures[first..].iter().take_while(|f| f.0 <= figures[first].0).count();
            let rank = first as f64 + (equal as f64 + 1.0) / 2.0;
            for (_, figure) in &figures[first..first + equal] {
                ranked[figure.block].add(rank, figure.is_path);
            }
            first += equal;
        }
        let excess: f64 = ranked.iter().map(RankedBlock::excess).sum();
        let variance: f64 = ranked.iter().map(RankedBlock::variance).sum();
        // Thirds of ranks do not add up to 0 exactly.
        if variance > 0.0 && excess.abs() > EXACT { excess / variance.sqrt() } else { 0.0 }
    }

    fn p_at(&self, shift: f64) -> f64 {
        student::beyond(self.statistic(shift), student::NORMAL)
    }
}

/// From a point where something holds towards one where it does not: the last where it does.
fn last(mut holds: f64, mut fails: f64, is_held: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(holds, fails);
        if is_held(middle) { holds = middle } else { fails = middle }
    }
    holds
}

impl RankTest for Aligned {
    fn median(&self) -> Option<f64> {
        self.middle
    }

    fn p(&self) -> f64 {
        self.p_at(0.0)
    }

    fn interval(&self, outside: f64) -> Option<Interval> {
        let (middle, range) = (self.middle?, self.range?);
        let accepts = |shift: f64| self.p_at(shift) > outside;
        let with_none = accepts(0.0);
        // No difference is on the side that its own p-value says.
        let end = |far: f64| {
            let is_beyond = (far < middle) == (0.0 < middle) && middle != 0.0;
            match (is_beyond, with_none) {
                (true, false) => Some(last(middle, 0.0, accepts)),
                (true, true) if !accepts(far) => Some(last(0.0, far, accepts)),
                (false, _) if !accepts(far) => Some(last(middle, far, accepts)),
                _ => None,
            }
        };
        Some(Interval { low: end(range.low)?, high: end(range.high)? })
    }
}

/// The ranks of a round's figures.
#[derive(Debug, Clone, Copy, Default)]
struct RankedBlock {
    path: f64,
    count: f64,
    sum: f64,
    squares: f64,
}

impl RankedBlock {
    fn add(&mut self, rank: f64, is_path: bool) {
        if is_path {
            self.path = rank;
        }
        self.count += 1.0;
        self.sum += rank;
        self.squares += rank * rank;
    }

    /// By how much the path's rank exceeds the mean.
    fn excess(&self) -> f64 {
        self.path - self.sum / self.count
    }

    /// The variance of that, if each of the figures may be the path's.
    fn variance(&self) -> f64 {
        let mean = self.sum / self.count;
        (self.squares / self.count - mean * mean).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ranks::Ranks;
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6
    }

    #[test]
    fn the_statistic_is_counted_by_hand() {
        // Aligned: 4, -1, -3 and 2, 0, -2. Ranks: 6, 3, 1 and 5, 4, 2. The path's exceed the means
        // 10/3 and 11/3 by 8/3 and 4/3. Variances: (36 + 9 + 1) / 3 - 100/9 = 38/9 and (25 + 16 +
        // 4) / 3 - 121/9 = 14/9.
        let two = Aligned::of(&[(6.0, Some(1.0)), (3.0, Some(1.0))]);
        assert!(close(two.statistic(0.0), 4.0 / (52.0f64 / 9.0).sqrt()));
        // Without a difference anything may be the path's.
        assert_eq!(Aligned::of(&[(0.0, Some(0.0)); 9]).p(), 1.0);
        assert_eq!(Aligned::of(&[]).median(), None);
    }

    #[test]
    fn rounds_without_a_twin_are_those_of_the_signed_ranks() {
        let differences: Vec<f64> =
            (0..30).map(|i| f64::from((i * 37) % 30).powi(2) / 900.0 - 0.1).collect();
        let rounds: Vec<_> = differences.iter().map(|one| (*one, None)).collect();
        let aligned = Aligned::of(&rounds);
        let signed = Ranks::signed(&differences);
        // Where ranks are of both figures, one of a pair has n less its fellow's.
        assert!((aligned.p() - signed.p()).abs() < 0.01, "{} {}", aligned.p(), signed.p());
        assert!((aligned.median().unwrap() - signed.median().unwrap()).abs() < 0.01);
        let ends = [&aligned as &dyn RankTest, &signed].map(|one| one.interval(0.05).unwrap());
        assert!((ends[0].low - ends[1].low).abs() < 0.02, "{ends:?}");
        assert!((ends[0].high - ends[1].high).abs() < 0.02, "{ends:?}");
    }

    #[test]
    fn the_same_difference_in_each_round_is_the_estimate_and_the_interval() {
        let same = Aligned::of(&[(0.5, Some(0.0)); 12]);
        let found = same.interval(0.05).unwrap();
        assert!(close(found.low, 0.5) && close(found.high, 0.5), "{found:?}");
        assert!(close(same.median().unwrap(), 0.5));
        let few = Aligned::of(&[(0.5, Some(0.1)); 2]);
        assert_eq!(few.interval(0.05), None, "2 rounds reject nothing");
    }

    proptest! {
        #[test]
        fn an_interval_leaves_out_0_where_the_test_finds_a_difference(
            rounds in prop::collection::vec((-3i8..6, prop::option::of(-3i8..4)), 8..40),
            outside in prop::sample::select(vec![0.2, 0.05, 0.01]),
        ) {
            let of = |sign: f64| {
                let float = |(one, half): &(i8, Option<i8>)| {
                    (sign * f64::from(*one), half.map(f64::from))
                };
                Aligned::of(&rounds.iter().map(float).collect::<Vec<_>>())
            };
            let aligned = of(1.0);
            let interval = aligned.interval(outside);
            if let Some(interval) = interval {
                let middle = aligned.median().unwrap();
                prop_assert!(interval.low <= middle && middle <= interval.high, "{:?}", interval);
                prop_assert_eq!(!interval.contains(0.0), aligned.p() <= outside);
            }
            // A path that is faster by as much has the opposite interval.
            let turned = of(-1.0);
            prop_assert!((aligned.p() - turned.p()).abs() < 1e-9);
            prop_assert!((aligned.median().unwrap() + turned.median().unwrap()).abs() < 1e-4);
        }
    }
}
