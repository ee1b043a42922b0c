use proptest::prelude::*;

use super::*;

/// The medians of all n^n resamples, by going through them.
fn enumerated(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut out: Vec<f64> = (0..n.pow(n as u32))
        .map(|mut code| {
            let draws: Vec<f64> = (0..n)
                .map(|_| {
                    let draw = values[code % n];
                    code /= n;
                    draw
                })
                .collect();
            median(&draws).unwrap()
        })
        .collect();
    out.sort_unstable_by(f64::total_cmp);
    out
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[test]
fn the_closed_form_is_what_all_resamples_give() {
    for n in 2..=7 {
        // Powers of 3: no two different pairs have the same mean.
        let values: Vec<f64> = (0..n).map(|i| 3f64.powi(i)).collect();
        let all = enumerated(&values);
        let total = all.len() as f64;
        let mut sum = 0.0;
        for (value, probability) in resampled_medians(&values) {
            let counted = all.iter().filter(|v| close(**v, value)).count() as f64 / total;
            assert!((counted - probability).abs() < 1e-9, "n = {n}: {value} has {counted}, computed {probability}");
            sum += probability;
        }
        assert!(close(sum, 1.0), "n = {n}: probabilities add up to {sum}");
    }
}

#[test]
fn three_rounds_give_their_range() {
    // 7 of 27 resamples have the smallest value as their median: more than 2.5 %.
    assert_eq!(median_interval(&[5.0, 3.0, 4.0]), Some(Interval { low: 3.0, high: 5.0 }));
    assert_eq!(median_interval(&[5.0, 3.0]), Some(Interval { low: 3.0, high: 5.0 }));
}

#[test]
fn more_rounds_drop_the_extremes() {
    // Of 9 values, the smallest is the median of 0.14 % of the resamples, the second of 2.8 % and the third of 11.5 %.
    let values: Vec<f64> = (1..=9).map(f64::from).collect();
    assert_eq!(median_interval(&values), Some(Interval { low: 2.0, high: 8.0 }));
}

#[test]
fn one_round_has_no_interval_and_broken_values_have_none() {
    assert_eq!(median_interval(&[]), None);
    assert_eq!(median_interval(&[1.0]), None);
    assert_eq!(median_interval(&[1.0, f64::NAN]), None);
    assert_eq!(median_interval(&[1.0; 201]), None);
    assert_eq!(median_interval(&[1.0; 200]), Some(Interval { low: 1.0, high: 1.0 }));
    assert_eq!(paired_ratio(&[(3.0, 2.0)]), Ok(Ratio { median: 1.5, interval: None, rounds: 1 }));
}

#[test]
fn a_missing_ratio_says_which_round_has_none() {
    assert_eq!(paired_ratio(&[]), Err(NoRatio::NoPairs));
    assert_eq!(paired_ratio(&[(1.0, 1.0), (2.0, 0.0), (1.0, 1.0)]), Err(NoRatio::Pair(1)));
    assert_eq!(paired_ratio(&[(-1.0, 1.0)]), Err(NoRatio::Pair(0)));
    assert_eq!(paired_ratio(&[(1.0, 1.0), (f64::INFINITY, 1.0)]), Err(NoRatio::Pair(1)));
}

#[test]
fn ratios_are_taken_round_by_round() {
    // Each round is twice as fast as the one before; the path always costs a fifth.
    let ratio = paired_ratio(&[(80.0, 100.0), (160.0, 200.0), (320.0, 400.0)]).unwrap();
    assert_eq!((ratio.median, ratio.rounds), (0.8, 3));
    let interval = ratio.interval.unwrap();
    assert!(close(interval.low, 0.8) && close(interval.high, 0.8), "{interval:?}");
}

#[test]
fn the_t_interval_is_the_textbooks() {
    // Logarithms -0.1, 0, 0.1: mean 0, deviation 0.1, and 4.3027 x 0.1 / sqrt(3) = 0.24841.
    let ratios = [(-0.1f64).exp(), 1.0, 0.1f64.exp()];
    let interval = log_interval(&ratios).unwrap();
    assert!((interval.high.ln() - 0.24841).abs() < 1e-4, "{interval:?}");
    assert!((interval.low.ln() + 0.24841).abs() < 1e-4, "{interval:?}");
}

#[test]
fn the_sign_tests_interval_is_the_textbooks() {
    // Of the binomial distribution with p = 1/2: 2 (1 + 8) / 2^8 = 7.0 %, 2 (1 + 9) / 2^9 = 3.9 %.
    for (n, low, high) in [(6, 1.0, 6.0), (8, 1.0, 8.0), (9, 2.0, 8.0), (12, 3.0, 10.0), (20, 6.0, 15.0)] {
        let values: Vec<f64> = (1..=n).map(f64::from).collect();
        assert_eq!(sign_interval(&values), Some(Interval { low, high }), "{n} values");
    }
    assert_eq!(sign_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]), None, "2 / 2^5 is more than 5 %");
}

