//! The permutation test: what would have come out by chance, by permutations from a seed.

use crate::random::Random;
use crate::summary::mean;

/// Up to this number of ways to divide two sets each is gone through.
const MOST_DIVISIONS: f64 = 20_000.0;

/// A p-value of a permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permuted {
    /// The share of permutations at least as extreme as what was seen, in either direction.
    pub p: f64,
    /// The smallest p-value that so few values, or so few permutations, can give.
    pub smallest: f64,
    /// Whether all permutations were counted, and not a sample of them.
    pub exact: bool,
}

fn sampled(extreme: usize, resamples: usize) -> Permuted {
    let ways = (resamples + 1) as f64;
    Permuted { p: (extreme + 1) as f64 / ways, smallest: 1.0 / ways, exact: false }
}

/// The permutation test of two sets. How often is Welch's t as far from 0, if all values are dealt
/// anew to sets of these sizes?
///
/// All divisions are gone through where there are at most 20 000. Else `resamples` are drawn. Then
/// the p-value is (as extreme + 1) / (resamples + 1), which is never too small (B. Phipson and G.
/// K. Smyth, "Permutation P-values Should Never Be Zero", Statistical Applications in Genetics and
/// Molecular Biology 9(1), 2010).
///
/// With t in place of the difference it holds for sets of different spread as well, about (A.
/// Janssen, "Studentized Permutation Tests for Non-i.i.d. Hypotheses and the Generalized
/// Behrens-Fisher Problem", Statistics & Probability Letters 36(1), 1997).
///
/// `None` where a set has fewer than 2 values or one that is not finite.
#[must_use]
pub fn permuted(a: &[f64], b: &[f64], resamples: usize, seed: u64) -> Option<Permuted> {
    if a.len() < 2 || b.len() < 2 || a.iter().chain(b).any(|value| !value.is_finite()) {
        return None;
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    let n = a.len();
    // Around 0, so that sums of squares keep their digits.
    let centre = mean(&all)?;
    all.iter_mut().for_each(|value| *value -= centre);
    let seen = welch_t(&all[..n], &all[n..]).abs();
    // A factor, as t may be infinite.
    let bar = seen * (1.0 - 1e-9);
    let ways = (1..=n).map(|i| (all.len() - n + i) as f64 / i as f64).product::<f64>().round();
    if ways <= MOST_DIVISIONS {
        let mut chosen: Vec<usize> = (0..n).collect();
        let mut extreme = 0usize;
        loop {
            let (mut one, mut other) = (Vec::with_capacity(n), Vec::with_capacity(all.len() - n));
            let mut next = 0;
            for (at, value) in all.iter().enumerate() {
                if chosen.get(next) == Some(&at) {
                    one.push(*value);
                    next += 1;
                } else {
                    other.push(*value);
                }
            }
            extreme += usize::from(welch_t(&one, &other).abs() >= bar);
            if !advance(&mut chosen, all.len()) {
                break;
            }
        }
        let least = if n * 2 == all.len() { 2.0 } else { 1.0 };
        return Some(Permuted { p: extreme as f64 / ways, smallest: least / ways, exact: true });
    }
    let mut random = Random::new(seed);
    let total = Sums::of(&all);
    let mut extreme = 0;
    for _ in 0..resamples {
        // The first n of a shuffle are enough, and what the others sum up to is what is left.
        let mut one = Sums::default();
        for at in 0..n {
            let left = all.len() - at;
            all.swap(at, at + random.below(left));
            one.add(all[at]);
        }
        extreme += usize::from(one.welch_t(&total.without(&one)).abs() >= bar);
    }
    Some(sampled(extreme, resamples))
}

/// The next choice of places out of `of`, ascending; `false` after the last.
fn advance(chosen: &mut [usize], of: usize) -> bool {
    let n = chosen.len();
    let Some(at) = (0..n).rev().find(|at| chosen[*at] < of - n + at) else {
        return false;
    };
    chosen[at] += 1;
    for later in at + 1..n {
        chosen[later] = chosen[later - 1] + 1;
    }
    true
}

/// How many values there are, their sum and that of their squares.
#[derive(Default)]
struct Sums {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let mut out = Self::default();
        values.iter().for_each(|value| out.add(*value));
        out
    }

    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// Of the values that are not among `others`.
    fn without(&self, others: &Self) -> Self {
        Self {
            n: self.n - others.n,
            sum: self.sum - others.sum,
            squares: self.squares - others.squares,
        }
    }

    /// The difference of the means over its standard error; infinite where nothing scatters and
    /// they differ.
    fn welch_t(&self, other: &Self) -> f64 {
        let moments = |sums: &Self| {
            let Self { n, sum, squares } = *sums;
            (sum / n, ((squares - sum * sum / n) / (n - 1.0) / n).max(0.0))
        };
        let ((a, a_error), (b, b_error)) = (moments(self), moments(other));
        if a == b { 0.0 } else { (a - b) / (a_error + b_error).sqrt() }
    }
}

/// [`Sums::welch_t`] of these values.
fn welch_t(a: &[f64], b: &[f64]) -> f64 {
    Sums::of(a).welch_t(&Sums::of(b))
}

#[cfg(test)]
mod tests;
