use proptest::prelude::*;

use super::*;

#[test]
fn the_exact_sign_flips_are_fishers() {
    // Darwin's maize, heights of 15 pairs in eighths of an inch, in The Design of Experiments:
    // Fisher counted 1726 of the 32768 assignments of signs as at least as extreme.
    let darwin =
        [49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0];
    let found = sign_flip(&darwin, 0, 0).unwrap();
    assert!(found.exact && (found.p - 1726.0 / 32768.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn all_of_one_sign_is_the_least_there_is() {
    for n in 1..=12 {
        let found = sign_flip(&vec![1.5; n], 0, 0).unwrap();
        let least = 0.5f64.powi(n as i32 - 1);
        assert_eq!(found, Permuted { p: least, smallest: least, exact: true });
    }
    assert_eq!(sign_flip(&[], 10, 0), None);
    assert_eq!(sign_flip(&[1.0, f64::NAN], 10, 0), None);
    assert_eq!(sign_flip(&[0.0; 4], 10, 0).unwrap().p, 1.0);
}

#[test]
fn drawn_signs_give_about_what_all_give() {
    // 16 differences, of which every assignment can still be counted here.
    let mut random = Random::new(4);
    for _ in 0..5 {
        let differences: Vec<f64> = (0..16).map(|_| random.unit() - 0.35).collect();
        let sum: f64 = differences.iter().sum();
        let all = (0..1u32 << 16).filter(|signs| {
            let turned = differences
                .iter()
                .enumerate()
                .map(|(i, d)| if signs >> i & 1 == 0 { *d } else { -d });
            turned.sum::<f64>().abs() >= sum.abs() - 1e-12
        });
        let exact = all.count() as f64 / 65536.0;
        let drawn = sign_flip(&differences, 10_000, 9).unwrap();
        assert!(!drawn.exact && (drawn.p - exact).abs() < 0.02, "{drawn:?}, all: {exact}");
        assert_eq!(sign_flip(&differences, 10_000, 9), Some(drawn), "the same seed, the same p");
    }
    // More than one word of bits.
    assert!(sign_flip(&[1.0; 100], 1000, 3).unwrap().p < 0.002);
}

#[test]
fn two_sets_are_dealt_in_all_ways() {
    // 3 of 6 apart: 2 of 20 divisions are as extreme. 4 and 3: 1 or 2 of 35.
    let found = permuted(&[1.0, 2.0, 3.0], &[11.0, 12.0, 13.5], 0, 0).unwrap();
    assert_eq!(found, Permuted { p: 0.1, smallest: 0.1, exact: true });
    let found = permuted(&[1.0, 2.0, 3.0, 4.0], &[21.0, 22.0, 23.0], 0, 0).unwrap();
    assert!((found.p - 1.0 / 35.0).abs() < 1e-12, "{found:?}");
    assert_eq!(permuted(&[1.0], &[1.0, 2.0], 10, 0), None);
    assert_eq!(permuted(&[2.0; 3], &[2.0; 3], 10, 0).unwrap().p, 1.0);
    // Nothing scatters: t is infinite, and chance divides them so all the same.
    assert_eq!(permuted(&[0.0; 3], &[1.0; 3], 10, 0).unwrap().p, 0.1);
}

#[test]
fn drawn_divisions_are_rarely_extreme_and_find_what_differs() {
    let mut random = Random::new(6);
    let mut set = |shift: f64| (0..12).map(|_| random.unit() + shift).collect::<Vec<_>>();
    let mut called = 0;
    for seed in 0..200 {
        called += usize::from(permuted(&set(0.0), &set(0.0), 500, seed).unwrap().p <= 0.05);
    }
    assert!((2..=20).contains(&called), "{called} of 200");
    assert!(permuted(&set(0.6), &set(0.0), 2000, 1).unwrap().p < 0.005);
}

proptest! {
    #[test]
    fn a_p_value_does_not_change_with_direction_or_scale(
        differences in prop::collection::vec(-1e3..1e3f64, 1..14), factor in 0.01..100.0f64,
    ) {
        let p = |f: f64| sign_flip(&differences.iter().map(|d| d * f).collect::<Vec<_>>(), 100, 1).unwrap().p;
        prop_assert_eq!(p(1.0), p(-1.0));
        prop_assert!((p(factor) - p(1.0)).abs() < 1e-9);
        prop_assert!(p(1.0) > 0.0 && p(1.0) <= 1.0);
    }

    #[test]
    fn two_sets_can_change_places(
        a in prop::collection::vec(-1e3..1e3f64, 2..7), b in prop::collection::vec(-1e3..1e3f64, 2..7),
    ) {
        let (one, other) = (permuted(&a, &b, 100, 1).unwrap(), permuted(&b, &a, 100, 1).unwrap());
        prop_assert!((one.p - other.p).abs() < 1e-9, "{:?} {:?}", one, other);
        prop_assert!(one.p >= 1.0 / 3432.0);
    }
}
