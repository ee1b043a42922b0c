//! Tests of ranks, and the intervals that belong to them: an interval leaves out 0 if and only if
//! the test at that level finds a difference from it.
//!
//! - Of differences: the signed-rank test (F. Wilcoxon, "Individual Comparisons by Ranking
//!   Methods", Biometrics Bulletin 1(6), 1945). Its statistic is the number of averages of two
//!   differences (Walsh averages) above 0. So its interval lies between two of these averages, and
//!   its estimate is their median (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on
//!   Rank Tests", The Annals of Mathematical Statistics 34(2), 1963). It takes differences as
//!   symmetric, which those of one thing measured twice are. One that is far away moves it little.
//! - Of two sets: the rank-sum test (H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two
//!   Random Variables is Stochastically Larger than the Other", The Annals of Mathematical
//!   Statistics 18(1), 1947), with the interval of D. F. Bauer ("Constructing Confidence Sets Using
//!   Rank Statistics", Journal of the American Statistical Association 67, 1972).
//!
//! What is 0 counts on both sides, which is never too bold.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::interval::Interval;
use crate::student;
use crate::summary::median;

/// Up to this number of values in the larger of two sets their statistic's distribution is counted
/// out. Beyond it the counts leave the range of f64, and the normal limit is as good.
const COUNTED_UP_TO: usize = 100;
thread_local! {
    /// The tails of the signed-rank statistic by the number of differences: a report asks for the
    /// same one hundreds of times.
    static TAILS: RefCell<BTreeMap<usize, Rc<[f64]>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The values that a rank test counts, in order: averages of two differences, or the differences
/// between two sets. With the probabilities that so many of them lie below 0 by chance.
#[derive(Debug)]
pub(super) struct Ranks {
    sorted: Vec<f64>,
    /// The probability that at most k are below, for k = 0, 1 ...; where it ends it is above a
    /// half.
    tail: Rc<[f64]>,
}

/// A test of ranks of logarithms.
pub(super) trait RankTest {
    /// The estimate of the difference; `None` where there are no values.
    fn median(&self) -> Option<f64>;

    /// The two-sided p-value of a difference from 0.
    fn p(&self) -> f64;

    /// The interval that leaves out what the test rejects at the level `outside`; `None`: with so
    /// few values it rejects nothing.
    fn interval(&self, outside: f64) -> Option<Interval>;
}

impl Ranks {
    /// Those of differences.
    pub(super) fn signed(differences: &[f64]) -> Self {
        let averages = differences
            .iter()
            .enumerate()
            .flat_map(|(at, one)| differences[at..].iter().map(move |other| (one + other) / 2.0));
        Self::of(averages.collect(), signed_tail(differences.len()))
    }

    /// Those of two sets.
    pub(super) fn between(a: &[f64], b: &[f64]) -> Self {
        let shifts = a.iter().flat_map(|a| b.iter().map(move |b| a - b));
        Self::of(shifts.collect(), sum_tail(a.len(), b.len()))
    }

    fn of(mut sorted: Vec<f64>, tail: Rc<[f64]>) -> Self {
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted, tail }
    }
}

impl RankTest for Ranks {
    /// The middle one, or the mean of the two in the middle.
    fn median(&self) -> Option<f64> {
        median(&self.sorted)
    }

    fn p(&self) -> f64 {
        let not_above = self.sorted.partition_point(|value| *value <= 0.0);
        let not_below = self.sorted.len() - self.sorted.partition_point(|value| *value < 0.0);
        let share = self.tail.get(not_above.min(not_below)).copied().unwrap_or(1.0);
        (2.0 * share).min(1.0)
    }

    fn interval(&self, outside: f64) -> Option<Interval> {
        let depth = self.tail.partition_point(|share| 2.0 * share <= outside).checked_sub(1)?;
        let (low, high) = (self.sorted.get(depth)?, self.sorted.iter().nth_back(depth)?);
        (low <= high).then_some(Interval { low: *low, high: *high })
    }
}

/// The smallest p-value of so many differences.
pub(super) fn smallest_signed_p(n: usize) -> f64 {
    2.0 * 0.5f64.powf(n as f64)
}

/// The smallest p-value of two sets of these sizes: 2 of all ways to divide their values.
pub(super) fn smallest_sum_p(n: usize, m: usize) -> f64 {
    2.0 / (1..=n).map(|i| (m + i) as f64 / i as f64).product::<f64>()
}

/// The probability that the signed-rank statistic of n differences is at most 0, 1, 2 ... up to its
/// middle, counted out.
fn signed_tail(n: usize) -> Rc<[f64]> {
    let known = TAILS.with_borrow(|tails| tails.get(&n).cloned());
    known.unwrap_or_else(|| {
        let middle = n * (n + 1) / 4;
        // Each rank is above or below with the same chance: its sums are shifted by it, or not.
        let mut shares = vec![0.0; middle + 1];
        shares[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..=middle).rev() {
                let shifted = sum.checked_sub(rank).map_or(0.0, |from| shares[from]);
                shares[sum] = (shares[sum] + shifted) / 2.0;
            }
        }
        let tail: Rc<[f64]> = summed(&shares).into();
        TAILS.with_borrow_mut(|tails| tails.insert(n, Rc::clone(&tail)));
        tail
    })
}

