//! How far a median of a few rounds can be trusted.

use crate::rounds;
use crate::summary::median;

/// The confidence that every interval here aims at.
pub const CONFIDENCE: f64 = 0.95;

/// From this number of values on, an interval of a median can reach [`CONFIDENCE`] whatever the distribution: the range
/// from the smallest to the largest of n values holds the true median with probability 1 - 2^(1-n), and no bootstrap
/// reaches beyond it.
pub const ENOUGH_ROUNDS: usize = 6;

/// More values than this are not resampled: the exact distribution takes a square of their number.
const MOST_VALUES: usize = 200;

/// A range that holds the true value with the confidence that its maker says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end; not below `low`.
    pub high: f64,
}

impl Interval {
    /// Whether the value lies inside, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The smallest interval that holds both.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// The percentile bootstrap interval of the median, 95 %.
///
/// Resampling with replacement is not simulated: for a median the distribution over all n^n resamples has a closed
/// form, so the result is the one that infinitely many resamples would give, and needs no seed. The method is the
/// percentile interval of Efron, "Bootstrap Methods: Another Look at the Jackknife", The Annals of Statistics 7(1),
/// 1979, whose section 3 gives that closed form.
///
/// What few values can say: with 2 to 5 the interval is the range of the values,
/// which holds the true median with probability 50 %, 75 %, 87.5 % and 93.75 %, not 95 %. It shows the spread; it is
/// no ground for a verdict. [`paired_ratio`] widens its interval there.
///
/// `None` for fewer than 2 values (one value says nothing of its spread), more than 200, or one that is not finite.
#[must_use]
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    if !(2..=MOST_VALUES).contains(&values.len()) || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut medians = resampled_medians(&sorted);
    medians.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let low = first_above(medians.iter(), tail)?;
    let high = first_above(medians.iter().rev(), tail)?;
    Some(Interval { low, high })
}

/// The first value at which the probabilities so far exceed `tail`.
fn first_above<'a>(medians: impl Iterator<Item = &'a (f64, f64)>, tail: f64) -> Option<f64> {
    let mut sum = 0.0;
    for (value, probability) in medians {
        sum += probability;
        // An allowance for rounding: an exact tie belongs to the interval.
        if sum > tail + 1e-12 {
            return Some(*value);
        }
    }
    None
}

/// Every median that a resample of these sorted values can have, with its probability.
fn resampled_medians(sorted: &[f64]) -> Vec<(f64, f64)> {
    let n = sorted.len();
    if !n.is_multiple_of(2) {
        // The median of a resample is at most x[k] when at least half of its draws are.
        let half = n / 2 + 1;
        let at_most = |k: usize| at_least(n, half, k as f64 / n as f64);
        return (0..n).map(|k| (sorted[k], at_most(k + 1) - at_most(k))).collect();
    }
    // The two draws in the middle are x[i] and x[j]. For i < j, half of the draws lie at or below x[i] with at least
    // one equal to it, and half at or above x[j] with at least one equal to it.
    let half = n / 2;
    let at_most = |k: usize| at_least(n, half, k as f64 / n as f64);
    let ways = ln_choose(n, half);
    let share = |k: usize| (k as f64 / n as f64).powi(half as i32);
    let mut out = Vec::with_capacity(n * (n + 1) / 2);
    for i in 0..n {
        let mut apart = 0.0;
        for j in i + 1..n {
            let below = share(i + 1) - share(i);
            let above = share(n - j) - share(n - j - 1);
            let probability = if below > 0.0 && above > 0.0 { (ways + below.ln() + above.ln()).exp() } else { 0.0 };
            apart += probability;
            out.push((sorted[i] / 2.0 + sorted[j] / 2.0, probability));
        }
        out.push((sorted[i], (at_most(i + 1) - at_most(i) - apart).max(0.0)));
    }
    out
}

/// The probability of at least `least` successes in n trials with success probability p.
fn at_least(n: usize, least: usize, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let one = |k: usize| (ln_choose(n, k) + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp();
    (least..=n).map(one).sum::<f64>().min(1.0)
}

/// The logarithm of the number of ways to choose k of n.
fn ln_choose(n: usize, k: usize) -> f64 {
    (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
}

/// How a figure compares with a baseline that was measured in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The median of the ratios of the rounds.
    pub median: f64,
    /// Its interval, 95 %; absent with one round.
    pub interval: Option<Interval>,
    /// Rounds in which both were measured.
    pub rounds: usize,
}

/// Why two figures have no ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRatio {
    /// No round has both.
    NoPairs,
    /// A figure of this pair, counted from 0, is not finite or not above 0.
    Pair(usize),
}

