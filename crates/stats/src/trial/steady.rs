//! Drift inside one window: a test whether it was steady.

use std::cmp::Ordering;

use crate::summary;

/// Fewest intervals that say anything.
const FEWEST: usize = 5;
/// Most values that are compared pair by pair; more are averaged down to this many.
const MOST: usize = 256;
/// Relative change over the window from which on a trend matters.
const THRESHOLD: f64 = 0.10;
/// |z| beyond which a trend is not chance: the two-sided 1 % point of the normal distribution.
const Z_ONE_PERCENT: f64 = 2.575_829_303_548_901;

/// The trend of a figure over one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change from the first interval to the last along the trend, as a share of the median: 0.1
    /// is a rise by 10 %.
    pub relative_change: f64,
    /// The Mann-Kendall statistic: about standard normal where there is no trend.
    pub z: f64,
    /// Whether the change is larger than 10 % and significant at 1 %.
    pub drifted: bool,
}

/// Decides whether the figure of a window's intervals, in order of time, drifted.
///
/// `None` with fewer than 5 values or with one that is not finite.
///
/// The size of the trend is the Theil-Sen slope, the median of the slopes between all pairs of
/// intervals, times the distance from the first interval to the last, relative to the median. Up to
/// 29 % of the intervals can be outliers without moving it far. (Where the median is zero, the mean
/// of the absolute values takes its place.) Whether it is more than chance is the Mann-Kendall
/// test, with the correction for ties and for continuity. Both must agree: a small trend in quiet
/// figures can be significant and does not matter; a large one in wild figures can be chance. With
/// 5 values no order is rare enough for 1 % (the rarest has 2 in 120), so nothing is flagged.
///
/// The test takes intervals for independent. Rates of neighbouring intervals often resemble each
/// other, which makes chance trends look significant more often than 1 % of the time. The threshold
/// on the size is what holds those back.
///
/// More than 256 values are first averaged to 256 groups of neighbours, since the work grows with
/// the square of their number.
///
/// Sources: H. B. Mann, "Nonparametric Tests Against Trend", Econometrica 13(3), 1945; M. G.
/// Kendall, "Rank Correlation Methods", 4th edition, 1975; P. K. Sen, "Estimates of the Regression
/// Coefficient Based on Kendall's Tau", Journal of the American Statistical Association 63(324),
/// 1968; H. Theil, "A Rank-Invariant Method of Linear and Polynomial Regression Analysis", 1950.
#[must_use]
pub fn drift(values: &[f64]) -> Option<Drift> {
    if values.len() < FEWEST {
        return None;
    }
    let middle = summary::median(values)?;
    let grouped = grouped(values);
    let last = (grouped.len() - 1) as f64;
    let change = theil_sen(&grouped)? * last;
    let relative_change = relative(change, middle, values);
    let z = mann_kendall(&grouped);
    let drifted = relative_change.abs() > THRESHOLD && z.abs() > Z_ONE_PERCENT;
    Some(Drift { relative_change, z, drifted })
}

/// At most [`MOST`] values: means of groups of neighbours whose sizes differ by at most one.
fn grouped(values: &[f64]) -> Vec<f64> {
    let groups = values.len().min(MOST);
    (0..groups)
        .map(|n| &values[n * values.len() / groups..(n + 1) * values.len() / groups])
        .filter_map(summary::mean)
        .collect()
}

/// The change relative to the level of the values; 0 where both are 0.
pub(crate) fn relative(change: f64, median: f64, values: &[f64]) -> f64 {
    let level = if median == 0.0 {
        values.iter().map(|value| value.abs()).sum::<f64>() / values.len() as f64
    } else {
        median.abs()
    };
    if level == 0.0 { 0.0 } else { change / level }
}

/// The median slope over all pairs, per interval.
pub(crate) fn theil_sen(values: &[f64]) -> Option<f64> {
    let slopes: Vec<f64> =
        pairs(values).map(|(distance, a, b)| (b - a) / distance as f64).collect();
    summary::median(&slopes)
}

/// How far the number of rising pairs exceeds that of falling ones, in standard deviations.
pub(crate) fn mann_kendall(values: &[f64]) -> f64 {
    let score: i64 = pairs(values)
        .map(|(_, a, b)| match b.partial_cmp(&a) {
            Some(Ordering::Greater) => 1,
            Some(Ordering::Less) => -1,
            _ => 0,
        })
        .sum();
    let variance = score_variance(values);
    if score == 0 || variance == 0.0 {
        return 0.0;
    }
    // The score moves in steps of 2: half a step towards 0 corrects for that.
    (score - score.signum()) as f64 / variance.sqrt()
}

/// The variance of the score where there is no trend: less where values are tied.
fn score_variance(values: &[f64]) -> f64 {
    let term = |n: usize| n as f64 * (n as f64 - 1.0) * (2.0 * n as f64 + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|group| term(group.len())).sum();
    (term(values.len()) - ties) / 18.0
}

/// All pairs in order of time: their distance in intervals, the earlier, the later.
fn pairs(values: &[f64]) -> impl Iterator<Item = (usize, f64, f64)> {
    values.iter().enumerate().flat_map(move |(at, earlier)| {
        values[at + 1..].iter().enumerate().map(move |(gap, later)| (gap + 1, *earlier, *later))
    })
}

#[cfg(test)]
mod tests;
