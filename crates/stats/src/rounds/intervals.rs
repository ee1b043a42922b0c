//! The interval of a figure that is the median of a few rounds.

use crate::interval::Interval;
use crate::student;
use crate::summary::{mean, median};

/// From this number of rounds on the interval assumes no distribution.
const ORDERED_FROM: usize = 6;

/// The interval of the median of a cell's rounds. It holds the median of the rounds that could have
/// been with `confidence`: 0.5 to 0.999, usually [`CONFIDENCE`](crate::CONFIDENCE).
///
/// - From 6 values on: between two order statistics, by the sign test, and because the test knows
///   few levels, interpolated between neighbouring ones (T. P. Hettmansperger and S. J. Sheather,
///   "Confidence Intervals Based on Interpolated Order Statistics", Statistics & Probability
///   Letters 4(2), 1986). It needs no shape of the noise, no symmetry, and one value that is far
///   away moves it little.
/// - With 2 to 5 values no method without assumptions can reach 95 %: their whole range holds the
///   median with 50, 75, 87.5 and 93.75 %. There it is Student's t interval of the mean of the
///   logarithms ("Student", "The Probable Error of a Mean", Biometrika 6(1), 1908), widened to hold
///   the median. It takes logarithms as about normal; where tails are heavy it holds more than it
///   says (B. Efron, "Student's t-Test under Symmetry Conditions", Journal of the American
///   Statistical Association 64, 1969). With 2 values it is very wide, which is what 2 are worth.
///
/// Logarithms are taken where all values are above 0. Then the interval of values turned over (1/x)
/// is the interval turned over, and no end lies below 0. Otherwise the values are taken as they
/// are; where none is below 0 (a share that is 0 in some rounds) neither is an end.
///
/// Rounds are taken as independent; each is one value, so what is correlated *within* a round does
/// no harm. A slow machine that stays slow for some rounds does: [`trend`](crate::trend) and
/// [`persistence`](crate::persistence) look for it. Not the bootstrap over rounds: with so few
/// values it holds too little (75 % with 3, 88 % with 7).
///
/// `None` for fewer than 2 values, for one that is not finite, or where the result is not finite.
#[must_use]
pub fn rounds_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if !values.iter().all(|value| *value > 0.0) {
        let interval = difference_interval(values, confidence)?;
        let least = if values.iter().any(|value| *value < 0.0) { f64::NEG_INFINITY } else { 0.0 };
        return Some(Interval { low: interval.low.max(least), high: interval.high });
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let inner = difference_interval(&logarithms, confidence)?;
    // A logarithm and back is not quite what it was.
    if values.iter().all(|value| *value == values[0]) {
        return Some(Interval { low: values[0], high: values[0] });
    }
    let (low, high) = (inner.low.exp(), inner.high.exp());
    (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
}

/// The same of values that may lie around 0, as differences do. They are taken as they are, never
/// as logarithms. So the interval moves with whatever is added to all of them. It holds 0 where
/// there is nothing though all rounds came out above.
///
/// `None` for fewer than 2 values, for one that is not finite, or where the result is not finite.
#[must_use]
pub fn difference_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if values.len() < 2
        || values.iter().any(|value| !value.is_finite())
        || !(0.5..=0.999).contains(&confidence)
    {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let interval = if sorted.len() < ORDERED_FROM {
        let middle = median(&sorted)?;
        mean_interval(&sorted, confidence)?.hull(Interval { low: middle, high: middle })
    } else {
        ordered(&sorted, confidence)
    };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// Student's t interval of the mean; `None` for fewer than 2 values.
fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let centre = mean(values)?;
    let reach = student::quantile(values.len().checked_sub(1)?, 1.0 - confidence)?
        * standard_error(values)?;
    Some(Interval { low: centre - reach, high: centre + reach })
}

/// How far the mean of such values scatters; `None` for fewer than 2.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt())
}

