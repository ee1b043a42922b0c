//! The ratio of all rounds together. An interval says what most rounds show; this is about those
//! that are far off as well.
//!
//! There is a ratio of the means and one of the harmonic means, and the one nearer to 1 counts. A
//! far figure moves one of them without bound, and the other by no more than its share of the
//! rounds. Ratios are logarithms here, infinite where a side is always 0.

use super::round_pair::RoundPair;
use crate::summary::mean;

/// Of rounds that have the figure and the baseline's. Of a baseline that was measured twice, each
/// counts half.
pub(super) fn of_pairs(rounds: &[RoundPair]) -> f64 {
    nearer(sums(rounds, |figure| figure), -sums(rounds, f64::recip))
}

/// Of figures that were measured apart, as many as there are on each side; 0 without any on a side.
pub(super) fn of_sets(values: &[f64], baseline: &[f64]) -> f64 {
    let harmonic = means(values, baseline, f64::recip).map_or(f64::NAN, |log| -log);
    means(values, baseline, |figure| figure).map_or(0.0, |means| nearer(means, harmonic))
}

/// The logarithm of the ratio of the sums over these rounds, each figure by its size.
fn sums(rounds: &[RoundPair], size: fn(f64) -> f64) -> f64 {
    let baseline = |pair: &RoundPair| {
        let one = size(pair.baseline);
        pair.twin.map_or(one, |twin| f64::midpoint(one, size(twin)))
    };
    let value: f64 = rounds.iter().map(|pair| size(pair.value)).sum();
    value.ln() - rounds.iter().map(baseline).sum::<f64>().ln()
}

/// The logarithm of the ratio of the means of both sides, each figure by its size; `None` without a
/// figure on a side, and where one has no size.
fn means(values: &[f64], baseline: &[f64], size: fn(f64) -> f64) -> Option<f64> {
    let of = |figures: &[f64]| mean(&figures.iter().map(|one| size(*one)).collect::<Vec<_>>());
    Some(of(values)?.ln() - of(baseline)?.ln())
}

/// The one nearer to 1 of the ratio of the means and that of the harmonic means. Where a figure is
/// 0 there is no harmonic mean.
fn nearer(means: f64, harmonic: f64) -> f64 {
    if !harmonic.is_finite() {
        means
    } else if means.signum() != harmonic.signum() {
        0.0
    } else if means.abs() < harmonic.abs() {
        means
    } else {
        harmonic
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(value: f64, baseline: f64, twin: Option<f64>) -> RoundPair {
        RoundPair { value, baseline, twin }
    }

    #[test]
    fn sums_are_over_all_rounds_and_half_of_each_baseline() {
        let rounds = [pair(0.0, 2.0, Some(3.0)), pair(1.0, 0.0, Some(2.0)), pair(1.0, 2.0, None)];
        // 2 against 2.5 + 1 + 2.
        let log = of_pairs(&rounds);
        assert!((log - (2.0 / 5.5f64).ln()).abs() < 1e-12, "{log}");
        assert_eq!(of_pairs(&[pair(0.0, 1.0, None)]), f64::NEG_INFINITY);
    }

    #[test]
    fn a_far_figure_weighs_its_share_in_rounds_of_both_and_apart() {
        let logs = |values: &[f64]| {
            let rounds: Vec<RoundPair> =
                values.iter().map(|value| pair(*value, 1.0, Some(1.0))).collect();
            [of_pairs(&rounds), of_sets(values, &[1.0; 5])]
        };
        // One of two rounds is far off, by however much: it weighs half, whatever its direction.
        for far in [10.0, 1e6] {
            let expected = (2.0 / (1.0 + f64::recip(far))).ln();
            for log in logs(&[far, 1.0]) {
                assert!((log - expected).abs() < 1e-9, "{log}");
            }
            for log in logs(&[f64::recip(far), 1.0]) {
                assert!((log + expected).abs() < 1e-9, "{log}");
            }
        }
        // What is far off in both directions is no difference.
        assert_eq!(logs(&[4.0, 0.25]), [0.0; 2]);
    }

    #[test]
    fn sets_may_differ_in_size_and_have_figures_of_0() {
        let log = of_sets(&[2.0, 2.0, 2.0, 0.0], &[3.0, 1.0]);
        assert!((log - (1.5f64 / 2.0).ln()).abs() < 1e-12, "the means alone: {log}");
        assert_eq!(of_sets(&[0.0, 0.0], &[1.0]), f64::NEG_INFINITY);
        assert_eq!((of_sets(&[], &[1.0]), of_sets(&[1.0], &[])), (0.0, 0.0));
    }
}
