use proptest::prelude::*;

use super::*;

/// Runs a search against a system without noise.
fn run(mut search: Highest, value: impl Fn(f64) -> f64) -> Highest {
    while let Some(load) = search.next_load() {
        assert_eq!(search.next_load(), Some(load), "asking changes nothing");
        search.observe(load, Measurement { value: value(load), within: true });
        assert!(search.trace().len() <= 500);
    }
    search
}

#[test]
fn loads_that_are_all_good_or_all_bad_are_told() {
    let good = run(Highest::slo(10.0, 100.0, 1600.0, 0.02, 1), |_| 1.0);
    assert_eq!(good.outcome(), Outcome::AboveHighest);
    assert!(good.trace().iter().map(|step| step.load).fold(0.0, f64::max) <= 1600.0);
    assert_eq!(
        run(Highest::slo(10.0, 100.0, 1600.0, 0.02, 1), |_| 20.0).outcome(),
        Outcome::BelowLowest
    );
    assert_eq!(
        run(Highest::lossless(0.0, 100.0, 1600.0, 0.01, 3), |_| 0.0).outcome(),
        Outcome::AboveHighest
    );
    assert_eq!(
        run(Highest::lossless(0.0, 100.0, 1600.0, 0.01, 3), |_| 0.5).outcome(),
        Outcome::BelowLowest
    );
}

#[test]
fn what_else_is_out_of_bounds_makes_a_load_too_high() {
    let mut search = Highest::slo(10.0, 100.0, 1e5, 0.02, 1);
    while let Some(load) = search.next_load() {
        search.observe(load, Measurement { value: 1.0, within: load < 3000.0 });
    }
    assert!(
        matches!(search.outcome(), Outcome::Found { load, .. } if (2900.0..3000.0).contains(&load))
    );
}

#[test]
fn a_figure_that_is_missing_is_too_high() {
    let broken =
        run(
            Highest::slo(10.0, 100.0, 1e5, 0.02, 1),
            |load| if load < 3000.0 { 1.0 } else { f64::NAN },
        );
    assert!(
        matches!(broken.outcome(), Outcome::Found { load, .. } if (2900.0..3000.0).contains(&load))
    );
}

#[test]
fn one_trial_that_errs_does_not_decide() {
    // Every 9th trial is far off, either way.
    for from in 0..9 {
        let mut search = Highest::slo(10.0, 100.0, 1e5, 0.02, 1);
        let mut trial = from;
        while let Some(load) = search.next_load() {
            trial += 1;
            let value = if load < 3000.0 { 8.0 } else { 12.0 };
            let value =
                if trial % 9 == 0 { if trial % 2 == 0 { 1.0 } else { 100.0 } } else { value };
            search.observe(load, Measurement { value, within: true });
        }
        let outcome = search.outcome();
        assert!(
            matches!(outcome, Outcome::Found { load, .. } if (2900.0..3000.0).contains(&load)),
            "{from}: {outcome:?}"
        );
    }
}

#[test]
fn a_system_that_means_nothing_ends_the_search() {
    let mut search = Highest::slo(10.0, 100.0, 1e9, 0.0001, 1);
    let mut trials = 0;
    while let Some(load) = search.next_load() {
        trials += 1;
        search.observe(
            load,
            Measurement { value: if trials % 2 == 0 { 9.9 } else { 10.1 }, within: true },
        );
        assert!(trials <= 80);
    }
    assert!(!matches!(search.outcome(), Outcome::Searching));
}

#[test]
fn a_scan_comes_near_and_decides_nothing() {
    let plain = run(Highest::slo(10.0, 100.0, 1e5, 0.02, 2), |load| load / 300.0);
    let scanned =
        run(Highest::slo(10.0, 100.0, 1e5, 0.02, 2).scanning(Some(0.16)), |load| load / 300.0);
    for search in [&plain, &scanned] {
        assert!(search.found().iter().all(|load| (2900.0..=3000.0).contains(load)), "{search:?}");
    }
    let scans = scanned.trace().iter().take_while(|step| step.why == Why::Scan).count();
    assert!(scanned.trace()[scans..].iter().all(|step| step.why != Why::Scan));
    // Five to double from 100 to 3200, two more that say so, then halves of the way to it.
    assert!((8..12).contains(&scans), "{scans}");
    // Both ends of a round are confirmed by trials of that round.
    let rounds = &scanned.trace()[scans..];
    let first = rounds[0].load;
    assert!((2500.0..=3000.0).contains(&first), "{first}");
    assert!(rounds.len() <= plain.trace().len(), "{} of {}", rounds.len(), plain.trace().len());
}

#[test]
fn stalls_do_not_mislead_a_scan_for_long() {
    // One trial of a scan stands still, whichever it is; then the system is as it is.
    for stalled in 0..12 {
        let mut search = Highest::slo(10.0, 100.0, 1e5, 0.02, 1).scanning(Some(0.16));
        let mut trial = 0;
        while let Some(load) = search.next_load() {
            let value = if trial == stalled { 1000.0 } else { load / 300.0 };
            trial += 1;
            search.observe(load, Measurement { value, within: true });
        }
        let outcome = search.outcome();
        assert!(
            matches!(outcome, Outcome::Found { load, .. } if (2900.0..=3000.0).contains(&load)),
            "{stalled}: {outcome:?}"
        );
        assert!(search.trace().len() < 45, "{stalled}: {}", search.trace().len());
    }
}

#[test]
fn a_scan_of_what_is_all_good_or_all_bad_ends() {
    let of = |value| {
        run(Highest::slo(10.0, 100.0, 1600.0, 0.02, 1).scanning(Some(0.16)), |_| value).outcome()
    };
    assert_eq!((of(1.0), of(20.0)), (Outcome::AboveHighest, Outcome::BelowLowest));
}

proptest! {
    #[test]
    fn without_noise_the_result_is_just_below_the_edge(
        edge in 150.0..90_000.0f64, precision in 0.005..0.1f64, rounds in 1usize..5,
        raises in any::<bool>(), scans in any::<bool>(),
    ) {
        let search = Highest::new(0.1, 100.0, 100_000.0, precision, rounds, raises);
        let search = search.scanning(scans.then_some(8.0 * precision));
        let search = run(search, |load| if load <= edge { 0.0 } else { 1.0 - edge / load + 0.1 });
        match search.outcome() {
            Outcome::Found { load, .. } => {
                prop_assert!(
                    load <= edge && load * (1.0 + precision) >= edge * 0.999_999,
                    "{} of {}",
                    load,
                    edge,
                );
                prop_assert_eq!(search.found().len(), rounds);
            }
            other => prop_assert!(false, "{:?}", other),
        }
        prop_assert!(search.trace().iter().all(|step| (100.0..=100_000.0).contains(&step.load)));
    }
}
