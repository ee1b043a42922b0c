use proptest::prelude::*;

use super::*;

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
    fn two_sets_can_change_places(
        a in prop::collection::vec(-1e3..1e3f64, 2..7),
        b in prop::collection::vec(-1e3..1e3f64, 2..7),
    ) {
        let (one, other) = (permuted(&a, &b, 100, 1).unwrap(), permuted(&b, &a, 100, 1).unwrap());
        prop_assert!((one.p - other.p).abs() < 1e-9, "{:?} {:?}", one, other);
        prop_assert!(one.p >= 1.0 / 3432.0);
    }
}
