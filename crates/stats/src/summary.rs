//! Figures of a handful of values: intervals of a window, rounds of a cell.
//!
//! Every function returns `None` when there are no values or when one of them is not finite. A
//! summary of a broken figure would hide it.

/// The middle value; of an even number of values the mean of the two in the middle.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value that a share `q` of the values lies below; `q` outside 0..=1 counts as the nearer end.
///
/// Linear interpolation between order statistics, the median of two values being their mean: type 7
/// of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50(4),
/// 1996. `None` also when `q` is NaN.
#[must_use]
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    if q.is_nan() {
        return None;
    }
    let mut sorted = finite(values)?.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let position = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = position.floor();
    let share = position - below;
    let (low, high) = (sorted[below as usize], sorted[position.ceil() as usize]);
    // Not low + share x (high - low): the difference of two finite values may not be finite.
    Some((low * (1.0 - share) + high * share).clamp(low, high))
}

/// The arithmetic mean; infinite when the sum is.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    Some(finite(values)?.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of these values as a whole population (divided by n, not n - 1).
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / values.len() as f64).sqrt())
}

/// The smallest value.
#[must_use]
pub fn min(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::min)
}

/// The largest value.
#[must_use]
pub fn max(values: &[f64]) -> Option<f64> {
    finite(values)?.iter().copied().reduce(f64::max)
}

/// The values, if there are any and all are finite.
fn finite(values: &[f64]) -> Option<&[f64]> {
    (!values.is_empty() && values.iter().all(|value| value.is_finite())).then_some(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Summary = fn(&[f64]) -> Option<f64>;

    const ALL: &[(&str, Summary)] = &[
        ("median", median),
        ("quantile", |values| quantile(values, 0.9)),
        ("mean", mean),
        ("stddev", stddev),
        ("min", min),
        ("max", max),
    ];

    #[test]
    fn no_values_and_broken_values_have_no_summary() {
        for (name, function) in ALL {
            assert_eq!(function(&[]), None, "{name}");
            for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!(function(&[1.0, broken, 2.0]), None, "{name} with {broken}");
            }
        }
        assert_eq!(quantile(&[1.0], f64::NAN), None);
    }

    #[test]
    fn known_answers() {
        let values = [9.0, 2.0, 4.0, 5.0, 4.0, 7.0, 4.0, 5.0];
        let answers = ALL.iter().map(|(_, function)| function(&values).unwrap());
        let expected = [4.5, 7.6, 5.0, 2.0, 2.0, 9.0];
        for ((answer, expected), (name, _)) in answers.zip(expected).zip(ALL) {
            assert!((answer - expected).abs() < 1e-12, "{name}: {answer}, expected {expected}");
        }
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(quantile(&[10.0, 20.0, 30.0], 0.25), Some(15.0));
        assert_eq!(quantile(&[10.0, 20.0], 7.0), Some(20.0));
        assert_eq!(quantile(&[10.0, 20.0], -1.0), Some(10.0));
    }

    proptest! {
        #[test]
        fn the_order_of_values_does_not_matter(
            (values, shuffled) in prop::collection::vec(-1e9..1e9, 1..60)
                .prop_flat_map(|values| (Just(values.clone()), Just(values).prop_shuffle())),
            q in 0.0..=1.0,
        ) {
            prop_assert_eq!(quantile(&values, q), quantile(&shuffled, q));
            prop_assert_eq!(min(&values), min(&shuffled));
            prop_assert_eq!(max(&values), max(&shuffled));
        }

        #[test]
        fn quantiles_rise_from_min_to_max(
            values in prop::collection::vec(-1e9..1e9, 1..60),
            a in 0.0..=1.0,
            b in 0.0..=1.0,
        ) {
            let at = |q| quantile(&values, q).unwrap();
            prop_assert!(at(f64::min(a, b)) <= at(f64::max(a, b)) + 1e-6);
            prop_assert_eq!((Some(at(0.0)), Some(at(1.0))), (min(&values), max(&values)));
        }

        #[test]
        fn half_of_the_values_lie_on_each_side_of_the_median(
            values in prop::collection::vec(-50i32..50, 1..60),
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|v| **v < middle).count();
            let above = values.iter().filter(|v| **v > middle).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }

        #[test]
        fn the_deviation_scales_and_does_not_shift(
            values in prop::collection::vec(-1e3..1e3, 1..60),
            shift in -1e3..1e3,
            factor in -10.0..10.0,
        ) {
            let moved: Vec<f64> = values.iter().map(|v| v * factor + shift).collect();
            let expected = stddev(&values).unwrap() * f64::abs(factor);
            prop_assert!((stddev(&moved).unwrap() - expected).abs() < 1e-6);
        }
    }
}
