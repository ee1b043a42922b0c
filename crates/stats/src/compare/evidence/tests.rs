use proptest::prelude::*;

use super::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

#[test]
fn ratios_are_taken_round_by_round() {
    // Each round is twice as fast as the one before; the path always costs a fifth.
    let found = paired(&[(80.0, 100.0), (160.0, 200.0), (320.0, 400.0)]).unwrap();
    assert!(close(found.ratio, 0.8) && found.rounds == 3);
    assert!(found.interval.is_some_and(|i| close(i.low, 0.8) && close(i.high, 0.8)), "{found:?}");
}

#[test]
fn a_missing_ratio_says_which_round_has_none() {
    assert_eq!(paired::<RoundPair>(&[]), Err(NoRatio::NoPairs));
    assert_eq!(paired(&[(1.0, 1.0), (2.0, 0.0)]), Err(NoRatio::Pair(1)));
    assert_eq!(paired(&[(-1.0, 1.0)]), Err(NoRatio::Pair(0)));
    assert_eq!(unpaired(&[1.0], &[]), Err(NoRatio::NoPairs));
    assert_eq!(unpaired(&[1.0, 2.0], &[1.0, f64::NAN]), Err(NoRatio::Pair(3)));
}

/// Rounds that scatter by up to 2 % around a ratio.
fn about(ratio: f64, rounds: usize) -> Vec<(f64, f64)> {
    (0..rounds).map(|i| (100.0 * ratio + ((i * 7) % 5) as f64 - 2.0, 100.0)).collect()
}

#[test]
fn a_rate_of_0_is_the_furthest_ratio_of_all() {
    let mut pairs = about(1.1, 20);
    pairs[7].0 = 0.0;
    let found = paired_rates(&pairs).unwrap();
    // As any other ratio that is far below the rest.
    pairs[7].0 = 1e-30;
    let low = paired(&pairs).unwrap();
    assert_eq!((found.rounds, found.p(Test::Ranks)), (20, low.p(Test::Ranks)));
    assert!(close(found.ratio, low.ratio) && found.interval == low.interval, "{found:?}");
    let zeros = found.zeros.unwrap();
    assert_eq!((zeros.path, zeros.path_trials, zeros.baseline, zeros.left_out), (1, 20, 0, 0));
    // With a 0 of the baseline it is the highest.
    pairs[7] = (110.0, 0.0);
    let high = paired_rates(&pairs).unwrap();
    assert!(high.p(Test::Ranks) < found.p(Test::Ranks) && high.ratio > found.ratio, "{high:?}");
    assert!(paired(&pairs).is_err(), "what is no rate has no ratio");
    assert_eq!(paired_rates(&[(1.0, 1.0), (-1.0, 0.0)]), Err(NoRatio::Pair(1)));
}

#[test]
fn rounds_without_anything_are_left_out() {
    let four = about(1.1, 4);
    let all = [&four[..2], &[(0.0, 0.0)], &four[2..]].concat();
    let (found, expected) = (paired_rates(&all).unwrap(), paired(&four).unwrap());
    // The others have numbers, so Student's t is as good as without it.
    assert_eq!((found.rounds, found.ratio), (4, expected.ratio));
    assert_eq!(
        (found.interval, found.p(Test::Student)),
        (expected.interval, expected.p(Test::Student))
    );
    assert_eq!(found.zeros.map(|zeros| zeros.left_out), Some(1));
    assert_eq!(paired_rates(&[(0.0, 0.0); 3]), Err(NoRatio::Pair(0)));
    assert_eq!(paired_rates::<RoundPair>(&[]), Err(NoRatio::NoPairs));
    assert_eq!(paired_rates(&four), Ok(expected), "without a 0 nothing changes");
}

#[test]
fn a_baseline_that_is_always_0_has_no_ratio() {
    for value in [0.0, 5.0] {
        assert_eq!(paired_rates(&[(value, 0.0); 12]), Err(NoRatio::Pair(0)), "{value}");
    }
    // The other way round nothing comes any more, which is a ratio.
    assert!(paired_rates(&[(0.0, 5.0); 12]).unwrap().ratio < 1e-6);
}