#[test]
fn the_same_thing_twice_is_rarely_told_apart() {
    use rand::{Rng, SeedableRng};
    let mut random = rand::rngs::StdRng::seed_from_u64(7);
    // Noise of a few percent, nearly normal: the sum of twelve uniform variables.
    let mut noisy = || 100.0 * (1.0 + 0.03 * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0));
    for rounds in 3..=12 {
        let told_apart = (0..2000)
            .filter(|_| {
                let pairs: Vec<_> = (0..rounds).map(|_| (noisy(), noisy())).collect();
                !paired_ratio(&pairs).unwrap().interval.unwrap().contains(1.0)
            })
            .count();
        // 5 % are what 95 % of confidence allows; 2000 comparisons know it to half a percent.
        assert!(told_apart <= 2000 * 65 / 1000, "{rounds} rounds: {told_apart} of 2000");
        // A test that never tells anything apart would pass the above.
        let found = (0..200)
            .filter(|_| {
                let pairs: Vec<_> = (0..rounds).map(|_| (noisy() * 1.5, noisy())).collect();
                !paired_ratio(&pairs).unwrap().interval.unwrap().contains(1.0)
            })
            .count();
        assert!(found >= 190, "{rounds} rounds: a difference of 50 % was seen in {found} of 200");
    }
}

proptest! {
    #[test]
    fn the_interval_holds_the_median_and_stays_in_range(values in prop::collection::vec(-1e9..1e9, 2..40)) {
        let interval = median_interval(&values).unwrap();
        let sorted = { let mut s = values.clone(); s.sort_unstable_by(f64::total_cmp); s };
        prop_assert!(interval.contains(median(&values).unwrap()));
        prop_assert!(sorted[0] <= interval.low && interval.high <= sorted[sorted.len() - 1]);
    }

    #[test]
    fn order_does_not_matter_and_scale_does(
        (values, shuffled) in prop::collection::vec(1.0..1e6, 2..20)
            .prop_flat_map(|v: Vec<f64>| (Just(v.clone()), Just(v).prop_shuffle())),
        factor in 0.001..1000.0,
    ) {
        let interval = median_interval(&values).unwrap();
        prop_assert_eq!(Some(interval), median_interval(&shuffled));
        let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
        let scaled = median_interval(&scaled).unwrap();
        prop_assert!(close(scaled.low, interval.low * factor) && close(scaled.high, interval.high * factor));
    }

    #[test]
    fn turning_a_ratio_over_turns_its_interval_over(
        pairs in prop::collection::vec((1.0..1e6, 1.0..1e6), 1..12),
    ) {
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (one, other) = (paired_ratio(&pairs).unwrap(), paired_ratio(&swapped).unwrap());
        prop_assert_eq!(one.interval.is_some(), pairs.len() > 1);
        if pairs.len() % 2 == 1 {
            prop_assert!(close(one.median * other.median, 1.0));
            if let (Some(a), Some(b)) = (one.interval, other.interval) {
                prop_assert!(close(a.low * b.high, 1.0) && close(a.high * b.low, 1.0));
                prop_assert!(a.contains(one.median));
            }
        }
    }
}

#[test]
fn differences_are_taken_round_by_round() {
    // Each round is slower than the one before; the sidecar always adds 200.
    let found = paired_difference(&[(284.0, 84.0), (384.0, 184.0), (1284.0, 1084.0)]).unwrap();
    assert_eq!(found, Difference { median: 200.0, interval: Some(Interval { low: 200.0, high: 200.0 }), rounds: 3 });
    // Differences -1, 0, 1: deviation 1, and 4.3027 / sqrt(3) = 2.48416 beyond the range.
    let interval = paired_difference(&[(-1.0, 0.0), (5.0, 5.0), (3.0, 2.0)]).unwrap().interval.unwrap();
    assert!((interval.high - 2.48416).abs() < 1e-4 && (interval.low + 2.48416).abs() < 1e-4, "{interval:?}");
    // From 6 rounds on no distribution is assumed.
    let six: Vec<_> = (1..=6).map(|i| (f64::from(i), 0.0)).collect();
    assert_eq!(paired_difference(&six).unwrap().interval, Some(Interval { low: 1.0, high: 6.0 }));
    assert_eq!(paired_difference(&[(3.0, 1.0)]), Some(Difference { median: 2.0, interval: None, rounds: 1 }));
    assert_eq!(paired_difference(&[]), None);
    assert_eq!(paired_difference(&[(1.0, 1.0), (f64::NAN, 1.0)]), None);
}

#[test]
fn nothing_added_is_rarely_seen_as_something() {
    use rand::{Rng, SeedableRng};
    let mut random = rand::rngs::StdRng::seed_from_u64(11);
    let mut noisy = || 100.0 + 3.0 * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
    for rounds in 3..=9 {
        let mut seen = |added: f64, times: usize| {
            (0..times)
                .filter(|_| {
                    let pairs: Vec<_> = (0..rounds).map(|_| (noisy() + added, noisy())).collect();
                    !paired_difference(&pairs).unwrap().interval.unwrap().contains(0.0)
                })
                .count()
        };
        let (nothing, something) = (seen(0.0, 2000), seen(50.0, 200));
        assert!(nothing <= 2000 * 65 / 1000, "{rounds} rounds: {nothing} of 2000");
        assert!(something >= 190, "{rounds} rounds: {something} of 200");
    }
}
