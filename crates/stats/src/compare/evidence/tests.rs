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
}