#[test]
fn with_a_rate_of_0_only_ranks_say_something() {
    let mut pairs = about(0.5, 5);
    pairs[1].0 = 0.0;
    let few = paired_rates(&pairs).unwrap();
    assert_eq!((few.interval, few.p(few.test(1)), few.could_have_seen()), (None, None, None));
    assert!((few.ratio - 0.5).abs() < 0.05, "the estimate of ranks: {few:?}");
    assert_eq!([1, 100].map(|n| few.fewest_for_zeros(n)), [Some(8), Some(14)]);
    assert_eq!(paired(&about(0.5, 5)).unwrap().fewest_for_zeros(1), None);
    // Of three rounds that estimate would rest on the one with 0.
    let three = paired_rates(&[(50.0, 100.0), (0.0, 100.0), (50.0, 100.0)]).unwrap();
    assert!(close(three.ratio, 1.0 / 3.0), "the sums: {three:?}");
    // A path that never carries anything has the lowest ratio, and it is sure.
    let none = paired_rates(&[(0.0, 100.0); 12]).unwrap();
    let interval = none.interval.unwrap();
    assert!(none.ratio < 1e-6 && 0.0 < interval.low && interval.high < 1e-6, "{none:?}");
    assert!(!none.has_ends(interval));
}

#[test]
fn either_trial_of_the_baseline_may_be_0() {
    // Each side has the same figures, in another order. In one round one of the three is 0.
    let figure = |i: usize| 100.0 + (i * 7 % 11) as f64 / 5.0;
    let rounds = |zero: usize| -> Vec<RoundPair> {
        let one = |i: usize| {
            let mut figures = [figure(i), figure(i + 3), figure(i + 7)];
            if i == 4 {
                figures[zero] = 0.0;
            }
            let [value, baseline, twin] = figures;
            RoundPair { value, baseline, twin: Some(twin) }
        };
        (0..33).map(one).collect()
    };
    let found = [0, 1, 2].map(|zero| paired_rates(&rounds(zero)).unwrap());
    for one in &found {
        let interval = one.interval.unwrap();
        assert!(one.has_ends(interval) && interval.contains(1.0), "{one:?}");
        assert!(0.98 < interval.low && interval.high < 1.02, "{one:?}");
    }
    let ratios = found.map(|one| one.ratio);
    assert!(ratios[0] < ratios[1] && ratios[0] < ratios[2], "{ratios:?}");
}

#[test]
fn students_t_is_the_textbooks() {
    // Logarithms 0.1, 0.2, 0.3: mean 0.2, error 0.1 / sqrt(3), t = 3.4641 with 2 degrees: p =
    // 0.0742. And 4.3027 errors to each side.
    let pairs: Vec<_> = [0.1f64, 0.2, 0.3].iter().map(|log| (log.exp(), 1.0)).collect();
    let found = paired(&pairs).unwrap();
    assert_eq!(found.test(1), Test::Student);
    assert!((found.p(Test::Student).unwrap() - 0.0742).abs() < 1e-4);
    assert!((found.interval.unwrap().low.ln() - (0.2 - 0.24841)).abs() < 1e-4, "{found:?}");
    // The same figures every round: as sure as it gets, or nothing at all.
    let same = |value| paired(&[(value, 2.0); 4]).unwrap().p(Test::Student);
    assert!(same(4.0).unwrap() < 1e-15);
    assert_eq!(same(2.0), Some(1.0));
}

#[test]
fn ranks_take_over_where_they_can_say_enough() {
    let with = |rounds| paired(&vec![(1.1, 1.0); rounds]).unwrap();
    let first = |comparisons| (1..100).find(|n| with(*n).test(comparisons) == Test::Ranks);
    assert_eq!([1, 10, 100, 1000].map(first), [Some(8), Some(11), Some(14), Some(18)]);
    // One round that is far off moves the ratio little.
    let mut pairs = vec![(1.1, 1.0); 20];
    pairs[7].0 = 100.0;
    assert!((paired(&pairs).unwrap().ratio - 1.1).abs() < 1e-9);
}

