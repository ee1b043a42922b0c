use proptest::prelude::*;

use super::*;

fn line(n: usize, from: f64, to: f64) -> Vec<f64> {
    (0..n).map(|i| from + (to - from) * i as f64 / (n - 1) as f64).collect()
}

/// Small disturbances without a trend, the same every time.
fn noise(n: usize) -> impl Iterator<Item = f64> {
    (0..n as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24) - 0.5)
}

#[test]
fn too_few_or_broken_values_say_nothing() {
    assert_eq!(drift(&[]), None);
    assert_eq!(drift(&line(4, 1.0, 2.0)), None);
    assert_eq!(drift(&[1.0, 2.0, f64::NAN, 4.0, 5.0, 6.0]), None);
    assert!(drift(&line(5, 1.0, 2.0)).is_some());
}

#[test]
fn constant_values_do_not_drift() {
    for level in [0.0, 1e10] {
        let expected = Drift { relative_change: 0.0, z: 0.0, drifted: false };
        assert_eq!(drift(&[level; 20]), Some(expected));
    }
}

#[test]
fn a_line_is_measured_exactly() {
    let rise = drift(&line(20, 90.0, 110.0)).unwrap();
    assert!((rise.relative_change - 0.2).abs() < 1e-12 && rise.drifted, "{rise:?}");
    let fall = drift(&line(20, 110.0, 90.0)).unwrap();
    assert!((fall.relative_change + 0.2).abs() < 1e-12 && fall.drifted, "{fall:?}");
    assert_eq!(rise.z, -fall.z);
}

#[test]
fn a_significant_trend_below_the_threshold_is_not_flagged() {
    let small = drift(&line(20, 96.0, 104.0)).unwrap();
    assert!(small.z > 5.0 && !small.drifted, "{small:?}");
}

#[test]
fn a_large_trend_that_may_be_chance_is_not_flagged() {
    let wild = drift(&[100.0, 10.0, 180.0, 30.0, 150.0, 220.0]).unwrap();
    assert!(wild.relative_change > THRESHOLD && !wild.drifted, "{wild:?}");
}

#[test]
fn outliers_do_not_hide_and_do_not_make_a_trend() {
    let steady: Vec<f64> = noise(30).map(|x| 100.0 + x).collect();
    let mut spiked = steady.clone();
    spiked[27..].fill(1000.0);
    assert!(!drift(&spiked).unwrap().drifted, "{:?}", drift(&spiked));
    let mut rising: Vec<f64> =
        line(30, 80.0, 120.0).into_iter().zip(noise(30)).map(|(a, b)| a + b).collect();
    rising[3] = 1000.0;
    rising[20] = 0.0;
    let rising = drift(&rising).unwrap();
    assert!(rising.drifted && (rising.relative_change - 0.4).abs() < 0.04, "{rising:?}");
}

#[test]
fn rare_counts_have_a_finite_change() {
    let rare = drift(&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    assert!(rare.relative_change.is_finite() && rare.drifted, "{rare:?}");
}

#[test]
fn the_published_variance_with_ties() {
    // n = 10, one pair and one triple of ties: (10·9·25 - 2·1·9 - 3·2·11) / 18.
    let values = [1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 6.0, 7.0];
    assert_eq!(score_variance(&values), (2250.0 - 18.0 - 66.0) / 18.0);
}

/// Orders of `n` distinct values by their number of inversions.
fn orders_by_inversions(n: usize) -> Vec<f64> {
    let mut orders = vec![1.0];
    for k in 2..=n {
        let mut next = vec![0.0; orders.len() + k - 1];
        for (inversions, count) in orders.iter().enumerate() {
            next[inversions..inversions + k].iter_mut().for_each(|sum| *sum += count);
        }
        orders = next;
    }
    orders
}

/// The values 0 to n - 1 in an order that has this many inversions.
fn order_with(n: usize, mut inversions: usize) -> Vec<f64> {
    let mut rest: Vec<usize> = (0..n).collect();
    let mut order = Vec::new();
    while !rest.is_empty() {
        // The value taken comes before `skip` smaller ones.
        let skip = inversions.min(rest.len() - 1);
        inversions -= skip;
        order.push(rest.remove(skip) as f64);
    }
    order
}

#[test]
fn the_normal_approximation_never_flags_what_the_exact_test_would_not() {
    for n in FEWEST..=30 {
        let orders = orders_by_inversions(n);
        let all: f64 = orders.iter().sum();
        let mut tail = 0.0;
        for (inversions, count) in orders.iter().enumerate().take(n * (n - 1) / 4) {
            tail += count;
            let significant = mann_kendall(&order_with(n, inversions)) > Z_ONE_PERCENT;
            let p = 2.0 * tail / all;
            assert!(p <= 0.01 || !significant, "n {n}, {inversions} inversions: p {p}");
            assert!(p >= 0.005 || significant, "n {n}, {inversions} inversions: p {p}");
        }
    }
}

#[test]
fn the_statistic_of_a_line() {
    // n = 10: all 45 pairs rise, 1 for continuity, variance 10·9·25 / 18.
    assert_eq!(mann_kendall(&line(10, 1.0, 2.0)), 44.0 / 125f64.sqrt());
}

#[test]
fn thousands_of_intervals_are_grouped() {
    let values: Vec<f64> = line(36_000, 90.0, 110.0)
        .into_iter()
        .zip(noise(36_000))
        .map(|(a, b)| a + 20.0 * b)
        .collect();
    assert_eq!(grouped(&values).len(), MOST);
    let rise = drift(&values).unwrap();
    assert!(rise.drifted && (rise.relative_change - 0.2).abs() < 0.02, "{rise:?}");
    let same = line(MOST, 1.0, 2.0);
    assert_eq!(grouped(&same), same);
}

proptest! {
    #[test]
    fn it_does_not_depend_on_the_unit(
        values in prop::collection::vec(1.0..1e6, 5..40),
        exponent in -20i32..20,
    ) {
        let scaled: Vec<f64> = values.iter().map(|v| v * 2f64.powi(exponent)).collect();
        prop_assert_eq!(drift(&scaled), drift(&values));
    }

    #[test]
    fn backwards_it_is_the_opposite(values in prop::collection::vec(1.0..1e6, 5..40)) {
        let forwards = drift(&values).unwrap();
        let reversed: Vec<f64> = values.into_iter().rev().collect();
        let backwards = drift(&reversed).unwrap();
        prop_assert!((forwards.relative_change + backwards.relative_change).abs() < 1e-9);
        prop_assert_eq!(forwards.z, -backwards.z);
        prop_assert_eq!(forwards.drifted, backwards.drifted);
    }

    #[test]
    fn the_change_is_finite(values in prop::collection::vec(-5i32..5, 5..40)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let drift = drift(&values).unwrap();
        prop_assert!(drift.relative_change.is_finite() && drift.z.is_finite());
    }
}