/// The same of the rank-sum statistic of sets of these sizes.
fn sum_tail(n: usize, m: usize) -> Rc<[f64]> {
    if n.max(m) <= COUNTED_UP_TO {
        return summed(&rank_sum_shares(n, m)[..=n * m / 2]).into();
    }
    // The statistic's normal limit, corrected by a half for steps of 1.
    let (n, m) = (n as f64, m as f64);
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let below = |count: usize| {
        let steps = (n * m / 2.0 - 0.5 - count as f64) / deviation;
        let beyond = student::beyond(steps, student::NORMAL) / 2.0;
        if steps > 0.0 { beyond } else { 1.0 - beyond }
    };
    // What lies further out than this no level asks for, and each probability takes a while.
    let first = ((n * m / 2.0 - 10.0 * deviation).max(0.0)) as usize;
    let mut tail = vec![0.0; first];
    tail.extend((first..=(n * m / 2.0) as usize).map(below));
    tail.into()
}

fn summed(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    shares
        .iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect()
}

/// The probabilities of the rank-sum statistic 0, 1, 2 ... for sets of these sizes.
fn rank_sum_shares(n: usize, m: usize) -> Vec<f64> {
    // How many of the ways to choose n of n + m ranks have each sum are the coefficients of a
    // product, that of (1 - q^(m + i)) / (1 - q^i) for i = 1 ... n.
    let top = n * m;
    let mut ways = vec![0.0; top + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for sum in (m + i..=top).rev() {
            ways[sum] -= ways[sum - m - i];
        }
        for sum in i..=top {
            ways[sum] += ways[sum - i];
        }
    }
    // They are the same from both ends, and below the middle the differences above cost no digits.
    for sum in top.div_ceil(2)..=top {
        ways[sum] = ways[top - sum];
    }
    let total: f64 = ways.iter().sum();
    ways.iter().map(|count| count / total).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs())
    }

    #[test]
    fn the_signed_ranks_are_the_tables() {
        // Of 5: 1, 1, 1, 2, 2, 3, 3, 3 of 32 ways each up to the middle.
        let ways: Vec<f64> = signed_tail(5).iter().map(|share| share * 32.0).collect();
        assert_eq!(ways, [1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 13.0, 16.0]);
        // The tables of the test: at 5 %, two-sided, it rejects up to 8 of 10 and 52 of 20.
        for (n, last) in [(6, 0), (8, 3), (10, 8), (15, 25), (20, 52)] {
            let rejected = signed_tail(n).partition_point(|share| 2.0 * share <= 0.05);
            assert_eq!(rejected, last + 1, "{n}");
        }
        assert!(Ranks::signed(&[1.0; 5]).interval(0.05).is_none(), "5 can say 6.25 % at best");
        assert_eq!(Ranks::signed(&[1.0; 5]).p(), smallest_signed_p(5));
        assert!(close(Ranks::between(&[1.0; 4], &[0.0; 4]).p(), smallest_sum_p(4, 4)));
    }

    #[test]
    fn the_rank_sums_are_the_tables() {
        // Of 4 and 4: 1, 1, 2, 3, 5 ... of 70; the table of the test gives 2 x 1/70 for U = 0.
        let shares = rank_sum_shares(4, 4);
        let ways: Vec<u32> = shares.iter().map(|share| (share * 70.0).round() as u32).collect();
        assert_eq!(ways, [1, 1, 2, 3, 5, 5, 7, 7, 8, 7, 7, 5, 5, 3, 2, 1, 1]);
        let (five, nine) = (rank_sum_shares(5, 9), rank_sum_shares(9, 5));
        assert!(
            five.iter().zip(&nine).all(|(a, b)| close(*a, *b))
                && close(five.iter().sum::<f64>(), 1.0)
        );
        // n = m = 6: the table rejects up to U = 5 at 5 %; so from the 6th shift on.
        let all = Ranks { sorted: (1..=36).map(f64::from).collect(), tail: sum_tail(6, 6) };
        assert_eq!(all.interval(0.05), Some(Interval { low: 6.0, high: 31.0 }));
    }

    #[test]
    fn many_values_have_the_normal_limit() {
        let (counted, limit) = (summed(&rank_sum_shares(100, 100)), sum_tail(101, 100));
        // Where each leaves 2.5 % and 0.01 %: one value more moves them by half a hundredth.
        for outside in [0.025, 0.0001] {
            let at = |tail: &[f64]| tail.partition_point(|share| *share <= outside) as f64;
            let (counted, limit) = (at(&counted), at(&limit));
            assert!((limit / counted - 1.01).abs() < 0.01, "{outside}: {counted} {limit}");
        }
    }

    #[test]
    fn nothing_is_on_both_sides() {
        assert_eq!(Ranks::signed(&[0.0; 20]).p(), 1.0);
        let half = [[0.0; 10], [1.0; 10]].concat();
        let none = [[-0.1; 10], [1.0; 10]].concat();
        assert!(Ranks::signed(&half).p() >= Ranks::signed(&none).p());
        assert!(Ranks::signed(&half).p() > Ranks::signed(&[1.0; 20]).p());
    }

    proptest! {
        #[test]
        fn an_interval_leaves_out_0_where_the_test_finds_a_difference(
            a in prop::collection::vec(-3i8..6, 6..40),
            b in prop::collection::vec(-3i8..4, 6..40),
            outside in prop::sample::select(vec![0.2, 0.05, 0.01, 0.0005]),
        ) {
            let [a, b] = [a, b].map(|set| set.into_iter().map(f64::from).collect::<Vec<_>>());
            for ranks in [Ranks::signed(&a), Ranks::between(&a, &b)] {
                let leaves_out = ranks.interval(outside).is_some_and(|i| !i.contains(0.0));
                prop_assert_eq!(leaves_out, ranks.p() <= outside);
            }
        }
    }
}
