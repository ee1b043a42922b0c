use proptest::prelude::*;

use super::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[test]
fn ratios_are_taken_round_by_round() {
    // Each round is twice as fast as the one before; the path always costs a fifth.
    let found = paired(&[(80.0, 100.0), (160.0, 200.0), (320.0, 400.0)], 1).unwrap();
    assert!(close(found.ratio, 0.8) && found.rounds == 3);
    assert!(found.interval.is_some_and(|i| close(i.low, 0.8) && close(i.high, 0.8)), "{found:?}");
    assert_eq!(found.permuted.map(|p| p.p), Some(0.25), "3 rounds of one sign: 2 of 8");
}

#[test]
fn a_missing_ratio_says_which_round_has_none() {
    assert_eq!(paired(&[], 1), Err(NoRatio::NoPairs));
    assert_eq!(paired(&[(1.0, 1.0), (2.0, 0.0)], 1), Err(NoRatio::Pair(1)));
    assert_eq!(paired(&[(-1.0, 1.0)], 1), Err(NoRatio::Pair(0)));
    assert_eq!(unpaired(&[1.0], &[], 1), Err(NoRatio::NoPairs));
    assert_eq!(unpaired(&[1.0, 2.0], &[1.0, f64::NAN], 1), Err(NoRatio::Pair(3)));
}

#[test]
fn students_t_is_the_textbooks() {
    // Logarithms 0.1, 0.2, 0.3: mean 0.2, error 0.1 / sqrt(3), t = 3.4641 with 2 degrees: p =
    // 0.0742.
    let pairs: Vec<_> = [0.1f64, 0.2, 0.3].iter().map(|log| (log.exp(), 1.0)).collect();
    assert!((paired(&pairs, 1).unwrap().student_p.unwrap() - 0.0742).abs() < 1e-4);
    // The same figures every round: as sure as it gets, or nothing at all.
    assert_eq!(paired(&[(2.0, 1.0); 4], 1).unwrap().student_p, Some(0.0));
    assert_eq!(paired(&[(2.0, 2.0); 4], 1).unwrap().student_p, Some(1.0));
}

#[test]
fn the_rank_sums_are_the_tables() {
    // Of 4 and 4: 1, 1, 2, 3, 5 ... of 70; the table of the test gives 2 x 1/70 for U = 0.
    let shares = rank_sum_shares(4, 4);
    let ways: Vec<u32> = shares.iter().map(|share| (share * 70.0).round() as u32).collect();
    assert_eq!(ways, [1, 1, 2, 3, 5, 5, 7, 7, 8, 7, 7, 5, 5, 3, 2, 1, 1]);
    let (five, nine) = (rank_sum_shares(5, 9), rank_sum_shares(9, 5));
    assert!(
        five.iter().zip(&nine).all(|(a, b)| close(*a, *b)) && close(five.iter().sum::<f64>(), 1.0)
    );
}

#[test]
fn the_rank_interval_is_the_tables_at_a_level_of_the_test() {
    // n = m = 6: P(U <= 5) = 19/924 = 2.06 %, P(U <= 6) = 30/924 = 3.2 %: between the 6th and the
    // 7th shift.
    let shifts: Vec<f64> = (1..=36).map(f64::from).collect();
    let found = ranked(&shifts, 6, 6);
    let expected = 6.0 + (0.025 - 19.0 / 924.0) / (11.0 / 924.0);
    assert!(
        (found.low - expected).abs() < 1e-6 && (found.high - (37.0 - expected)).abs() < 1e-6,
        "{found:?}"
    );
}

#[test]
fn the_normal_limit_is_the_counted_place_near_the_switch() {
    // In shifts: less than two thousandths of all n * m apart.
    for (n, m) in [(100, 100), (60, 100), (90, 95), (20, 100), (6, 100)] {
        let (counted, normal) = (counted_place(n, m), normal_place(n, m));
        assert!(
            (counted - normal).abs() < 0.002 * (n * m) as f64,
            "{n} and {m}: {counted}, {normal}"
        );
    }
    assert!((counted_place(100, 100) - normal_place(100, 100)).abs() < 5.0, "of 10 000 shifts");
    assert!((crate::rounds::trend::normal_p(NORMAL_BEYOND) - (1.0 - CONFIDENCE)).abs() < 1e-6);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a bound on how long it takes; nothing is measured with it"
)]
fn many_values_have_a_narrow_interval_soon() {
    let shifts: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    let began = std::time::Instant::now();
    let found = ranked(&shifts, 1000, 1000);
    // Counting takes 2 000 000 000 steps.
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
    // 1.96 standard deviations of sqrt(1000 * 1000 * 2001 / 12) = 12 913 around the middle.
    assert!((found.low - (500_000.0 - 0.5 - 25_309.0)).abs() < 2.0, "{found:?}");
    assert!((found.low + found.high - 999_999.0).abs() < 1e-3, "{found:?}");
    let values = |factor: f64| {
        (0..600).map(|i| factor * (1.0 + f64::from(i * 7919 % 600) / 6000.0)).collect::<Vec<_>>()
    };
    let interval = unpaired(&values(1.02), &values(1.0), 1).unwrap().interval.unwrap();
    assert!(
        1.01 < interval.low && interval.low < 1.02 && 1.02 < interval.high && interval.high < 1.03,
        "{interval:?}"
    );
}

proptest! {
    #[test]
    fn turning_a_comparison_over_turns_its_interval_over(
        pairs in prop::collection::vec((1.0..1e6f64, 1.0..1e6f64), 2..14),
    ) {
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (one, other) = (paired(&pairs, 1).unwrap(), paired(&swapped, 1).unwrap());
        if let (Some(a), Some(b)) = (one.interval, other.interval) {
            prop_assert!((a.low.ln() + b.high.ln()).abs() < 1e-6 && (a.high.ln() + b.low.ln()).abs() < 1e-6);
        }
        prop_assert_eq!(one.permuted, other.permuted);
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let (one, other) = (unpaired(&a, &b, 1).unwrap(), unpaired(&b, &a, 1).unwrap());
        prop_assert!((one.ratio.ln() + other.ratio.ln()).abs() < 1e-6);
        if let (Some(x), Some(y)) = (one.interval, other.interval) {
            prop_assert!((x.low.ln() + y.high.ln()).abs() < 1e-6 && (x.high.ln() + y.low.ln()).abs() < 1e-6);
            prop_assert!(x.low <= one.ratio * 1.000_001 && one.ratio <= x.high * 1.000_001);
        }
    }
}
