//! The evidence on two figures: their ratio, its interval and its tests.

use super::resample::{Permuted, permuted, sign_flip};
use crate::interval::{CONFIDENCE, Interval, NoRatio};
use crate::rounds::{rounds_interval, standard_error};
use crate::student;
use crate::summary::{mean, median, quantile};

/// Resamples of a permutation test that is too large to be counted out.
const RESAMPLES: usize = 10_000;
/// From this number of values in each of two sets on, their interval assumes no distribution.
const RANKED_FROM: usize = 6;
/// Up to this number of values in the larger set the distribution of the rank statistic is counted
/// out. Beyond it the counts leave the range of f64 and take long, and the normal limit is as good.
const COUNTED_UP_TO: usize = 100;
/// What half of the share that [`CONFIDENCE`] leaves lies beyond, of a standard normal variable.
const NORMAL_BEYOND: f64 = 1.959_963_985;

/// What speaks for a difference between two figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// The first over the second: the median of the ratios; for unpaired sets of all ratios between
    /// them.
    pub ratio: f64,
    /// Its interval, 95 %; absent with fewer than 2 rounds on a side.
    pub interval: Option<Interval>,
    /// Pairs; of unpaired sets the values of the smaller.
    pub rounds: usize,
    /// The permutation test; absent with fewer than 2 rounds on a side.
    pub permuted: Option<Permuted>,
    /// The p-value of Student's t test of the logarithms (of unpaired sets Welch's); absent with
    /// fewer than 2 rounds.
    pub student_p: Option<f64>,
    /// The standard error of the mean of the logarithms; 0 where it is not known.
    pub(super) error: f64,
    /// Degrees of freedom of that; 0 where there is none.
    pub(super) degrees: usize,
}

/// Two figures that were measured in the same rounds; `pairs` holds (value, baseline) of each. The
/// ratio is taken round by round, so that what changed between rounds hits both alike.
///
/// Its interval is that of [`rounds_interval`], the permutation test is [`sign_flip`] with 10 000
/// resamples from 16 rounds on.
///
/// # Errors
/// [`NoRatio`] without pairs, or when a value or a baseline is not finite or not above 0. A ratio
/// to nothing is none, and to leave out the rounds that have none would show the others as if they
/// were all.
pub fn paired(pairs: &[(f64, f64)], seed: u64) -> Result<Evidence, NoRatio> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if let Some(pair) =
        pairs.iter().position(|(value, baseline)| !usable(*value) || !usable(*baseline))
    {
        return Err(NoRatio::Pair(pair));
    }
    let ratios: Vec<f64> = pairs.iter().map(|(value, baseline)| value / baseline).collect();
    let logs: Vec<f64> = pairs.iter().map(|(value, baseline)| value.ln() - baseline.ln()).collect();
    let several = logs.len() > 1;
    let error = standard_error(&logs).unwrap_or(0.0);
    let centre = mean(&logs).ok_or(NoRatio::NoPairs)?;
    let degrees = logs.len() - 1;
    Ok(Evidence {
        ratio: median(&ratios).ok_or(NoRatio::NoPairs)?,
        interval: rounds_interval(&ratios, CONFIDENCE),
        rounds: logs.len(),
        permuted: if several { sign_flip(&logs, RESAMPLES, seed) } else { None },
        student_p: several.then(|| t_test(centre, error, degrees)),
        error,
        degrees,
    })
}

/// The two-sided p-value of a difference with this standard error.
fn t_test(difference: f64, error: f64, degrees: usize) -> f64 {
    if difference == 0.0 { 1.0 } else { student::beyond(difference / error, degrees) }
}