/// The ratio of two figures, taken round by round, so that what changed between rounds hits both alike.
///
/// `pairs` holds (value, baseline) of each round. The median of the ratios comes with the bootstrap interval of
/// [`median_interval`], widened where that holds less than 95 %, because two runs of one thing would otherwise be told
/// apart too often: in every fourth comparison of 3 rounds, in every eighth of 7. With 2 to 5 rounds it is widened to hold
/// Student's t interval of the mean of the ratios' logarithms, which takes the logarithms as normal; with 2 rounds that is
/// very wide, which is what 2 rounds are worth. From [`ENOUGH_ROUNDS`] on it is widened to hold the interval between two
/// order statistics that the sign test gives, which holds the median with 95 % whatever the distribution.
///
/// # Errors
/// [`NoRatio`] without pairs, or when a value or a baseline is not finite or not above 0: a ratio to nothing is none, and
/// to leave out the rounds that have none would show the others as if they were all.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Result<Ratio, NoRatio> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if let Some(pair) = pairs.iter().position(|(value, baseline)| !usable(*value) || !usable(*baseline)) {
        return Err(NoRatio::Pair(pair));
    }
    let ratios: Vec<f64> = pairs.iter().map(|(value, baseline)| value / baseline).collect();
    let bootstrap = median_interval(&ratios);
    let other = if ratios.len() < ENOUGH_ROUNDS { log_interval(&ratios) } else { sign_interval(&ratios) };
    let interval = bootstrap.and_then(|b| Some(b.hull(other?)));
    let median = median(&ratios).ok_or(NoRatio::NoPairs)?;
    Ok(Ratio { median, interval, rounds: ratios.len() })
}

/// By how much a figure differs from another that was measured in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The median of the differences of the rounds, in the figure's own unit.
    pub median: f64,
    /// Its interval, 95 %; absent with one round.
    pub interval: Option<Interval>,
    /// Rounds in which both were measured.
    pub rounds: usize,
}

/// The difference of two figures, taken round by round, so that what changed between rounds hits both alike.
///
/// `pairs` holds (value, other) of each round; the difference is value - other. The median comes with the bootstrap interval
/// of [`median_interval`], widened as that of [`paired_ratio`] is and for the same reason: with 2 to 5 rounds to hold
/// Student's t interval of the mean difference, which takes the differences as normal, from [`ENOUGH_ROUNDS`] on to hold
/// that of the sign test.
///
/// `None` without pairs, or with a value that is not finite.
#[must_use]
pub fn paired_difference(pairs: &[(f64, f64)]) -> Option<Difference> {
    let differences: Vec<f64> = pairs.iter().map(|(value, other)| value - other).collect();
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let few = differences.len() < ENOUGH_ROUNDS;
    let other = if few { mean_interval(&differences) } else { sign_interval(&differences) };
    let interval = median_interval(&differences).and_then(|bootstrap| Some(bootstrap.hull(other?)));
    Some(Difference { median: median(&differences)?, interval, rounds: differences.len() })
}

/// [`mean_interval`] of the logarithms, as ratios; all above 0.
fn log_interval(ratios: &[f64]) -> Option<Interval> {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let Interval { low, high } = mean_interval(&logs)?;
    Some(Interval { low: low.exp(), high: high.exp() })
}

/// Student's t interval of the mean; for 2 values and more.
fn mean_interval(values: &[f64]) -> Option<Interval> {
    rounds::mean_interval(values, CONFIDENCE)
}

/// The interval from the k-th smallest to the k-th largest value, with the largest k that leaves out the median in at most
/// 5 % of cases: it is left out when fewer than k of n values lie on one side of it, and each lies there with probability
/// 1/2. For [`ENOUGH_ROUNDS`] values and more; fewer have no such k.
fn sign_interval(values: &[f64]) -> Option<Interval> {
    let n = values.len();
    let outside = |k: usize| 2.0 * (1.0 - at_least(n, k, 0.5));
    let k = (1..=n / 2).take_while(|k| outside(*k) <= 1.0 - CONFIDENCE).last()?;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(Interval { low: sorted[k - 1], high: sorted[n - k] })
}

#[cfg(test)]
mod tests;