#[test]
fn what_could_have_been_seen_is_a_few_standard_errors() {
    // 4 rounds with a standard error of 1 %: (3.182 + 0.978) of it.
    let log = |n: f64| (n * 0.01 * (3.0f64).sqrt()).exp();
    let pairs = [(log(1.0), 1.0), (log(-1.0), 1.0), (log(1.0), 1.0), (log(-1.0), 1.0)];
    let seen = paired(&pairs).unwrap().could_have_seen().unwrap();
    assert!((seen.ln_1p() - 0.04160).abs() < 1e-4, "{seen}");
    assert_eq!(paired(&pairs[..1]).unwrap().could_have_seen(), None);
}

#[test]
#[allow(
    clippy::disallowed_methods,
    reason = "a bound on how long it takes; nothing is measured with it"
)]
fn many_values_have_a_narrow_interval_soon() {
    let values = |factor: f64| {
        (0..600).map(|i| factor * (1.0 + f64::from(i * 7919 % 600) / 6000.0)).collect::<Vec<_>>()
    };
    let began = std::time::Instant::now();
    let interval = unpaired(&values(1.02), &values(1.0)).unwrap().interval.unwrap();
    // Counting all divisions takes billions of steps.
    assert!(began.elapsed().as_secs_f64() < 5.0, "{:?}", began.elapsed());
    assert!(
        1.01 < interval.low && interval.low < 1.02 && 1.02 < interval.high && interval.high < 1.03,
        "{interval:?}"
    );
}

proptest! {
    #[test]
    fn turning_a_comparison_over_turns_its_interval_over(
        pairs in prop::collection::vec((1.0..1e6f64, 1.0..1e6f64), 2..24),
    ) {
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let couples = [
            (paired(&pairs).unwrap(), paired(&swapped).unwrap()),
            (unpaired(&a, &b).unwrap(), unpaired(&b, &a).unwrap()),
        ];
        for (one, other) in couples {
            prop_assert!((one.ratio.ln() + other.ratio.ln()).abs() < 1e-6);
            let (x, y) = (one.interval.unwrap(), other.interval.unwrap());
            prop_assert!((x.low.ln() + y.high.ln()).abs() < 1e-6);
            prop_assert!((x.high.ln() + y.low.ln()).abs() < 1e-6);
            prop_assert!(x.low <= one.ratio * 1.000_001 && one.ratio <= x.high * 1.000_001);
            let p = |found: &Evidence| found.p(found.test(1)).unwrap();
            prop_assert!((p(&one) - p(&other)).abs() < 1e-9);
        }
    }

    #[test]
    fn so_it_does_where_rates_are_0(
        rates in prop::collection::vec((0u8..6, 1.0..1e3f64, 0u8..6, 1.0..1e3f64), 8..40),
    ) {
        let rate = |chance: u8, rate: f64| if chance == 0 { 0.0 } else { rate };
        let pairs: Vec<(f64, f64)> =
            rates.iter().map(|(a, x, b, y)| (rate(*a, *x), rate(*b, *y))).collect();
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        if let (Ok(one), Ok(other)) = (paired_rates(&pairs), paired_rates(&swapped)) {
            prop_assert!((one.ratio.ln() + other.ratio.ln()).abs() < 1e-6);
            prop_assert_eq!(one.p(one.test(1)), other.p(other.test(1)));
            prop_assert_eq!(one.interval.is_some(), other.interval.is_some());
            if let Some((x, y)) = one.interval.zip(other.interval) {
                prop_assert!((x.low.ln() + y.high.ln()).abs() < 1e-6);
                prop_assert!(x.low <= one.ratio && one.ratio <= x.high);
                prop_assert_eq!(one.has_ends(x), other.has_ends(y));
            }
        }
    }
}