/// Two figures that were measured apart: `values` and `baseline` hold their rounds, as many as
/// there are on each side.
///
/// The ratio is the median of all ratios of a value to a baseline (on logarithms the shift of J. L.
/// Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", The Annals of
/// Mathematical Statistics 34(2), 1963). With at least 6 rounds on both sides its interval is the
/// one that belongs to the Wilcoxon-Mann-Whitney test (D. F. Bauer, "Constructing Confidence Sets
/// Using Rank Statistics", Journal of the American Statistical Association 67, 1972), interpolated
/// between the levels that the test knows, with more than 100 on a side from its normal limit; with
/// fewer it is Welch's t interval of the logarithms (B. L. Welch, "The Generalization of
/// 'Student's' Problem when Several Different Population Variances are Involved", Biometrika 34,
/// 1947), with the degrees of freedom rounded down. The permutation test is [`permuted`].
///
/// What changes from one run to the next (placement, memory layout, neighbours) is in none of
/// these: rounds of one run share it. Only runs that were repeated show it, as a
/// [`noise_floor`](super::noise_floor) does.
///
/// # Errors
/// [`NoRatio`] without rounds on a side, or when a value is not finite or not above 0: counted
/// through `values` and on through `baseline`.
pub fn unpaired(values: &[f64], baseline: &[f64], seed: u64) -> Result<Evidence, NoRatio> {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    if let Some(at) = values.iter().chain(baseline).position(|value| !usable(value)) {
        return Err(NoRatio::Pair(at));
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<_>>();
    let (a, b) = (logs(values), logs(baseline));
    let mut shifts: Vec<f64> = a.iter().flat_map(|a| b.iter().map(move |b| a - b)).collect();
    shifts.sort_unstable_by(f64::total_cmp);
    let shift = median(&shifts).ok_or(NoRatio::NoPairs)?;
    let rounds = a.len().min(b.len());
    let mut out = Evidence {
        ratio: shift.exp(),
        interval: None,
        rounds,
        permuted: permuted(&a, &b, RESAMPLES, seed),
        student_p: None,
        error: 0.0,
        degrees: 0,
    };
    if let (Some(one), Some(other)) = (standard_error(&a), standard_error(&b)) {
        let centre = mean(&a).zip(mean(&b)).map_or(0.0, |(a, b)| a - b);
        let variance = |error: f64, n: usize| error.powi(4) / (n - 1) as f64;
        let sum = one * one + other * other;
        let degrees = sum * sum / (variance(one, a.len()) + variance(other, b.len()));
        out.error = sum.sqrt();
        out.degrees = if degrees.is_finite() {
            (degrees.floor() as usize).max(1)
        } else {
            a.len() + b.len() - 2
        };
        out.student_p = Some(t_test(centre, out.error, out.degrees));
        let inner = if rounds >= RANKED_FROM {
            ranked(&shifts, a.len(), b.len())
        } else {
            let reach = out.error
                * student::quantile(out.degrees, 1.0 - CONFIDENCE).unwrap_or(f64::INFINITY);
            Interval { low: centre - reach, high: centre + reach }
                .hull(Interval { low: shift, high: shift })
        };
        let (low, high) = (inner.low.exp(), inner.high.exp());
        out.interval = (low.is_finite() && high.is_finite()).then_some(Interval { low, high });
    }
    Ok(out)
}

/// From which to which of the sorted shifts the rank test of these sizes rejects none at 5 %.
fn ranked(shifts: &[f64], n: usize, m: usize) -> Interval {
    let place = if n.max(m) > COUNTED_UP_TO { normal_place(n, m) } else { counted_place(n, m) };
    let place = place.max(0.0) / (shifts.len() - 1) as f64;
    let at = |q: f64| quantile(shifts, q).unwrap_or(f64::NAN);
    Interval { low: at(place), high: at(1.0 - place) }
}

/// How many shifts lie below the interval, from the statistic's normal limit (H. B. Mann and D. R.
/// Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than the
/// Other", The Annals of Mathematical Statistics 18(1), 1947), corrected by a half for steps of 1.
fn normal_place(n: usize, m: usize) -> f64 {
    let (n, m) = (n as f64, m as f64);
    n * m / 2.0 - 0.5 - NORMAL_BEYOND * (n * m * (n + m + 1.0) / 12.0).sqrt()
}

/// The same from the statistic's distribution.
fn counted_place(n: usize, m: usize) -> f64 {
    let shares = rank_sum_shares(n, m);
    let allowed = (1.0 - CONFIDENCE) / 2.0;
    // With `depth` shifts left out at each end the probability outside of one is that of a
    // statistic up to depth - 1.
    let mut depth = 0;
    let mut outside = 0.0;
    while depth + 1 < n * m / 2 && outside + shares[depth] <= allowed {
        outside += shares[depth];
        depth += 1;
    }
    // The interval from shift number `depth` - 1 + share on.
    let share = ((allowed - outside) / shares[depth]).clamp(0.0, 1.0);
    depth as f64 - 1.0 + share
}

/// The probabilities of the Mann-Whitney statistic 0, 1, 2 ... for sets of these sizes.
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
mod tests;