/// The interpolated interval between order statistics of at least 2 sorted values. Where even their
/// range holds less than the confidence, it is their range.
fn ordered(sorted: &[f64], confidence: f64) -> Interval {
    let n = sorted.len();
    // What lies outside of the d-th smallest to the d-th largest value, for d = 1, 2 ...
    let mut outside = 2.0 * 0.5f64.powi(n as i32);
    let mut ways = outside;
    let mut depth = 1;
    let allowed = 1.0 - confidence;
    loop {
        ways *= (n - depth + 1) as f64 / depth as f64;
        let next = outside + ways;
        if next > allowed || depth + 1 > n / 2 {
            let between = ((allowed - outside) / ways).clamp(0.0, 1.0);
            let share =
                (n - depth) as f64 * between / (depth as f64 + (n - 2 * depth) as f64 * between);
            let toward = |from: f64, to: f64| from + share * (to - from);
            return Interval {
                low: toward(sorted[depth - 1], sorted[depth]),
                high: toward(sorted[n - depth], sorted[n - depth - 1]),
            };
        }
        outside = next;
        depth += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs())
    }

    #[test]
    fn few_values_have_the_textbooks_t_interval() {
        // Logarithms -0.1, 0, 0.1: mean 0, deviation 0.1, and 4.3027 x 0.1 / sqrt(3) = 0.24841.
        let interval = rounds_interval(&[(-0.1f64).exp(), 1.0, 0.1f64.exp()], 0.95).unwrap();
        assert!(
            (interval.high.ln() - 0.24841).abs() < 1e-4
                && (interval.low.ln() + 0.24841).abs() < 1e-4
        );
        // With a value that has no logarithm: as they are.
        let interval = rounds_interval(&[-1.0, 0.0, 1.0], 0.95).unwrap();
        assert!((interval.high - 2.4841).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn what_cannot_be_below_0_has_no_end_there() {
        // As they are: 1e-6 - 4.3027 x 1.7e-6 / sqrt(3) is below 0.
        let found = rounds_interval(&[0.0, 0.0, 3e-6], 0.95).unwrap();
        assert!(found.low == 0.0 && found.high > 4e-6, "{found:?}");
        assert!(
            difference_interval(&[0.0, 0.0, 3e-6], 0.95).unwrap().low < 0.0,
            "a difference can be"
        );
        assert!(rounds_interval(&[0.0, 0.1, -0.1], 0.95).unwrap().low < 0.0);
    }

    #[test]
    fn at_a_level_of_the_sign_test_it_is_the_sign_tests_interval() {
        // Of 9 values the outer two pairs are left out: 2 (1 + 9) / 2^9 lie outside. Of 8 the
        // outermost: 2 / 2^8.
        let values = |n: i32| (1..=n).map(|i| f64::from(i) - 5.5).collect::<Vec<_>>();
        let at = |n: i32, outside: f64| rounds_interval(&values(n), 1.0 - outside).unwrap();
        let found = at(9, 20.0 / 512.0);
        assert!(close(found.low, -3.5) && close(found.high, 2.5), "{found:?}");
        let found = at(8, 2.0 / 256.0);
        assert!(close(found.low, -4.5) && close(found.high, 2.5), "{found:?}");
        // The published example of the interpolation: n = 10 at 95 % lies between depths 2 (97.9 %)
        // and 3 (89.1 %).
        let found = at(10, 0.05);
        let share = (0.978516 - 0.95) / (0.978516 - 0.890625);
        let expected = 8.0 * share / (2.0 + 6.0 * share);
        assert!((found.low - (-3.5 + expected)).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn differences_are_taken_as_they_are() {
        // 1, 2, 3: deviation 1, and 4.3027 / sqrt(3) = 2.48416 around 2; as logarithms it could not
        // reach 0.
        let found = difference_interval(&[1.0, 3.0, 2.0], 0.95).unwrap();
        assert!(
            (found.low + 0.48416).abs() < 1e-4 && (found.high - 4.48416).abs() < 1e-4,
            "{found:?}"
        );
        assert!(rounds_interval(&[1.0, 3.0, 2.0], 0.95).is_some_and(|interval| interval.low > 0.0));
        assert_eq!(
            difference_interval(&[200.0; 3], 0.95),
            Some(Interval { low: 200.0, high: 200.0 })
        );
        assert_eq!(difference_interval(&[1.0], 0.95), None);
        assert_eq!(difference_interval(&[1.0, f64::INFINITY], 0.95), None);
    }

    #[test]
    fn nothing_added_is_rarely_seen_as_something() {
        let mut random = Random::new(11);
        let mut noisy = || 3.0 * ((0..12).map(|_| random.unit()).sum::<f64>() - 6.0);
        for rounds in 3..=9 {
            let mut seen = |added: f64, times: usize| {
                let differences = |noisy: &mut dyn FnMut() -> f64| {
                    (0..rounds).map(|_| noisy() - noisy() + added).collect()
                };
                let one = |_: &usize| {
                    let values: Vec<f64> = differences(&mut noisy);
                    !difference_interval(&values, 0.95).unwrap().contains(0.0)
                };
                (0..times).filter(one).count()
            };
            let (nothing, something) = (seen(0.0, 2000), seen(50.0, 200));
            assert!(nothing <= 2000 * 65 / 1000, "{rounds} rounds: {nothing} of 2000");
            assert!(something >= 190, "{rounds} rounds: {something} of 200");
        }
    }

    #[test]
    fn too_little_is_no_interval() {
        assert_eq!(rounds_interval(&[1.0], 0.95), None);
        assert_eq!(rounds_interval(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(rounds_interval(&[1.0, 2.0], 1.0), None);
        assert_eq!(rounds_interval(&[1e-300, 1e300], 0.95), None, "beyond all numbers");
        assert!(
            rounds_interval(&[2.0; 7], 0.95)
                .is_some_and(|i| close(i.low, 2.0) && close(i.high, 2.0))
        );
    }

    proptest! {
        #[test]
        fn it_holds_the_median_and_grows_with_the_confidence(
            values in prop::collection::vec(-50.0..1e6, 2..40),
        ) {
            let middle = median(&values).unwrap();
            if let (Some(wide), Some(narrow)) = (
                rounds_interval(&values, 0.98),
                rounds_interval(&values, 0.8),
            ) {
                prop_assert!(wide.low <= narrow.low + 1e-6 && narrow.high <= wide.high + 1e-6);
                // The middle of an even number of logarithms is not that of the values.
                let sorted = { let mut s = values.clone(); s.sort_unstable_by(f64::total_cmp); s };
                let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
                prop_assert!(narrow.low <= above + 1e-6 && below - 1e-6 <= narrow.high);
                prop_assert!(wide.low <= middle + 1e-6 && middle <= wide.high + 1e-6);
            }
        }

        #[test]
        fn order_is_nothing_and_scale_and_inverse_are_what_they_are(
            (values, shuffled) in prop::collection::vec(1.0..1e3f64, 2..25)
                .prop_flat_map(|v: Vec<f64>| (Just(v.clone()), Just(v).prop_shuffle())),
            factor in 0.01..100.0,
        ) {
            if let Some(plain) = rounds_interval(&values, 0.95) {
                prop_assert_eq!(Some(plain), rounds_interval(&shuffled, 0.95));
                let times = |f: &dyn Fn(&f64) -> f64| {
                    rounds_interval(&values.iter().map(f).collect::<Vec<_>>(), 0.95)
                };
                if let Some(scaled) = times(&|v| v * factor) {
                    prop_assert!(close(scaled.low / factor / plain.low, 1.0));
                    prop_assert!(close(scaled.high / factor / plain.high, 1.0));
                }
                if let Some(over) = times(&|v| 1.0 / v) {
                    prop_assert!(
                        close(over.low * plain.high, 1.0) && close(over.high * plain.low, 1.0)
                    );
                }
            }
        }
    }
}
